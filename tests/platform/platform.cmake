# SPDX-License-Identifier: Apache-2.0
# The platform Causeway through the ordinary loader, over each runtime and over both at once.
if(NOT TARGET causeway_icd)
  return()
endif()
file(GLOB platform_sources CONFIGURE_DEPENDS platform/*.cpp)
add_executable(platform_tests ${platform_sources} support/patterns.cpp support/stacks.cpp support/watchdog.cpp)
causeway_precompile(platform_tests ${test_headers})
target_include_directories(platform_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(platform_tests PRIVATE
  causeway_flags OpenCL::OpenCL GTest::gmock GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(platform_tests causeway_icd causeway)
set(platform_icd ${PROJECT_BINARY_DIR}/share/causeway/opencl-vendors/causeway.icd)
foreach(runtime ${runtimes} both)
  causeway_test(platform.${runtime} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} TIMEOUT 300
    COMMAND $<TARGET_FILE:platform_tests>)
endforeach()
# Some 100,000 calls with arguments by chance, of a kept seed.
foreach(runtime ${runtimes})
  causeway_test(platform.random_arguments.${runtime} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} TIMEOUT 120
    COMMAND env CAUSEWAY_TEST_SEED=1 CAUSEWAY_TEST_CALLS=50000 $<TARGET_FILE:platform_tests> --gtest_filter=random_arguments.*)
endforeach()
# Mapped memory where a driver takes what a write sends at once. Without commands that write what a read before them fills: these
# are the program's affair.
if(NOT CAUSEWAY_SANITIZE)
  add_library(early_writes MODULE support/early_writes.c)
  target_link_libraries(early_writes PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  causeway_test(platform.early_writes LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 60
    COMMAND env LD_PRELOAD=$<TARGET_FILE:early_writes> CAUSEWAY_TEST_COMMANDS=0,1,2,4,5,6,7,8,9,12
            $<TARGET_FILE:platform_tests> --gtest_filter=random_graphs.*)
  # Out-of-order queues of a driver that runs them in order.
  add_library(orderly_driver MODULE support/orderly_driver.c)
  target_link_libraries(orderly_driver PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  causeway_test(platform.orderly_driver LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 120
    COMMAND env LD_PRELOAD=$<TARGET_FILE:orderly_driver> $<TARGET_FILE:platform_tests>
            --gtest_filter=passing.*:spanning.*:objects.*:random_graphs.*)
  # Buffers of any size where a driver takes the flag for them.
  add_library(driver_of_any_size MODULE support/driver_of_any_size.c)
  target_link_libraries(driver_of_any_size PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  causeway_test(platform.any_size LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 60
    COMMAND env LD_PRELOAD=$<TARGET_FILE:driver_of_any_size> $<TARGET_FILE:platform_tests> --gtest_filter=maps.flags_*)
  # One of two ranks builds; the other one's driver finds that.
  add_library(builds_in_turn MODULE support/builds_in_turn.c)
  target_compile_definitions(builds_in_turn PRIVATE _GNU_SOURCE)
  target_link_libraries(builds_in_turn PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  causeway_test(platform.cluster.builds_in_turn LABEL platform RUNTIME pocl PLATFORM ${platform_icd} RANKS 2 TIMEOUT 120
    COMMAND env CAUSEWAY_CLUSTER=1 POCL_KERNEL_CACHE=1 LD_PRELOAD=$<TARGET_FILE:builds_in_turn> $<TARGET_FILE:platform_tests>
            --gtest_filter=programs.*:spanning.*-*threads*)
  # One of two ranks launches a kernel for the first time, and so compiles it; the other one's driver finds that.
  add_library(launches_in_turn MODULE support/launches_in_turn.c)
  target_compile_definitions(launches_in_turn PRIVATE _GNU_SOURCE)
  target_link_libraries(launches_in_turn PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  causeway_test(platform.cluster.launches_in_turn LABEL platform RUNTIME pocl PLATFORM ${platform_icd} RANKS 2 TIMEOUT 120
    COMMAND env CAUSEWAY_CLUSTER=1 POCL_KERNEL_CACHE=1 CAUSEWAY_TEST_LOCKS=launches_in_turn.locks
            LD_PRELOAD=$<TARGET_FILE:launches_in_turn> $<TARGET_FILE:unfinished_program>)
  set_tests_properties(platform.cluster.launches_in_turn PROPERTIES
    PASS_REGULAR_EXPRESSION "first launch of k3" FAIL_REGULAR_EXPRESSION "at the same time")
  # A link writes what an earlier one has left.
  add_library(lost_links MODULE support/lost_links.c)
  target_compile_definitions(lost_links PRIVATE _GNU_SOURCE)
  target_link_libraries(lost_links PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  causeway_test(platform.lost_links LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 60
    COMMAND ${says} 0 "is removed.*PASSED.*PASSED"
            env LD_PRELOAD=$<TARGET_FILE:lost_links> $<TARGET_FILE:platform_tests> --gtest_filter=programs.compile_with* --gtest_repeat=3)
  # Contents that move through staging memory, by copies of a driver that is told to fail.
  add_library(failing_copies MODULE support/failing_copies.c)
  target_link_libraries(failing_copies PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  foreach(strategy pinned pipelined)
    causeway_test(platform.failed_moves.${strategy} LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 60
      COMMAND env LD_PRELOAD=$<TARGET_FILE:failing_copies> CAUSEWAY_CONTEXTS=device CAUSEWAY_IN_PLACE=off CAUSEWAY_STRATEGY=${strategy}
              $<TARGET_FILE:platform_tests> --gtest_filter=failed_moves.*)
  endforeach()
endif()
# Of two devices of PoCL and one of Intel.
foreach(filter "pocl:1=1" "intel,pocl=3" "INTEL:0,pocl:0=2" "cpu=3")
  string(REGEX MATCH "^(.*)=([0-9]+)$" _ ${filter})
  string(MAKE_C_IDENTIFIER ${CMAKE_MATCH_1} name)
  causeway_test(platform.filter.${name} LABEL platform RUNTIME both PLATFORM ${platform_icd} TIMEOUT 60
    COMMAND env CAUSEWAY_DEVICES=${CMAKE_MATCH_1} CAUSEWAY_TEST_DEVICES=${CMAKE_MATCH_2}
            $<TARGET_FILE:platform_tests> --gtest_filter=objects.only_the_devices*)
endforeach()
# The same program on two ranks, which see the devices of both. Threads of a host program are not in step on all ranks.
foreach(runtime ${runtimes})
  causeway_test(platform.cluster.${runtime}.2 LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} RANKS 2 TIMEOUT 300
    COMMAND env CAUSEWAY_CLUSTER=1 $<TARGET_FILE:platform_tests> --gtest_filter=-*threads*)
endforeach()
# Devices of one driver with contexts of their own, as several GPUs have them.
causeway_test(platform.contexts_of_devices LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 300
  COMMAND env CAUSEWAY_CONTEXTS=device $<TARGET_FILE:platform_tests>)
causeway_test(platform.cluster.contexts_of_devices LABEL platform RUNTIME pocl PLATFORM ${platform_icd} RANKS 2 TIMEOUT 300
  COMMAND env CAUSEWAY_CLUSTER=1 CAUSEWAY_CONTEXTS=device $<TARGET_FILE:platform_tests>
          --gtest_filter=collectives.*:spanning.*:images.*:random_graphs.*-*threads*)
causeway_test(platform.linked_devices LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 60
  COMMAND env CAUSEWAY_CONTEXTS=device CAUSEWAY_BRIDGE=host CAUSEWAY_STRATEGY=device-window CAUSEWAY_EXPLAIN=1
          CAUSEWAY_TEST_LINK=1 $<TARGET_FILE:platform_tests> --gtest_filter=spanning.large_contents*)
# Programs that use libcauseway, too.
add_executable(cluster_transfer_tests platform/transfers/cluster_transfers_test.cpp support/patterns.cpp support/stacks.cpp support/watchdog.cpp)
target_include_directories(cluster_transfer_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(cluster_transfer_tests PRIVATE
  causeway_flags Causeway::causeway OpenCL::OpenCL GTest::gtest_main MPI::MPI_C)
foreach(runtime ${runtimes})
  causeway_test(platform.cluster.transfers.${runtime} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} RANKS 2 TIMEOUT 120
    COMMAND env CAUSEWAY_CLUSTER=1 $<TARGET_FILE:cluster_transfer_tests>)
endforeach()
# Each rank with a driver of its own.
causeway_test(platform.cluster.both.2 LABEL platform RUNTIME both PLATFORM ${platform_icd} RANKS 2 TIMEOUT 300
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/platform/one_driver_each.sh $<TARGET_FILE:platform_tests>
          --gtest_filter=collectives.all_reduce:spanning.contents*:random_graphs.*:read_order.*:callbacks.*:programs.a_build*:images.*:refusals.*)
causeway_test(platform.cluster.intel.4 LABEL platform RUNTIME intel PLATFORM ${platform_icd} RANKS 4 TIMEOUT 300
  COMMAND env CAUSEWAY_CLUSTER=1 $<TARGET_FILE:platform_tests> --gtest_filter=collectives.*)
# Threads of ours, of drivers and the end of the process meet differently each time.
add_executable(leaving_program support/programs/leaving_program.cpp)
target_link_libraries(leaving_program PRIVATE causeway_flags OpenCL::OpenCL)
foreach(runtime ${runtimes} both)
  causeway_test(platform.leaving.${runtime} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} TIMEOUT 60
    COMMAND sh -c "$<TARGET_FILE:leaving_program> && $<TARGET_FILE:leaving_program> && $<TARGET_FILE:leaving_program>")
  ends_without_releasing(platform.leaving.${runtime})
endforeach()
add_executable(farewell_program support/programs/farewell_program.cpp)
target_link_libraries(farewell_program PRIVATE causeway_flags OpenCL::OpenCL)
foreach(runtime ${runtimes})
  causeway_test(platform.cluster.farewell.${runtime} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} RANKS 2 TIMEOUT 60
    COMMAND env CAUSEWAY_CLUSTER=1 $<TARGET_FILE:farewell_program>)
  set_tests_properties(platform.cluster.farewell.${runtime} PROPERTIES
    PASS_REGULAR_EXPRESSION "farewell.*farewell" FAIL_REGULAR_EXPRESSION "failed|causeway:|non-zero")
endforeach()
# Kernels are compiled anew, which takes its time.
add_executable(unfinished_program support/programs/unfinished_program.cpp)
target_link_libraries(unfinished_program PRIVATE causeway_flags OpenCL::OpenCL)
foreach(runtime ${runtimes})
  foreach(word "" released)
    string(JOIN . name platform.cluster.unfinished.${runtime} ${word})
    causeway_test(${name} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} RANKS 2 TIMEOUT 120
      COMMAND env CAUSEWAY_CLUSTER=1 POCL_KERNEL_CACHE=0 $<TARGET_FILE:unfinished_program> ${word})
  endforeach()
  ends_without_releasing(platform.cluster.unfinished.${runtime})
endforeach()
add_executable(hasty_program support/programs/hasty_program.cpp)
target_link_libraries(hasty_program PRIVATE causeway_flags OpenCL::OpenCL ${CMAKE_DL_LIBS})
foreach(runtime ${runtimes})
  causeway_test(platform.cluster.hasty.${runtime} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} RANKS 2 TIMEOUT 60
    COMMAND env CAUSEWAY_CLUSTER=1 CAUSEWAY_TUNER=auto XDG_CACHE_HOME=/dev/null $<TARGET_FILE:hasty_program>)
  ends_without_releasing(platform.cluster.hasty.${runtime})
endforeach()
add_executable(parting_program support/programs/parting_program.cpp)
target_link_libraries(parting_program PRIVATE causeway_flags OpenCL::OpenCL)
# parting_test(<name>[.<ranks>] <what is shown> [<variable>=<value>]...)
function(parting_test name text)
  string(REGEX MATCH "^([a-z_]*)[.]?([0-9]*)$" _ ${name})
  set(what ${CMAKE_MATCH_1})
  set(ranks ${CMAKE_MATCH_2})
  if(NOT ranks)
    set(ranks 2)
  endif()
  causeway_test(platform.cluster.parting.${name} LABEL platform RUNTIME pocl PLATFORM ${platform_icd} RANKS ${ranks} TIMEOUT 60
    COMMAND env CAUSEWAY_CLUSTER=1 ${ARGN} $<TARGET_FILE:parting_program> ${what})
  set_tests_properties(platform.cluster.parting.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${text}"
    FAIL_REGULAR_EXPRESSION "Sanitizer") # what the program ends with says nothing here
endfunction()
parting_test(count "rank 1 has made 8 calls, the last clFinish.#2.; rank 0 has made 7, the last clFinish")
parting_test(thread "rank 1 has made 8 calls, the last clFinish.#2.; rank 0 has made 7, the last clFinish")
parting_test(function "call 6 is clEnqueueCopyBuffer.#2, #3, #3, 0, 32, 32, 0, null, null. on rank 1, and clEnqueueFillBuffer"
  CAUSEWAY_STRICT=1)
parting_test(pattern "in call 6, clEnqueueFillBuffer.#2, #3, pointer, 4, 0, 64, 0, null, null., or before, rank 1 and rank 0"
  CAUSEWAY_STRICT=on)
parting_test(size "in call 7, clFinish.#2., or before, rank 1 and rank 0 have given different arguments")
parting_test(kind "call 9 is clCreateKernel.#7, pointer, [a-z]*. on rank 1, and clFinish.#2. on rank 0")
parting_test(owner "call 11 is clFinish.#9. on rank 1, and clFinish.#7. on rank 0")
parting_test(question "after call 10, clEnqueueFillBuffer.*, rank 1 and rank 0 have asked for different things")
parting_test(status "in call 10, clFinish.#2., or before, rank 1 and rank 0 have given different arguments")
parting_test(top_bits "in call 8, clFinish.#2., or before, rank 1 and rank 0 have given different arguments")
parting_test(list "in call 11, clWaitForEvents.1, pointer., or before, rank 1 and rank 0 have given different arguments")
parting_test(unmap "in call 12, clFinish.#2., or before, rank 1 and rank 0 have given different arguments")
parting_test(pitch "in call 7, clCreateImage.*, or before, rank 1 and rank 0 have given different arguments")
parting_test(read
  "call 9 is clEnqueueReadBuffer.#2, #7, 1, 0, 64, .* on rank 1, and clEnqueueReadBuffer.#2, #3, 1, 0, 64, .* on rank 0")
parting_test(read.4
  "call 9 is clEnqueueReadBuffer.#2, #7, 1, 0, 64, .* on rank 1, and clEnqueueReadBuffer.#2, #3, 1, 0, 64, .* on rank 0")
# MPICH gives nothing of a message that is too long, so that the other rank's call is not known.
if(MPI_C_LIB_NAMES MATCHES mpich)
  parting_test(read_size "in call 9, clEnqueueReadBuffer.#2, #3, 1, 0, 32, .*, or before, rank 1 expects less than rank 0 has sent")
else()
  parting_test(read_size
    "call 9 is clEnqueueReadBuffer.#2, #3, 1, 0, 32, .* on rank 1, and clEnqueueReadBuffer.#2, #3, 1, 0, 64, .* on rank 0")
endif()
parting_test(argument "in call 15, clEnqueueReadBuffer.*, or before, rank 1 and rank 0 have given different arguments")
parting_test(end "rank 1 has made 10 calls, the last clCreateBuffer.*; rank 0 has made 9, the last clEnqueueReadBuffer")
parting_test(end.4 "rank 1 has made 10[ calls]*, the last clCreateBuffer")
parting_test(each "call 9 is clEnqueueReadBuffer.#7, #3, .* on rank 1, and clEnqueueReadBuffer.#2, #3, .* on rank 0")
parting_test(crossed "call 9 is clEnqueueReadBuffer.#7, #3, .* on rank 1, and clEnqueueReadBuffer.#2, #3, .* on rank 0"
  CAUSEWAY_WATCHDOG=1)
parting_test(skipped "call 8 is clEnqueueReadBuffer.*on rank 1, and clFinish.#2. on rank 0" CAUSEWAY_WATCHDOG=1)
parting_test(large "rank 1: a memory object of [0-9]*[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9] bytes cannot be made by the driver pocl")
parting_test(bare "rank 1 of 2 has no device of its own, which a context needs on every rank")
parting_test(killed "signal 9|KILLED BY SIGNAL: 9")
parting_test(callback "clEnqueueMarkerWithWaitList in a callback")
parting_test(second "call from a second thread: clEnqueueMarkerWithWaitList while another thread calls, last in call number 9, clFinish.#2.")
parting_test(beside "rank 1 has made 9 calls.*; on this rank with a question of a second thread, as for the status of an event")
parting_test(asking "call from a second thread|threads of one rank ask the others at a time|asked for different things")
parting_test(left "rank 0 has left its program, and this one waits for it")
parting_test(left_early.2 "rank 0 has left its program, and this one waits for it")
parting_test(left_early.4 "rank 0 has left its program, and this one waits for it")
parting_test(stuck "nothing has moved for 1 s.*clEnqueueMarkerWithWaitList, and 0 behind it, wait for a user event"
  CAUSEWAY_WATCHDOG=1)
parting_test(polling "nothing has moved for 1 s: the program waits for an event, whose status it asks for again and again"
  CAUSEWAY_WATCHDOG=1)
# One rank waits for its device, and the other one has gone on: they have not parted.
parting_test(ahead "nothing has moved for 1 s: the program waits for the other ranks.*nobody noticed.*nobody noticed"
  CAUSEWAY_WATCHDOG=1)
set_tests_properties(platform.cluster.parting.ahead PROPERTIES FAIL_REGULAR_EXPRESSION "have parted")
parting_test(busy "rank 0 of 2: nothing has moved for 1 s: the program waits for a driver that finishes a queue"
  CAUSEWAY_WATCHDOG=1)
foreach(name stuck polling busy)
  ends_without_releasing(platform.cluster.parting.${name})
endforeach()
foreach(runtime ${runtimes})
  causeway_test(platform.dry_run.${runtime} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} TIMEOUT 60
    COMMAND ${says} 0 "PASSED  . 2 tests.*rank 1 of 4: 32 commands, 24 virtual, .*8 run here. 0 writes, 0 copies, 20 reads, 4 kernels"
            env CAUSEWAY_DRY_RUN=4x1:1 CAUSEWAY_STATS=1 $<TARGET_FILE:platform_tests> --gtest_filter=dry_run.*)
endforeach()
causeway_test(platform.dry_run.refused LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 60
  COMMAND ${says} 1 "CAUSEWAY_DRY_RUN=4y1 is not of the form"
          env CAUSEWAY_DRY_RUN=4y1 $<TARGET_FILE:platform_tests> --gtest_filter=dry_run.*)
causeway_test(platform.dry_run.option LABEL platform RUNTIME pocl PLATFORM ${platform_icd} TIMEOUT 60
  COMMAND ${says} 0 "CAUSEWAY_STATS is ignored: option stats: 'yes' is not off.on.*PASSED  . 2 tests"
          env CAUSEWAY_DRY_RUN=4x1:1 CAUSEWAY_STATS=yes $<TARGET_FILE:platform_tests> --gtest_filter=dry_run.*)
add_executable(finalizing_program support/programs/finalizing_program.cpp)
target_link_libraries(finalizing_program PRIVATE causeway_flags OpenCL::OpenCL MPI::MPI_C)
if(MPI_C_LIB_NAMES MATCHES mpich)
  target_link_libraries(finalizing_program PRIVATE Causeway::causeway)
endif()
# The way of those whose MPI_Finalize is called by somebody else.
add_executable(transfers_ending_program support/programs/finalizing_program.cpp)
target_compile_definitions(transfers_ending_program PRIVATE CAUSEWAY_TEST_ENDS_TRANSFERS)
target_link_libraries(transfers_ending_program PRIVATE causeway_flags Causeway::causeway OpenCL::OpenCL MPI::MPI_C)
foreach(runtime ${runtimes})
  foreach(program finalizing transfers_ending)
    causeway_test(platform.cluster.${program}.${runtime} LABEL platform RUNTIME ${runtime} PLATFORM ${platform_icd} RANKS 2 TIMEOUT 60
      COMMAND env CAUSEWAY_CLUSTER=1 $<TARGET_FILE:${program}_program>)
    ends_without_releasing(platform.cluster.${program}.${runtime})
  endforeach()
endforeach()
# It loads a library into programs before all others, which the sanitizers' own has to be.
if(TARGET causeway_program AND NOT CAUSEWAY_SANITIZE)
  add_executable(differing_program support/programs/differing_program.cpp)
  target_link_libraries(differing_program PRIVATE causeway_flags OpenCL::OpenCL)
  causeway_test(platform.causeway_run.same LABEL platform RUNTIME pocl TIMEOUT 60
    COMMAND $<TARGET_FILE:causeway_program> run --cluster -n 2 -- $<TARGET_FILE:differing_program>)
  set_tests_properties(platform.causeway_run.same PROPERTIES PASS_REGULAR_EXPRESSION "agreed"
    FAIL_REGULAR_EXPRESSION "agreed.*agreed|parted")
  add_executable(writing_program support/programs/writing_program.cpp)
  target_link_libraries(writing_program PRIVATE causeway_flags OpenCL::OpenCL ${CMAKE_DL_LIBS})
  causeway_test(platform.causeway_run.files LABEL platform RUNTIME pocl TIMEOUT 60
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/platform/files_written_once.sh
            $<TARGET_FILE:causeway_program> run --cluster -n 2 -- $<TARGET_FILE:writing_program>)
  add_executable(questions_program support/programs/questions_program.cpp)
  target_compile_definitions(questions_program PRIVATE _GNU_SOURCE)
  target_link_libraries(questions_program PRIVATE causeway_flags OpenCL::OpenCL)
  causeway_test(platform.causeway_run.questions LABEL platform RUNTIME pocl TIMEOUT 60
    COMMAND sh -c "rm -rf questions.tmp && $<TARGET_FILE:causeway_program> run --cluster -n 2 -- $<TARGET_FILE:questions_program> questions.tmp")
  set_tests_properties(platform.causeway_run.questions PROPERTIES PASS_REGULAR_EXPRESSION "^69 right\n$"
    FAIL_REGULAR_EXPRESSION "parted")
  add_executable(reopening_program support/programs/reopening_program.cpp)
  target_compile_definitions(reopening_program PRIVATE _GNU_SOURCE)
  target_link_libraries(reopening_program PRIVATE causeway_flags OpenCL::OpenCL)
  causeway_test(platform.causeway_run.reopened LABEL platform RUNTIME pocl TIMEOUT 60
    COMMAND sh -c "rm -rf reopening.tmp && $<TARGET_FILE:causeway_program> run --cluster -n 2 -- $<TARGET_FILE:reopening_program> reopening.tmp")
  set_tests_properties(platform.causeway_run.reopened PROPERTIES PASS_REGULAR_EXPRESSION "^57 right\n$"
    FAIL_REGULAR_EXPRESSION "parted")
  add_executable(surroundings_program support/programs/surroundings_program.cpp)
  target_link_libraries(surroundings_program PRIVATE causeway_flags OpenCL::OpenCL)
  causeway_test(platform.causeway_run.surroundings LABEL platform RUNTIME pocl TIMEOUT 60
    COMMAND $<TARGET_FILE:causeway_program> run --cluster -n 2 -- $<TARGET_FILE:surroundings_program>)
  set_tests_properties(platform.causeway_run.surroundings PROPERTIES
    PASS_REGULAR_EXPRESSION "agreed on 69 answers, a terminal of 77 columns" FAIL_REGULAR_EXPRESSION "parted")
  # Ranks whose clocks count from other starts, as nodes' do.
  add_executable(deadlines_program support/programs/deadlines_program.cpp)
  target_link_libraries(deadlines_program PRIVATE causeway_flags OpenCL::OpenCL Threads::Threads)
  causeway_test(platform.causeway_run.other_clock LABEL platform RUNTIME pocl TIMEOUT 60
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/platform/other_clock.sh $<TARGET_FILE:causeway_program> $<TARGET_FILE:deadlines_program>)
  # Debian's Python, whose interpreter is the program, and one whose interpreter is a library.
  find_program(debian_python python3 PATHS /usr/bin NO_DEFAULT_PATH)
  execute_process(COMMAND ${debian_python} -c "import sysconfig; print(sysconfig.get_config_var('INSTSONAME'))"
    OUTPUT_VARIABLE python_library OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  add_executable(shared_python support/programs/shared_python.c)
  target_compile_definitions(shared_python PRIVATE PYTHON_LIBRARY="${python_library}")
  target_link_libraries(shared_python PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  set(kind static)
  foreach(python ${debian_python} $<TARGET_FILE:shared_python> ${PROJECT_SOURCE_DIR}/.venv/bin/python3)
    if(python MATCHES "shared_python")
      set(kind shared)
    elseif(python MATCHES "venv")
      set(kind venv) # whichever it is: what its library exports differs from Debian's
    endif()
    causeway_test(platform.causeway_run.python.${kind} LABEL platform RUNTIME pocl TIMEOUT 120
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/platform/python/run.sh $<TARGET_FILE:causeway_program> run --cluster -n 2 -- ${python}
              ${CMAKE_CURRENT_SOURCE_DIR}/platform/python/chance.py)
    set_tests_properties(platform.causeway_run.python.${kind} PROPERTIES
      PASS_REGULAR_EXPRESSION "agreed on 19 numbers in ${kind}" FAIL_REGULAR_EXPRESSION "parted")
  endforeach()
  # The program has sent its error output elsewhere before it came to OpenCL.
  foreach(how captured unread broken)
    causeway_test(platform.causeway_run.${how} LABEL platform RUNTIME pocl TIMEOUT 60
      COMMAND $<TARGET_FILE:causeway_program> run --cluster -n 2 -- $<TARGET_FILE:parting_program> ${how})
    set_tests_properties(platform.causeway_run.${how} PROPERTIES PASS_REGULAR_EXPRESSION "rank 1 has made 8 calls")
  endforeach()
  # All that the ranks say is lost: the launcher says it.
  causeway_test(platform.causeway_run.silent LABEL platform RUNTIME pocl TIMEOUT 300
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/platform/launcher_says.sh "causeway: the programs of the ranks have parted: rank 1 has ma"
            $<TARGET_FILE:causeway_program> run --cluster -n 2 -- sh -c "exec $<TARGET_FILE:parting_program> captured 2>/dev/null")
  # Python's sets would have an order of their own on each rank.
  causeway_test(platform.causeway_run.hash_seed LABEL platform RUNTIME pocl TIMEOUT 60
    COMMAND env -u PYTHONHASHSEED $<TARGET_FILE:causeway_program> run --cluster -n 2 -- sh -c "echo seed $PYTHONHASHSEED")
  set_tests_properties(platform.causeway_run.hash_seed PROPERTIES PASS_REGULAR_EXPRESSION "seed 0")
  causeway_test(platform.causeway_run LABEL platform RUNTIME pocl TIMEOUT 120
    COMMAND $<TARGET_FILE:causeway_program> run --cluster -n 2 -- $<TARGET_FILE:platform_tests>
            --gtest_filter=spanning.contents*)
endif()
