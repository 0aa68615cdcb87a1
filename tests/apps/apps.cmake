# SPDX-License-Identifier: Apache-2.0
# The applications of the paper beside what is known to be right. Include after python.cmake.
if(CAUSEWAY_SANITIZE OR NOT TARGET smith_waterman)
  return()
endif()

foreach(runtime ${runtimes})
  causeway_test(smith_waterman.${runtime} LABEL example RUNTIME ${runtime}
    COMMAND ${python_run} ${CMAKE_CURRENT_LIST_DIR}/smith_waterman_test.py $<TARGET_FILE:smith_waterman>)
endforeach()
