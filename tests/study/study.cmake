# SPDX-License-Identifier: Apache-2.0
# Tests of `causeway study`: programs in C, C++ and Python on each runtime. Include after tools/tools.cmake.
if(NOT TARGET causeway_program OR NOT TARGET causeway_icd OR CAUSEWAY_SANITIZE)
  return()
endif()
add_executable(study_vectors ${CMAKE_CURRENT_LIST_DIR}/vectors.c)
add_executable(study_threads ${CMAKE_CURRENT_LIST_DIR}/threads.cpp)
foreach(program study_vectors study_threads)
  target_link_libraries(${program} PRIVATE causeway_flags OpenCL::OpenCL Threads::Threads)
endforeach()

add_dependencies(causeway_program causeway_icd)
if(TARGET causeway_coarsen)
  add_dependencies(causeway_program causeway_coarsen)
endif()

# study_test(<name> [<runtime>])
function(study_test name)
  set(runtime pocl)
  set(full_name study.${name})
  if(ARGN)
    set(runtime ${ARGV1})
    set(full_name study.${name}.${runtime})
  endif()
  add_test(NAME ${full_name} COMMAND
    ${Python3_EXECUTABLE} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/study_test.py --program $<TARGET_FILE:causeway_program>
    --run-with ${run_with} --runtime ${runtime} --vectors $<TARGET_FILE:study_vectors> --threads $<TARGET_FILE:study_threads> ${name})
  set_tests_properties(${full_name} PROPERTIES LABELS tools SKIP_RETURN_CODE 77 TIMEOUT 900 ENVIRONMENT CAUSEWAY_TUNER=off)
endfunction()

foreach(runtime ${runtimes})
  foreach(test c cpp python replay binary)
    study_test(${test} ${runtime})
  endforeach()
endforeach()
foreach(test processes status json input interrupt vendors names overrun divides groups image parts again printing shifts seldom endless page timeline)
  study_test(${test})
endforeach()
study_test(driver both)
if(TARGET causeway_coarsen)
  add_test(NAME study.coarsened COMMAND ${run_with} pocl -- ${PROJECT_SOURCE_DIR}/.venv/bin/python
    ${CMAKE_CURRENT_LIST_DIR}/coarsened.py $<TARGET_FILE:causeway_coarsen>)
  set_tests_properties(study.coarsened PROPERTIES LABELS tools SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
if(TARGET causeway_paper)
  study_test(shares both)
  study_test(paper)
  set_tests_properties(study.paper PROPERTIES TIMEOUT 1800) # most of it is steps, of which a busy machine does few
endif()
