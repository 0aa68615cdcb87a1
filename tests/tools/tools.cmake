# SPDX-License-Identifier: Apache-2.0
# Tests of the program `causeway`. Include after causeway_test().
if(NOT TARGET causeway_program)
  return()
endif()

target_sources(causeway_program PRIVATE ${keep_plugins})

set(tool_arguments --program $<TARGET_FILE:causeway_program> --run-with ${run_with} ${run_options})

# tool_test(<subcommand>.<name> <argument>...)
function(tool_test name)
  string(REGEX MATCH "^[a-z]+" subcommand ${name})
  add_test(NAME tools.${name} COMMAND
    ${Python3_EXECUTABLE} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${subcommand}_test.py ${tool_arguments} ${ARGN})
  set_tests_properties(tools.${name} PROPERTIES
    LABELS tools SKIP_RETURN_CODE 77 TIMEOUT 300 RUN_SERIAL TRUE ENVIRONMENT CAUSEWAY_TUNER=off)
endfunction()

foreach(runtime ${runtimes})
  foreach(ranks 1 2)
    tool_test(perf.quick.${runtime}.${ranks} --runtime ${runtime} --ranks ${ranks} quick)
  endforeach()
  tool_test(perf.choice.${runtime} --runtime ${runtime} choice)
endforeach()
foreach(runtime ${runtimes})
  foreach(test devices directory ranks explained)
    tool_test(tune.${test}.${runtime} --runtime ${runtime} ${test})
  endforeach()
endforeach()
foreach(test arguments bad_files modes)
  tool_test(tune.${test} ${test})
endforeach()
# A library is loaded in front of OpenCL, and a sanitizer's has to be the first one.
if(NOT CAUSEWAY_SANITIZE)
  add_dependencies(causeway_program causeway_trace_preload)
  foreach(runtime ${runtimes})
    foreach(test himeno files graph)
      tool_test(trace.${test}.${runtime} --runtime ${runtime} ${test})
    endforeach()
  endforeach()
  foreach(test killed nothing page)
    tool_test(trace.${test} ${test})
  endforeach()
endif()
tool_test(perf.arguments arguments)
tool_test(perf.wrong_ranks wrong-ranks)
tool_test(perf.plot plot)
tool_test(perf.documented documented)
tool_test(perf.man_page man-page)

# A sanitizer's library has to be the first one.
if(NOT CAUSEWAY_SANITIZE)
  add_library(perf_preload MODULE ${CMAKE_CURRENT_LIST_DIR}/perf_preload.cpp)
  set_target_properties(perf_preload PROPERTIES CXX_VISIBILITY_PRESET default)
  target_include_directories(perf_preload PRIVATE
    $<TARGET_PROPERTY:Causeway::causeway,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(perf_preload PRIVATE causeway_flags MPI::MPI_CXX OpenCL::OpenCL ${CMAKE_DL_LIBS})
  foreach(ranks 1 2)
    tool_test(perf.wrong_data.${ranks} --ranks ${ranks} --preload $<TARGET_FILE:perf_preload> wrong-data)
    tool_test(perf.own_memory.${ranks} --ranks ${ranks} --preload $<TARGET_FILE:perf_preload> own-memory)
  endforeach()
endif()
