# SPDX-License-Identifier: Apache-2.0
# The applications of the paper beside what is known to be right. Include after python.cmake.
if(CAUSEWAY_SANITIZE OR NOT TARGET smith_waterman)
  return()
endif()

foreach(runtime ${runtimes})
  causeway_test(smith_waterman.${runtime} LABEL example RUNTIME ${runtime}
    COMMAND ${python_run} ${CMAKE_CURRENT_LIST_DIR}/smith_waterman_test.py $<TARGET_FILE:smith_waterman>)
endforeach()

foreach(runtime ${runtimes})
  causeway_test(nanopowder.${runtime} LABEL example RUNTIME ${runtime} RANKS 2
    COMMAND $<TARGET_FILE:nanopowder> --verify --steps 3 --rounds 1)
endforeach()
foreach(runtime ${runtimes})
  causeway_test(slow_file.${runtime} LABEL example RUNTIME ${runtime}
    COMMAND $<TARGET_FILE:slow_file> --rate 256 --rounds 1)
endforeach()
# Blocks of 13, 13 and 14 compositions.
causeway_test(nanopowder.ranks LABEL example RUNTIME pocl RANKS 3
  COMMAND $<TARGET_FILE:nanopowder> --verify --steps 2 --rounds 1)
# Where transfers move nothing, none of these tests may pass.
add_library(lost_transfers_preload MODULE ${CMAKE_CURRENT_LIST_DIR}/lost_transfers_preload.c)
target_include_directories(lost_transfers_preload PRIVATE
  $<TARGET_PROPERTY:Causeway::causeway,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(lost_transfers_preload PRIVATE causeway_flags MPI::MPI_C OpenCL::OpenCL)
causeway_test(nanopowder.lost LABEL example RUNTIME pocl
  COMMAND ${says} 1 "baseline .* [0-9.]+e-[0-9]+ .*causeway .* inf .*VERIFICATION FAILED"
          env LD_PRELOAD=$<TARGET_FILE:lost_transfers_preload> $<TARGET_FILE:nanopowder> --steps 1 --rounds 1)

# Each class has published values that the program compares with.
set(bt_mz_versions host,staged,messages,one_sided,openshmem)
if(TARGET causeway_cc)
  set(bt_mz_directives ,directives)
  set(bt_mz_directives_alone directives)
endif()
string(APPEND bt_mz_versions ${bt_mz_directives})
foreach(runtime ${runtimes})
  foreach(ranks 1 2 4)
    causeway_test(bt_mz.${runtime}.${ranks}_ranks LABEL example RUNTIME ${runtime} RANKS ${ranks}
      COMMAND $<TARGET_FILE:bt_mz> --class S --versions ${bt_mz_versions})
  endforeach()
endforeach()
foreach(kernels whole split coalesced preloaded)
  causeway_test(bt_mz.${kernels} LABEL example RUNTIME pocl RANKS 2
    COMMAND $<TARGET_FILE:bt_mz> --class S --kernels ${kernels} --versions staged,messages,one_sided,openshmem)
endforeach()
causeway_test(bt_mz.moving_fields LABEL example RUNTIME pocl RANKS 2
  COMMAND $<TARGET_FILE:bt_mz> --class S --move-fields --versions staged,messages,one_sided,openshmem)
causeway_test(bt_mz.one_zone LABEL example RUNTIME pocl
  COMMAND $<TARGET_FILE:bt_mz> --class S --one-zone --versions ${bt_mz_versions})
causeway_test(bt_mz.rounds LABEL example RUNTIME pocl RANKS 2
  COMMAND $<TARGET_FILE:bt_mz> --class S --rounds 3 --versions ${bt_mz_versions})
function(bt_mz_refuses name text)
  causeway_test(bt_mz.${name} LABEL example RUNTIME pocl COMMAND ${says} 2 "bt_mz: ${text}" $<TARGET_FILE:bt_mz> ${ARGN})
endfunction()
bt_mz_refuses(no_class "no class \"SS\": S, W" --class SS)
bt_mz_refuses(empty_class "no class \"\": S, W" --class=)
bt_mz_refuses(no_class.one_zone "no class \"D\": S, W, A, B, C, and D of many zones" --class D --one-zone)
causeway_test(bt_mz.one_step LABEL example RUNTIME pocl
  COMMAND ${says} 0 "4 zones of 3456 points, 1 step, 1 rank, " $<TARGET_FILE:bt_mz> --class S --steps 1 --versions messages)
# One rank says it.
causeway_test(bt_mz.more_ranks_than_zones LABEL example RUNTIME none RANKS 5
  COMMAND ${says} 2 "^$|bt_mz: more ranks than zones: class S has 4" $<TARGET_FILE:bt_mz> --class S)
bt_mz_refuses(no_versions "no versions" --versions=)
bt_mz_refuses(twice "messages is named twice" --class S --versions messages,host,messages)
foreach(refused IN ITEMS "--kernels;split;directives" "--move-fields;directives" "--kernels;fused;host" "--move-fields;host"
                         "--platform;PoCL;host" "--device;0;host" "--deal-again;1;host")
  list(POP_BACK refused version)
  if(version STREQUAL directives AND NOT TARGET causeway_cc)
    continue()
  endif()
  list(GET refused 0 option)
  bt_mz_refuses(no${option}.${version} "${option} changes nothing for the version ${version}"
    --class S ${refused} --versions ${version})
endforeach()
bt_mz_refuses(no--deal-again.one_rank "--deal-again changes nothing for one rank" --class S --deal-again 1)
# What dealing does with speeds; the programs' results are the same however zones are dealt.
add_executable(bt_mz_mesh_test ${CMAKE_CURRENT_LIST_DIR}/bt_mz_mesh_test.cpp ${PROJECT_SOURCE_DIR}/apps/bt_mz/problem.cpp)
target_include_directories(bt_mz_mesh_test PRIVATE ${PROJECT_SOURCE_DIR}/apps)
target_link_libraries(bt_mz_mesh_test PRIVATE causeway_flags GTest::gtest GTest::gtest_main Threads::Threads)
causeway_test(bt_mz.mesh LABEL unit RUNTIME none COMMAND $<TARGET_FILE:bt_mz_mesh_test>)
# Numbers of ranks that do not divide the number of zones.
foreach(ranks 3 7)
  causeway_test(bt_mz.${ranks}_ranks LABEL example RUNTIME pocl RANKS ${ranks}
    COMMAND $<TARGET_FILE:bt_mz> --class W --steps 3 --versions ${bt_mz_versions})
endforeach()
# To their ends, with the published values: classes that the tests of every day only begin.
foreach(class W A)
  causeway_test(bt_mz.whole.${class} LABEL example RUNTIME pocl RANKS 2
    COMMAND $<TARGET_FILE:bt_mz> --class ${class} --versions openshmem${bt_mz_directives})
endforeach()
# However the measured speeds deal the zones, the results are the same; with few zones each rank has to keep one.
causeway_test(bt_mz.dealt_again LABEL example RUNTIME pocl RANKS 3
  COMMAND $<TARGET_FILE:bt_mz> --class W --steps 3 --deal-again 2 --versions ${bt_mz_versions})
causeway_test(bt_mz.dealt_again_to_few LABEL example RUNTIME pocl RANKS 4
  COMMAND $<TARGET_FILE:bt_mz> --class S --deal-again 2 --versions staged,one_sided)
causeway_test(bt_mz.pocl.3_ranks LABEL example RUNTIME pocl RANKS 3
  COMMAND $<TARGET_FILE:bt_mz> --class S --versions ${bt_mz_versions})
add_library(failing_calls MODULE ${CMAKE_CURRENT_LIST_DIR}/failing_calls.c)
target_link_libraries(failing_calls PRIVATE causeway_flags OpenCL::OpenCL ${CMAKE_DL_LIBS})
string(REPLACE "," ";" versions_with_a_device ${bt_mz_versions})
list(REMOVE_ITEM versions_with_a_device host)
foreach(version ${versions_with_a_device})
  add_test(NAME bt_mz.rank_fails.${version} COMMAND ${CMAKE_CURRENT_LIST_DIR}/bt_mz_rank_fails.sh
    ${run_with} ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:bt_mz> $<TARGET_FILE:failing_calls> ${version})
  set_tests_properties(bt_mz.rank_fails.${version} PROPERTIES
    LABELS example TIMEOUT 360 PROCESSORS 2 SKIP_RETURN_CODE 77 ENVIRONMENT "CAUSEWAY_TUNER=off;CAUSEWAY_DRAIN=500")
endforeach()
if(NOT CAUSEWAY_SANITIZE)
  # Kernels whose fields move take what they read, and no more: 8 writes in each of 4 steps, and 2 initial fields.
  foreach(pair "34;0;bt_mz: class S" "33;1;clEnqueueWriteBuffer: .* code -5")
    list(POP_FRONT pair writes status text)
    causeway_test(bt_mz.moving_fields.${writes}_writes LABEL example RUNTIME pocl
      COMMAND ${says} ${status} "${text}" env FAILING_WRITES=${writes} LD_PRELOAD=$<TARGET_FILE:failing_calls>
              $<TARGET_FILE:bt_mz> --class S --steps 1 --move-fields --versions messages)
  endforeach()
  function(bt_mz_with setting name status text)
    causeway_test(bt_mz.${name} LABEL example RUNTIME pocl
      COMMAND ${says} ${status} ${text} env ${setting} LD_PRELOAD=$<TARGET_FILE:failing_calls> $<TARGET_FILE:bt_mz>
              --class S ${ARGN})
  endfunction()
  foreach(version staged ${bt_mz_directives_alone})
    bt_mz_with(LOST_LAUNCH=100 wrong_field.${version} 1 "${version} .* WRONG.*VERIFICATION FAILED" --versions ${version})
  endforeach()
  bt_mz_with(DEVICE_BYTES=1048576 large_field 1 "rank 0: the fields of this rank take 2 MiB, and .* has 1 MiB" --versions messages)
  # The largest buffer has the blocks. A device may give more than it says.
  bt_mz_with("SAID_BUFFER_BYTES=4194304;BUFFER_BYTES=4194304" large_buffer 1
    "rank 0: the largest buffer of this rank takes 7 MiB, and .* gives at most 4 MiB in one" --class W --versions messages)
  bt_mz_with(SAID_BUFFER_BYTES=4194304 more_than_said 0 "bt_mz: class W" --class W --steps 1 --versions messages)
  bt_mz_with(DEVICE_WITHOUT_DOUBLES=1 no_doubles 1 "rank 0: .* has no double precision" --versions messages)
  bt_mz_with(FAILING_SHMEM=7 no_shmem 1 "rank 0: shmem_init_thread: code 7" --versions openshmem)
  # Class D's field alone takes 2.7 GB.
  causeway_test(bt_mz.no_memory LABEL example RUNTIME none
    COMMAND ${says} 1 "bt_mz: rank 0: no memory on the host for the rank's 67473408 points"
            sh -c "ulimit -v 2600000 && exec \"$0\" --class D --versions host" $<TARGET_FILE:bt_mz>)
  if(TARGET causeway_cc)
    # Directives alone do without the other versions' kernels, and so without their memory.
    foreach(pair "directives;0;bt_mz: class S" "messages;1;solve_z: .* code -5")
      list(POP_FRONT pair version status text)
      causeway_test(bt_mz.without_kernels.${version} LABEL example RUNTIME pocl
        COMMAND ${says} ${status} "${text}" env FAILING_KERNEL=solve_z LD_PRELOAD=$<TARGET_FILE:failing_calls>
                $<TARGET_FILE:bt_mz> --class S --versions ${version})
    endforeach()
  endif()
endif()
if(TARGET causeway_cc)
  add_test(NAME bt_mz.platform COMMAND ${CMAKE_CURRENT_LIST_DIR}/bt_mz_platform.sh ${run_with} $<TARGET_FILE:bt_mz>)
  set_tests_properties(bt_mz.platform PROPERTIES
    LABELS example TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT CAUSEWAY_TUNER=off)
endif()
add_test(NAME bt_mz.lines COMMAND ${CMAKE_CURRENT_LIST_DIR}/bt_mz_lines.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(bt_mz.lines PROPERTIES LABELS quick)
# On devices that say that their memory is their own.
causeway_test(bt_mz.as_on_cards LABEL example RUNTIME pocl RANKS 2
  COMMAND env LD_PRELOAD=$<TARGET_FILE:pretend_discrete> $<TARGET_FILE:bt_mz> --class S --versions ${bt_mz_versions})
# With more rows that are solved beside the exchange than class S has: all versions agree with the host.
causeway_test(bt_mz.beside LABEL example RUNTIME pocl RANKS 2
  COMMAND $<TARGET_FILE:bt_mz> --class W --steps 10 --versions ${bt_mz_versions})
# Whichever queue lags, the others wait for what they need of it. A sanitizer's library has to be the first one.
if(NOT CAUSEWAY_SANITIZE)
  add_library(lagging_queue MODULE support/lagging_queue.c)
  target_compile_definitions(lagging_queue PRIVATE _GNU_SOURCE)
  target_link_libraries(lagging_queue PRIVATE causeway_flags Threads::Threads ${CMAKE_DL_LIBS})
  function(bt_mz_lagging name versions)
    foreach(queue ${ARGN})
      causeway_test(bt_mz.lagging.${name}.${queue} LABEL example RUNTIME pocl RANKS 2
        COMMAND env CAUSEWAY_TEST_LAGGING=${queue} LD_PRELOAD=$<TARGET_FILE:lagging_queue>
                $<TARGET_FILE:bt_mz> --class S --versions ${versions})
    endforeach()
  endfunction()
  bt_mz_lagging(kernels messages,one_sided,openshmem 0 1)
  if(TARGET causeway_cc)
    bt_mz_lagging(directives directives 0 1 2)
  endif()
endif()

if(TARGET cluster_apps AND TARGET causeway_icd AND TARGET causeway_program)
  foreach(runtime ${runtimes})
    causeway_test(cluster_apps.${runtime} LABEL platform RUNTIME none
      COMMAND ${CMAKE_CURRENT_LIST_DIR}/cluster_apps.sh ${run_with} ${runtime} ${MPIEXEC_EXECUTABLE} ${platform_icd}
              $<TARGET_FILE:cluster_apps> $<TARGET_FILE:causeway_program>)
    set_tests_properties(cluster_apps.${runtime} PROPERTIES PROCESSORS 2)
  endforeach()
  # SnuCL-D's table 6, of 32 nodes: blackscholes enqueues 6,848 commands, 6,634 of them virtual, here twice. Reads
  # alone have to be noted, with attached buffers.
  causeway_test(cluster_apps.commands LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 60
    COMMAND ${says} 0
            "13696 commands, 13268 virtual, 124 virtual after optimisation, 428 run here. 768 writes, 0 copies, 128 reads"
            env CAUSEWAY_DRY_RUN=32x2 CAUSEWAY_STATS=1 $<TARGET_FILE:cluster_apps> --rounds 1 --attach
            black-scholes --size 16384)
  # The parts of a device's time, as SnuCL-D's figure 9 has them.
  causeway_test(cluster_apps.times LABEL platform RUNTIME pocl PLATFORM ${platform_icd} RANKS 2 TIMEOUT 60
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/device_times.sh $<TARGET_FILE:cluster_apps>)
endif()
