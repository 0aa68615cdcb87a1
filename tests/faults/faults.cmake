# SPDX-License-Identifier: Apache-2.0
# The tests that make every call of OpenCL, MPI and the system fail: the executable stands before those functions.
file(GLOB fault_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
set(fault_tests_folder ${CMAKE_CURRENT_LIST_DIR}/..)
add_executable(fault_tests ${fault_sources}
  ${fault_tests_folder}/support/devices.cpp ${fault_tests_folder}/support/events.cpp
  ${fault_tests_folder}/support/files.cpp ${fault_tests_folder}/support/opencl_fixture.cpp
  ${fault_tests_folder}/support/kept_queues.cpp ${fault_tests_folder}/support/no_tuner.cpp
  ${fault_tests_folder}/support/patterns.cpp ${fault_tests_folder}/support/stacks.cpp)
causeway_precompile(fault_tests ${test_headers})
target_include_directories(fault_tests PRIVATE ${fault_tests_folder})
target_link_libraries(fault_tests PRIVATE
  causeway_flags Causeway::causeway GTest::gmock GTest::gtest Threads::Threads ${CMAKE_DL_LIBS})
# The library must find this executable's functions before the real ones.
set_target_properties(fault_tests PROPERTIES ENABLE_EXPORTS ON)
foreach(before opencl opencl_kernel mpi system)
  set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/${before}_calls.cpp APPEND PROPERTY COMPILE_OPTIONS -fvisibility=default)
  set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/${before}_calls.cpp PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endforeach()
# Page-locked memory makes the calls of the others, and a few before: `make test` has it fail in the sanitized build alone.
set(locked)
if(NOT CAUSEWAY_SANITIZE)
  set(locked :*_page_locked)
endif()
foreach(runtime ${runtimes})
  # The calls of a graph are the same on every runtime, and a graph makes many.
  set(filter --gtest_filter=-none${locked})
  if(runtime STREQUAL "intel")
    set(filter --gtest_filter=-*graph_faults.any_call*plain:*graph_faults.any_call*page_locked)
  endif()
  causeway_test(faults.${runtime}.1 LABEL faults RUNTIME ${runtime} RANKS 1 TIMEOUT 900
    COMMAND $<TARGET_FILE:fault_tests> ${filter})
  # Graphs fail as they do with one rank, and take long.
  causeway_test(faults.${runtime}.2 LABEL faults RUNTIME ${runtime} RANKS 2 TIMEOUT 900
    COMMAND $<TARGET_FILE:fault_tests> --gtest_filter=-*graph_faults*${locked})
endforeach()
# Heaps in windows, over a link of host memory.
foreach(runtime ${runtimes})
  foreach(ranks 1 2)
    causeway_test(faults.one_sided_by_link.${runtime}.${ranks} LABEL faults RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 300
      COMMAND env CAUSEWAY_BRIDGE=host $<TARGET_FILE:fault_tests> --gtest_filter=*one_sided_faults*)
  endforeach()
endforeach()
# Heaps that PEs serve by messages, in processes that have not used the device before.
foreach(runtime ${runtimes})
  foreach(ranks 1 2)
    causeway_test(faults.one_sided_served.${runtime}.${ranks} LABEL faults RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 120
      COMMAND $<TARGET_FILE:fault_tests> --gtest_filter=*one_sided_faults.of_a_pe*:*one_sided_faults.of_an_engine*)
    set_tests_properties(faults.one_sided_served.${runtime}.${ranks} PROPERTIES FAIL_REGULAR_EXPRESSION "used before")
  endforeach()
endforeach()
# PEs of two nodes, which hear of one another by MPI and TCP alone.
if(NOT CAUSEWAY_SANITIZE)
  causeway_test(faults.one_sided_on_nodes.pocl.2 LABEL faults RUNTIME pocl RANKS 2 TIMEOUT 120
    COMMAND env LD_PRELOAD=$<TARGET_FILE:pretend_nodes> PROCESSES_PER_NODE=1 $<TARGET_FILE:fault_tests> --gtest_filter=*one_sided_faults.of_a_pe*)
endif()
# Blocking calls as on graphics cards, whose copies go into the program's queue.
if(NOT CAUSEWAY_SANITIZE)
  foreach(runtime ${runtimes})
    causeway_test(faults.blocking_as_on_cards.${runtime} LABEL faults RUNTIME ${runtime} RANKS 1 TIMEOUT 120
      COMMAND env LD_PRELOAD=$<TARGET_FILE:pretend_discrete> PRETEND_DISCRETE_KEEP_NAME=1
              $<TARGET_FILE:fault_tests> --gtest_filter=*blocking_faults*)
  endforeach()
endif()
