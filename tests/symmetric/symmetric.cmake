# SPDX-License-Identifier: Apache-2.0
# One-sided device memory: the rank tests' program with tests of its own.
file(GLOB symmetric_sources CONFIGURE_DEPENDS symmetric/*_test.cpp)
add_executable(symmetric_tests system/main.cpp support/kept_queues.cpp support/no_tuner.cpp support/stacks.cpp ${symmetric_sources})
target_include_directories(symmetric_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/system)
causeway_precompile(symmetric_tests ${test_headers})
target_link_libraries(symmetric_tests PRIVATE causeway_flags Causeway::causeway GTest::gmock GTest::gtest Threads::Threads)
foreach(runtime ${runtimes})
  foreach(ranks 1 2 4)
    causeway_test(symmetric.${runtime}.${ranks} LABEL system RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 300
      COMMAND $<TARGET_FILE:symmetric_tests>)
  endforeach()
endforeach()
foreach(runtime ${runtimes})
  causeway_test(symmetric.random_arguments.${runtime} LABEL system RUNTIME ${runtime} RANKS 1 TIMEOUT 300
    COMMAND env CAUSEWAY_TEST_SEED=1 CAUSEWAY_TEST_CALLS=45000 $<TARGET_FILE:symmetric_tests>
            --gtest_filter=symmetric_random_arguments.*)
endforeach()
# PEs with devices of two vendors: PoCL's and Intel's in turn.
foreach(ranks 2 4)
  causeway_test(symmetric.two_vendors.${ranks} LABEL system RUNTIME both RANKS ${ranks} TIMEOUT 300
    COMMAND env POCL_DEVICES=pthread CAUSEWAY_TEST_VENDORS=2 $<TARGET_FILE:symmetric_tests> --gtest_filter=-*random_arguments*)
endforeach()
# Heaps in windows, into which others copy over a link; a bridge of host memory is one.
foreach(runtime ${runtimes})
  foreach(ranks 1 2 4)
    causeway_test(symmetric.by_link.${runtime}.${ranks} LABEL system RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 300
      COMMAND env CAUSEWAY_BRIDGE=host $<TARGET_FILE:symmetric_tests>)
  endforeach()
  causeway_test(symmetric.by_link.in_windows.${runtime} LABEL system RUNTIME ${runtime} RANKS 2 TIMEOUT 300
    COMMAND env CAUSEWAY_BRIDGE=host CAUSEWAY_STRATEGY=device-window $<TARGET_FILE:symmetric_tests>)
endforeach()
# Heaps that other PEs do not reach: their engines serve them.
if(NOT CAUSEWAY_SANITIZE)
  foreach(runtime ${runtimes})
    foreach(ranks 1 2 4)
      causeway_test(symmetric.as_on_cards.${runtime}.${ranks} LABEL system RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 300
        COMMAND env LD_PRELOAD=$<TARGET_FILE:pretend_discrete> $<TARGET_FILE:symmetric_tests>)
    endforeach()
    # Each on a node of its own, and two on each.
    foreach(ranks 2 4)
      math(EXPR on_node "${ranks} / 2")
      causeway_test(symmetric.nodes.${runtime}.${ranks} LABEL system RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 300
        COMMAND env LD_PRELOAD=$<TARGET_FILE:pretend_nodes> PROCESSES_PER_NODE=${on_node} $<TARGET_FILE:symmetric_tests>)
    endforeach()
  endforeach()
endif()
# One after the other: each takes 2.3 GB.
foreach(runtime ${runtimes})
  foreach(ranks 1 2)
    causeway_test(symmetric.large.${runtime}.${ranks} LABEL system RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 300
      COMMAND env CAUSEWAY_TEST_LARGE=1 $<TARGET_FILE:symmetric_tests> --gtest_filter=symmetric_large.*)
    set_tests_properties(symmetric.large.${runtime}.${ranks} PROPERTIES RUN_SERIAL TRUE)
  endforeach()
endforeach()
if(NOT CAUSEWAY_SANITIZE)
  causeway_test(symmetric.large.nodes.pocl.2 LABEL system RUNTIME pocl RANKS 2 TIMEOUT 300
    COMMAND env LD_PRELOAD=$<TARGET_FILE:pretend_nodes> PROCESSES_PER_NODE=1 CAUSEWAY_TEST_LARGE=1 $<TARGET_FILE:symmetric_tests>
            --gtest_filter=symmetric_large.*)
  set_tests_properties(symmetric.large.nodes.pocl.2 PROPERTIES RUN_SERIAL TRUE)
endif()
# Heaps of devices' own memory, whose driver fails when it is told to.
if(TARGET pretend_discrete AND TARGET failing_copies)
  causeway_test(symmetric.failing_driver LABEL system RUNTIME pocl RANKS 1 TIMEOUT 120
    COMMAND env LD_PRELOAD=$<TARGET_FILE:failing_copies>:$<TARGET_FILE:pretend_discrete> $<TARGET_FILE:symmetric_tests>
            --gtest_filter=symmetric_words_of_a_failing_driver.*)
endif()
add_executable(killed_pe symmetric/killed_pe.cpp)
target_include_directories(killed_pe PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/system)
target_link_libraries(killed_pe PRIVATE causeway_flags Causeway::causeway Threads::Threads)
system_program(symmetric.killed_pe 0 ${CMAKE_CURRENT_SOURCE_DIR}/symmetric/killed_pe.sh ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:killed_pe>)
system_program(symmetric.killed_pe.by_link 0 env CAUSEWAY_BRIDGE=host ${CMAKE_CURRENT_SOURCE_DIR}/symmetric/killed_pe.sh ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:killed_pe>)
set_tests_properties(symmetric.killed_pe symmetric.killed_pe.by_link PROPERTIES PROCESSORS 3)
if(NOT CAUSEWAY_SANITIZE)
  system_program(symmetric.killed_pe.as_on_cards 0 ${CMAKE_CURRENT_SOURCE_DIR}/symmetric/killed_pe.sh ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:killed_pe> $<TARGET_FILE:pretend_discrete>)
  set_tests_properties(symmetric.killed_pe.as_on_cards PROPERTIES PROCESSORS 3)
  system_program(symmetric.killed_pe.nodes 0 ${CMAKE_CURRENT_SOURCE_DIR}/symmetric/killed_pe.sh ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:killed_pe> $<TARGET_FILE:pretend_nodes>)
  set_tests_properties(symmetric.killed_pe.nodes PROPERTIES PROCESSORS 3)
endif()
# The same on Intel's devices.
causeway_test(symmetric.killed_pe.intel LABEL system RUNTIME intel TIMEOUT 180
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/symmetric/killed_pe.sh ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:killed_pe>)
if(TEST symmetric.killed_pe.intel)
  set_tests_properties(symmetric.killed_pe.intel PROPERTIES PROCESSORS 3)
endif()
# Calls after the end of MPI, where memory is shared, where messages serve it, and where only some PEs are near.
add_executable(after_mpi symmetric/after_mpi.cpp)
target_include_directories(after_mpi PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/system)
target_link_libraries(after_mpi PRIVATE causeway_flags Causeway::causeway Threads::Threads)
foreach(ranks 1 2 4)
  system_program(symmetric.after_mpi.${ranks} ${ranks} env CAUSEWAY_DRAIN=200 $<TARGET_FILE:after_mpi>)
  if(NOT CAUSEWAY_SANITIZE)
    system_program(symmetric.after_mpi.as_on_cards.${ranks} ${ranks} env CAUSEWAY_DRAIN=200
      LD_PRELOAD=$<TARGET_FILE:pretend_discrete> $<TARGET_FILE:after_mpi>)
    math(EXPR on_node "(${ranks} + 1) / 2")
    system_program(symmetric.after_mpi.nodes.${ranks} ${ranks} env CAUSEWAY_DRAIN=200
      LD_PRELOAD=$<TARGET_FILE:pretend_nodes> PROCESSES_PER_NODE=${on_node} $<TARGET_FILE:after_mpi>)
  endif()
endforeach()
causeway_test(symmetric.after_mpi.intel LABEL system RUNTIME intel RANKS 2 TIMEOUT 180
  COMMAND env CAUSEWAY_DRAIN=200 $<TARGET_FILE:after_mpi>)
# The program of docs/one-sided.md.
add_executable(symmetric_ring symmetric/ring.c)
target_link_libraries(symmetric_ring PRIVATE Causeway::causeway MPI::MPI_C)
foreach(runtime ${runtimes})
  foreach(ranks 1 4)
    causeway_test(symmetric.ring.${runtime}.${ranks} LABEL example RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 120
      COMMAND $<TARGET_FILE:symmetric_ring>)
  endforeach()
endforeach()
# The programs' data; on a loaded machine their times mean nothing.
if(TARGET one_sided)
  foreach(runtime ${runtimes})
    causeway_test(one_sided.${runtime} LABEL example RUNTIME ${runtime} RANKS 2 TIMEOUT 180
      COMMAND $<TARGET_FILE:one_sided> --rounds 2)
    # More than two have two neighbours.
    causeway_test(one_sided.halo.${runtime} LABEL example RUNTIME ${runtime} RANKS 4 TIMEOUT 180
      COMMAND $<TARGET_FILE:one_sided> --rounds 2 halo)
    # Several ranks fill memory that one shares, and page-lock it at different times.
    if(TARGET pretend_discrete)
      causeway_test(one_sided.collectives.as_on_cards.${runtime} LABEL example RUNTIME ${runtime} RANKS 4 TIMEOUT 180
        COMMAND env LD_PRELOAD=$<TARGET_FILE:pretend_discrete> $<TARGET_FILE:one_sided> --rounds 2 collectives)
    endif()
  endforeach()
endif()
