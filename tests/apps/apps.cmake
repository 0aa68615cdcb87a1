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
# Blocks of 13, 13 and 14 compositions.
causeway_test(nanopowder.ranks LABEL example RUNTIME pocl RANKS 3
  COMMAND $<TARGET_FILE:nanopowder> --verify --steps 2 --rounds 1)
