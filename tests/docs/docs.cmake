# SPDX-License-Identifier: Apache-2.0
# The documentation: as a site without a broken link; its commands, run as its readers run them. The pages speak of
# build/release and of Open MPI.
if(NOT PROJECT_BINARY_DIR STREQUAL ${PROJECT_SOURCE_DIR}/build/release OR NOT TARGET causeway_program)
  return()
endif()

add_test(NAME site COMMAND ${PROJECT_SOURCE_DIR}/scripts/site.sh)
set_tests_properties(site PROPERTIES LABELS docs SKIP_RETURN_CODE 77 TIMEOUT 120)

file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/examples/*.md
  ${PROJECT_SOURCE_DIR}/benchmarks/results/*.md ${PROJECT_SOURCE_DIR}/bindings/python/*.md)
foreach(page ${pages})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${page})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${page} commands REGEX "^ *```sh")
  if(commands)
    causeway_test(page.${page} LABEL docs RUNTIME pocl
      COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_page.py ${PROJECT_SOURCE_DIR}/${page} --build ${PROJECT_BINARY_DIR})
    # Pages that call make would build in the same folder at once.
    set_tests_properties(page.${page} PROPERTIES RESOURCE_LOCK build_folder)
    # Some measure: beside another test hundreds of transfers wait in one queue, of which PoCL 3.1 looks at all for each command.
    if(NOT page MATCHES "(cookbook|packages|platform|python|tasks)\\.md$")
      set_tests_properties(page.${page} PROPERTIES PROCESSORS 2)
    endif()
  endif()
endforeach()
causeway_test(page.runner LABEL docs RUNTIME none
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_page_test.py ${PROJECT_BINARY_DIR})
