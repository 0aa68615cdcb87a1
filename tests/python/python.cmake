# SPDX-License-Identifier: Apache-2.0
# The Python package, from the source tree on the library under test, and installed as its users do it.
# A sanitizer's library would have to be the first one of Python's process.
if(CAUSEWAY_SANITIZE)
  return()
endif()

set(python_run ${CMAKE_CURRENT_LIST_DIR}/run.sh $<TARGET_FILE:causeway>)

# python_test(<name> <runtime> <ranks> <arguments of Python>...)
function(python_test name runtime ranks)
  causeway_test(python.${name} LABEL python RUNTIME ${runtime} RANKS ${ranks} TIMEOUT 900
    COMMAND ${python_run} ${ARGN})
endfunction()

python_test(types none 0 -m mypy --config-file ${PROJECT_SOURCE_DIR}/bindings/python/pyproject.toml)
add_test(NAME python.install COMMAND ${CMAKE_CURRENT_LIST_DIR}/install.sh ${PROJECT_BINARY_DIR})
set_tests_properties(python.install PROPERTIES LABELS python SKIP_RETURN_CODE 77 TIMEOUT 300)

# The wheels of mpi4py look for libmpi, and Debian's MPICH is called libmpich.
if(MPI_C_LIB_NAMES MATCHES mpich)
  return()
endif()
foreach(runtime ${runtimes})
  foreach(ranks 1 2)
    python_test(package.${runtime}.${ranks} ${runtime} ${ranks} -m pytest -q ${CMAKE_CURRENT_LIST_DIR})
  endforeach()
endforeach()
python_test(tutorial pocl 2 ${PROJECT_SOURCE_DIR}/docs/tutorial_python.py)
python_test(himeno intel 2 ${PROJECT_SOURCE_DIR}/apps/himeno/himeno.py XS 20)
