# SPDX-License-Identifier: Apache-2.0
# Tests of libcauseway_tasks: without OpenCL, MPI and a machine of several nodes. Include after causeway_test().
if(NOT TARGET causeway_tasks)
  return()
endif()

file(GLOB tasks_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_test.cpp)
add_executable(tasks_tests ${tasks_sources})
causeway_precompile(tasks_tests ${test_headers})
target_include_directories(tasks_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(tasks_tests SYSTEM PRIVATE ${CAUSEWAY_HWLOC_HEADERS})
target_link_libraries(tasks_tests PRIVATE causeway_flags causeway_task_parts Causeway::tasks ${CAUSEWAY_HWLOC_LIBRARY}
  GTest::gmock GTest::gtest_main)
causeway_test(tasks LABEL unit RUNTIME none TIMEOUT 1500 COMMAND $<TARGET_FILE:tasks_tests> --gtest_filter=-stepped.*:section_6.*)
# The paper's section 6 in the simulator.
causeway_test(tasks.section_6 LABEL unit RUNTIME none TIMEOUT 300 COMMAND $<TARGET_FILE:tasks_tests> --gtest_filter=section_6.*)
# Where there are too many orders for all: 100,000 by chance, and 1,000,000 in `make test-all`.
causeway_test(tasks.stepped LABEL unit RUNTIME none TIMEOUT 600
  COMMAND env CAUSEWAY_TASK_SCHEDULES=100000 $<TARGET_FILE:tasks_tests> --gtest_filter=stepped.*)
causeway_test(tasks.stepped.all LABEL unit RUNTIME none TIMEOUT 1500 COMMAND $<TARGET_FILE:tasks_tests> --gtest_filter=stepped.*)

# Beside <omp.h>, in C and in C++.
find_package(OpenMP QUIET)
if(OpenMP_C_FOUND AND OpenMP_CXX_FOUND AND NOT CAUSEWAY_SANITIZE)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/listing_2.c ${CMAKE_CURRENT_BINARY_DIR}/listing_2.cpp COPYONLY)
  add_executable(tasks_listing_2_C ${CMAKE_CURRENT_LIST_DIR}/listing_2.c)
  add_executable(tasks_listing_2_CXX ${CMAKE_CURRENT_BINARY_DIR}/listing_2.cpp)
  foreach(language C CXX)
    target_link_libraries(tasks_listing_2_${language} PRIVATE causeway_flags Causeway::tasks OpenMP::OpenMP_${language})
    foreach(word standard fine coarse)
      causeway_test(tasks.listing_2.${language}.${word} LABEL unit RUNTIME none TIMEOUT 60
        COMMAND env OMP_DATA_DISTRIBUTION=${word} $<TARGET_FILE:tasks_listing_2_${language}> ${word})
    endforeach()
  endforeach()
endif()

if(TARGET causeway_program)
  causeway_test(tools.tasks LABEL tools RUNTIME none TIMEOUT 300
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/command_test.py $<TARGET_FILE:causeway_program>)
endif()
if(TARGET task_problems)
  add_executable(task_problems_tests ${CMAKE_CURRENT_LIST_DIR}/problems/checks_test.cpp)
  foreach(problem jacobi map matmul reduction sparselu)
    target_sources(task_problems_tests PRIVATE ${PROJECT_SOURCE_DIR}/apps/tasks/${problem}.cpp)
  endforeach()
  target_include_directories(task_problems_tests PRIVATE ${PROJECT_SOURCE_DIR}/apps)
  target_link_libraries(task_problems_tests PRIVATE causeway_flags Causeway::tasks GTest::gtest_main Threads::Threads)
  causeway_test(task_problems.checks LABEL example RUNTIME none TIMEOUT 300 COMMAND $<TARGET_FILE:task_problems_tests>)
  foreach(distribution standard fine coarse local)
    causeway_test(task_problems.${distribution} LABEL example RUNTIME none TIMEOUT 300
      COMMAND $<TARGET_FILE:task_problems> --small --rounds 2 --threads 3 --distribution ${distribution})
  endforeach()
endif()
if(TARGET task_fib)
  causeway_test(task_fib LABEL example RUNTIME none TIMEOUT 300 COMMAND $<TARGET_FILE:task_fib> --n 15 --rounds 1 1 2 5)
  causeway_test(task_fib.help LABEL example RUNTIME none TIMEOUT 300 COMMAND $<TARGET_FILE:task_fib> --help)
endif()

# The simulator beside another one, where it is there (scripts/setup.sh tasks).
find_path(CAUSEWAY_SIMGRID_HEADERS simgrid/s4u.hpp)
find_library(CAUSEWAY_SIMGRID_LIBRARY simgrid)
if(CAUSEWAY_SIMGRID_HEADERS AND CAUSEWAY_SIMGRID_LIBRARY AND NOT CAUSEWAY_SANITIZE)
  add_executable(tasks_simgrid_tests ${CMAKE_CURRENT_LIST_DIR}/simgrid/simgrid_test.cpp)
  target_include_directories(tasks_simgrid_tests SYSTEM PRIVATE ${CAUSEWAY_SIMGRID_HEADERS})
  target_link_libraries(tasks_simgrid_tests PRIVATE causeway_flags causeway_task_parts ${CAUSEWAY_SIMGRID_LIBRARY} GTest::gtest_main)
  causeway_test(tasks.simgrid LABEL unit RUNTIME none TIMEOUT 600 COMMAND $<TARGET_FILE:tasks_simgrid_tests>)
endif()

add_executable(tasks_opencl_tests ${CMAKE_CURRENT_LIST_DIR}/opencl/events_test.cpp)
target_link_libraries(tasks_opencl_tests PRIVATE causeway_flags Causeway::tasks OpenCL::OpenCL GTest::gtest_main Threads::Threads)
foreach(runtime ${runtimes})
  causeway_test(tasks_opencl.${runtime} LABEL device RUNTIME ${runtime} TIMEOUT 600 COMMAND $<TARGET_FILE:tasks_opencl_tests>)
endforeach()
add_executable(tasks_ranks_tests system/main.cpp support/kept_queues.cpp support/stacks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/ranks_test.cpp)
target_include_directories(tasks_ranks_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(tasks_ranks_tests PRIVATE causeway_flags Causeway::causeway Causeway::tasks GTest::gmock GTest::gtest Threads::Threads)
foreach(runtime ${runtimes})
  causeway_test(tasks_ranks.${runtime} LABEL system RUNTIME ${runtime} RANKS 2 COMMAND $<TARGET_FILE:tasks_ranks_tests>)
endforeach()

# Real binding, on a kernel with 8 nodes in a virtual machine.
if(NOT CAUSEWAY_SANITIZE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_executable(tasks_guest ${CMAKE_CURRENT_LIST_DIR}/nodes/guest.cpp)
  target_link_libraries(tasks_guest PRIVATE causeway_flags causeway_topology Causeway::tasks Threads::Threads)
  add_test(NAME tasks.eight_nodes COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/nodes/run.py $<TARGET_FILE:tasks_guest>)
  set_tests_properties(tasks.eight_nodes PROPERTIES LABELS system TIMEOUT 900 PROCESSORS 2)
endif()
