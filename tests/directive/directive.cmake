# SPDX-License-Identifier: Apache-2.0
# Programs with directives: compiled by causeway-cc when the test runs, and run on each OpenCL.
if(NOT TARGET causeway_cc)
  add_test(NAME directive.compiler COMMAND ${CMAKE_COMMAND} -E cat "causeway-cc-was-not-built:-install-libclang-19-dev-and-llvm-19-dev")
  return()
endif()
set(directive_script ${CMAKE_CURRENT_LIST_DIR}/compile_and_run.sh)
foreach(runtime ${runtimes})
  foreach(program copies declared effects expressions extents found_reductions gangs inferred iterations layouts loop_values matmul heat members peers pools reductions regions row_pointers rows)
    causeway_test(directive.${program}.${runtime} LABEL directive RUNTIME ${runtime} TIMEOUT 600
      COMMAND ${directive_script} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/${program}.c)
    # Two devices, whichever the runtime has.
    set_property(TEST directive.${program}.${runtime} APPEND PROPERTY ENVIRONMENT ACC_DEVICE_REPEAT=2)
  endforeach()
endforeach()
# Launches of GPUs, with many threads in a group and groups that share the lanes' loop.
foreach(program copies effects extents found_reductions gangs inferred iterations layouts loop_values matmul heat members pools reductions regions row_pointers rows)
  causeway_test(directive.${program}_as_gpu.pocl LABEL directive RUNTIME pocl TIMEOUT 600
    COMMAND ${directive_script} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/${program}.c)
  set_property(TEST directive.${program}_as_gpu.pocl APPEND PROPERTY ENVIRONMENT ACC_DEVICE_REPEAT=2 ACC_LAUNCH_AS_GPU=1)
endforeach()
# The host version.
foreach(program copies effects)
  causeway_test(directive.${program}_on_host.pocl LABEL directive RUNTIME pocl TIMEOUT 300
    COMMAND ${directive_script} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/${program}.c)
  set_property(TEST directive.${program}_on_host.pocl APPEND PROPERTY ENVIRONMENT ACC_DEVICE_TYPE=host)
endforeach()
# Another compiler keeps other values of the gang's memory.
causeway_test(directive.gangs_as_gpu.intel LABEL directive RUNTIME intel TIMEOUT 600
  COMMAND ${directive_script} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/gangs.c)
set_property(TEST directive.gangs_as_gpu.intel APPEND PROPERTY ENVIRONMENT ACC_DEVICE_REPEAT=2 ACC_LAUNCH_AS_GPU=1)
# A driver that reads what goes to the device before its turn.
if(TARGET early_writes)
  causeway_test(directive.early_writes.pocl LABEL directive RUNTIME pocl
    COMMAND ${directive_script} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/regions.c)
  set_property(TEST directive.early_writes.pocl APPEND PROPERTY ENVIRONMENT ACC_LAUNCH_AS_GPU=1 PRELOADED=$<TARGET_FILE:early_writes>)
endif()
# Memory that links between GPUs reach, which host memory plays.
causeway_test(directive.linked_peers.pocl LABEL directive RUNTIME pocl TIMEOUT 600
  COMMAND env ACC_LAUNCH_AS_GPU=1 CAUSEWAY_BRIDGE=host ${CMAKE_CURRENT_LIST_DIR}/linked_peers.sh $<TARGET_FILE:causeway_cc>)
foreach(runtime ${runtimes})
  causeway_test(directive.routines.${runtime} LABEL directive RUNTIME ${runtime}
    COMMAND ${directive_script} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/routines.c ${CMAKE_CURRENT_LIST_DIR}/routines_elsewhere.c)
  causeway_test(directive.opencl_handles.${runtime} LABEL directive RUNTIME ${runtime}
    COMMAND ${directive_script} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/opencl_handles.c
            ${CMAKE_CURRENT_LIST_DIR}/opencl_handles_host.c -lOpenCL)
endforeach()
# A heap of two PEs, in the directives' context.
list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE mpi_folders)
set(directive_symmetric ${directive_script} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/symmetric.c -DCL_TARGET_OPENCL_VERSION=120
  -I${PROJECT_SOURCE_DIR}/include ${mpi_folders} -L$<TARGET_FILE_DIR:causeway> -Wl,-rpath,$<TARGET_FILE_DIR:causeway> -lcauseway
  ${MPI_C_LIBRARIES} -lOpenCL)
foreach(runtime ${runtimes})
  causeway_test(directive.symmetric.${runtime} LABEL directive RUNTIME ${runtime} RANKS 2 TIMEOUT 300 COMMAND ${directive_symmetric})
endforeach()
# A heap whose memory the host does not reach, as on cards.
causeway_test(directive.symmetric.by_link.pocl LABEL directive RUNTIME pocl RANKS 2 TIMEOUT 300
  COMMAND env CAUSEWAY_BRIDGE=host ${directive_symmetric})
foreach(runtime ${runtimes})
  foreach(topic compiler launches)
    causeway_test(directive.${topic}.${runtime} LABEL directive RUNTIME ${runtime} TIMEOUT 600
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/${topic}_test.py $<TARGET_FILE:causeway_cc>)
  endforeach()
endforeach()
foreach(runtime ${runtimes})
  causeway_test(directive.failures.${runtime} LABEL directive RUNTIME ${runtime} TIMEOUT 300
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/failures_test.py $<TARGET_FILE:causeway_cc>)
  set_property(TEST directive.failures.${runtime} APPEND PROPERTY ENVIRONMENT ACC_DEVICE_REPEAT=2)
endforeach()
# What the compiler refuses, and what it proves of loops, needs no device.
add_test(NAME directive.refusals COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/refusals_test.py $<TARGET_FILE:causeway_cc>)
set_tests_properties(directive.refusals PROPERTIES LABELS directive TIMEOUT 300)
add_test(NAME directive.loops COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/loops_test.py $<TARGET_FILE:causeway_cc>)
set_tests_properties(directive.loops PROPERTIES LABELS directive TIMEOUT 120)
foreach(runtime ${runtimes})
  causeway_test(directive.tutorial.${runtime} LABEL directive RUNTIME ${runtime} TIMEOUT 300
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/tutorial_test.py $<TARGET_FILE:causeway_cc>)
  set_property(TEST directive.tutorial.${runtime} APPEND PROPERTY ENVIRONMENT ACC_DEVICE_REPEAT=2)
endforeach()
# The applications, small, on one and two devices.
foreach(runtime ${runtimes})
  causeway_test(directive.applications.${runtime} LABEL directive RUNTIME ${runtime} TIMEOUT 600
    COMMAND ${PROJECT_SOURCE_DIR}/benchmarks/directives.sh --build ${CMAKE_BINARY_DIR} --small --repeats 1)
  set_property(TEST directive.applications.${runtime} APPEND PROPERTY ENVIRONMENT ACC_DEVICE_REPEAT=2)
endforeach()
# Random programs, on the device and as the host version: more by hand, `random_programs.py COMPILER --count 1000`.
foreach(runtime ${runtimes})
  causeway_test(directive.random_programs.${runtime} LABEL directive RUNTIME ${runtime} TIMEOUT 600
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/random_programs.py $<TARGET_FILE:causeway_cc> --count 40)
  # PoCL 3.1 loses writes of threads that work alone where a group has several.
  set(as_gpu_options)
  if(runtime STREQUAL pocl)
    set(as_gpu_options --no-lone-threads)
  endif()
  causeway_test(directive.random_programs_as_gpu.${runtime} LABEL directive RUNTIME ${runtime} TIMEOUT 600
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/random_programs.py $<TARGET_FILE:causeway_cc> --count 20 --seed 1000 ${as_gpu_options})
  set_property(TEST directive.random_programs_as_gpu.${runtime} APPEND PROPERTY ENVIRONMENT ACC_LAUNCH_AS_GPU=1)
  causeway_test(directive.random_reductions.${runtime} LABEL directive RUNTIME ${runtime} TIMEOUT 600
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/random_programs.py $<TARGET_FILE:causeway_cc> --reductions some)
endforeach()
# The next ones, and reductions at every level: for `make test-all`.
causeway_test(directive.more_random_programs.pocl LABEL directive RUNTIME pocl TIMEOUT 600
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/random_programs.py $<TARGET_FILE:causeway_cc> --count 80 --seed 40)
causeway_test(directive.more_random_programs_as_gpu.pocl LABEL directive RUNTIME pocl TIMEOUT 600
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/random_programs.py $<TARGET_FILE:causeway_cc> --count 40 --seed 1020 --no-lone-threads)
set_property(TEST directive.more_random_programs_as_gpu.pocl APPEND PROPERTY ENVIRONMENT ACC_LAUNCH_AS_GPU=1)
causeway_test(directive.all_reductions.pocl LABEL directive RUNTIME pocl TIMEOUT 1500
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/random_programs.py $<TARGET_FILE:causeway_cc> --reductions all)
# Kernels in a simulator that sees races of their threads, and accesses beyond their buffers.
find_program(CAUSEWAY_OCLGRIND oclgrind)
if(CAUSEWAY_OCLGRIND)
  # Optimised, it uses llvm.usub.sat, which oclgrind 21.10 does not have.
  set(options_for_inferred --build-options -cl-opt-disable)
  foreach(program extents found_reductions gangs inferred layouts loop_values matmul members pools reductions regions row_pointers rows)
    add_test(NAME directive.races.${program}
      COMMAND ${CMAKE_CURRENT_LIST_DIR}/see_races.sh ${CAUSEWAY_OCLGRIND} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/${program}.c
              ${options_for_${program}})
    set_tests_properties(directive.races.${program} PROPERTIES LABELS directive TIMEOUT 300)
  endforeach()
  # Many threads in a group, and the form of kernels in which each thread has one iteration.
  foreach(program gangs rows)
    add_test(NAME directive.races_as_gpu.${program}
      COMMAND ${CMAKE_CURRENT_LIST_DIR}/see_races.sh ${CAUSEWAY_OCLGRIND} $<TARGET_FILE:causeway_cc> ${CMAKE_CURRENT_LIST_DIR}/${program}.c)
    set_tests_properties(directive.races_as_gpu.${program} PROPERTIES LABELS directive TIMEOUT 300 ENVIRONMENT ACC_LAUNCH_AS_GPU=1)
  endforeach()
else()
  add_test(NAME directive.races COMMAND ${CMAKE_COMMAND} -E cat "there-is-no-oclgrind:-scripts/setup.sh-compilers-installs-it")
endif()
