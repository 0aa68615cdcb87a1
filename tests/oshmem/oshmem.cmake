# SPDX-License-Identifier: Apache-2.0
# OpenSHMEM programs as a user compiles and starts them: by the wrapper, on 1, 2 and 4 PEs. A sanitizer's library would have to
# be the first in them.
if(CAUSEWAY_SANITIZE)
  return()
endif()
foreach(program ring.c after_exit.c alltoalls.c boundaries.c child_is_pe.c early_stores.c every_call.c fair.c large_heap.c names.c not_waiting.c private_memory.c profiled.c progress.c team_shared.c threads_of_teams.c words_once.c complex_sums.cpp)
  cmake_path(GET program STEM name)
  foreach(pes 1 2 4)
    add_test(NAME oshmem.${name}.${pes} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh
      ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/${program} ${pes})
    set_tests_properties(oshmem.${name}.${pes} PROPERTIES LABELS system TIMEOUT 120 PROCESSORS ${pes})
  endforeach()
endforeach()
# C before 2011 has no generic names.
add_test(NAME oshmem.names.c99 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh
  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/names.c 2)
set_tests_properties(oshmem.names.c99 PROPERTIES LABELS system TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "STANDARD=c99;FLAGS=-DNAMES_ONLY")
# A program with an address sanitizer, which keeps room between its variables.
add_test(NAME oshmem.sanitized_program COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh
  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/boundaries.c 2)
set_tests_properties(oshmem.sanitized_program PROPERTIES LABELS system TIMEOUT 300 PROCESSORS 2
  ENVIRONMENT "FLAGS=-fsanitize=address;ASAN_OPTIONS=detect_leaks=0")
# Where PEs, or pairs of them, are on nodes of their own.
add_library(pretend_nodes MODULE oshmem/pretend_nodes.c)
target_link_libraries(pretend_nodes PRIVATE causeway_flags ${CMAKE_DL_LIBS})
foreach(program ring alltoalls boundaries every_call fair not_waiting private_memory progress team_shared words_once)
  foreach(nodes 2.1 4.1 4.2)
    string(REPLACE "." ";" pes ${nodes})
    list(POP_BACK pes on_node)
    set(test oshmem.${program}.nodes.${nodes})
    add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh
      ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/${program}.c ${pes})
    set_tests_properties(${test} PROPERTIES LABELS system TIMEOUT 300 PROCESSORS ${pes}
      ENVIRONMENT "PRELOADED=$<TARGET_FILE:pretend_nodes>;PROCESSES_PER_NODE=${on_node}")
  endforeach()
endforeach()
# Where MPI writes to the memory of a receive as early, or as late, as it may.
foreach(test words_once.early_receives not_waiting.late_receives)
  string(REPLACE "." ";" parts ${test})
  list(GET parts 0 program)
  list(GET parts 1 receives)
  add_library(${receives} MODULE oshmem/${receives}.c)
  target_link_libraries(${receives} PRIVATE causeway_flags ${CMAKE_DL_LIBS})
  target_include_directories(${receives} PRIVATE ${MPI_C_INCLUDE_DIRS})
  add_test(NAME oshmem.${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/${program}.c 2)
  set_tests_properties(oshmem.${test} PROPERTIES LABELS system TIMEOUT 300 PROCESSORS 2
    ENVIRONMENT "PRELOADED=$<TARGET_FILE:pretend_nodes>:$<TARGET_FILE:${receives}>;PROCESSES_PER_NODE=1")
endforeach()
# Device memory that is the host's; that others reach over a link, or not at all.
foreach(runtime ${runtimes})
  foreach(pes 1 2 4)
    foreach(memory near by_link as_on_cards)
      set(test oshmem.device_memory.${memory}.${runtime}.${pes})
      add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh
        ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${run_with} ${MPIEXEC_EXECUTABLE}
        ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/device_memory.c ${pes} ${runtime})
      set_tests_properties(${test} PROPERTIES LABELS system TIMEOUT 180 PROCESSORS ${pes} SKIP_RETURN_CODE 77)
    endforeach()
    set_tests_properties(oshmem.device_memory.by_link.${runtime}.${pes} PROPERTIES ENVIRONMENT CAUSEWAY_BRIDGE=host)
    set_tests_properties(oshmem.device_memory.as_on_cards.${runtime}.${pes} PROPERTIES
      ENVIRONMENT PRELOADED=$<TARGET_FILE:pretend_discrete>)
  endforeach()
endforeach()
# Where PEs, or pairs of them, are on nodes of their own.
foreach(nodes 2.1 4.2)
  string(REPLACE "." ";" pes ${nodes})
  list(POP_BACK pes on_node)
  set(test oshmem.device_memory.nodes.pocl.${nodes})
  add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${run_with} ${MPIEXEC_EXECUTABLE}
    ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/device_memory.c ${pes} pocl)
  set_tests_properties(${test} PROPERTIES LABELS system TIMEOUT 300 PROCESSORS ${pes} SKIP_RETURN_CODE 77
    ENVIRONMENT "PRELOADED=$<TARGET_FILE:pretend_nodes>;PROCESSES_PER_NODE=${on_node}")
endforeach()
# Device memory where the program has a heap of libcauseway's already.
add_executable(oshmem_foreign_heap oshmem/programs/foreign_heap.c)
target_include_directories(oshmem_foreign_heap PRIVATE ${PROJECT_SOURCE_DIR}/include/causeway/oshmem)
target_link_libraries(oshmem_foreign_heap PRIVATE causeway_oshmem Causeway::causeway MPI::MPI_C)
foreach(runtime ${runtimes})
  add_test(NAME oshmem.foreign_heap.${runtime} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/foreign_heap.sh
    ${run_with} ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:oshmem_foreign_heap> ${runtime})
  set_tests_properties(oshmem.foreign_heap.${runtime} PROPERTIES LABELS system TIMEOUT 300 PROCESSORS 2 SKIP_RETURN_CODE 77)
endforeach()
# The paper's listings: on the host, and with their directives.
foreach(pes 1 2)
  add_test(NAME oshmem.listings.host.${pes} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/listings.c ${pes})
  set_tests_properties(oshmem.listings.host.${pes} PROPERTIES LABELS system TIMEOUT 120 PROCESSORS ${pes} ENVIRONMENT FLAGS=-Wno-unknown-pragmas)
endforeach()
if(TARGET causeway_cc)
  foreach(runtime ${runtimes})
    set(test oshmem.listings.device.${runtime})
    add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/compile_and_run.sh ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc
      ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/listings.c 2 ${runtime})
    set_tests_properties(${test} PROPERTIES LABELS system TIMEOUT 300 PROCESSORS 2 SKIP_RETURN_CODE 77
      ENVIRONMENT "CAUSEWAY_OSHCC_COMPILER=$<TARGET_FILE:causeway_cc>;FLAGS=-Wno-missing-field-initializers")
  endforeach()
endif()
add_test(NAME oshmem.oshrun COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/oshrun.sh
  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/exit_status.c)
set_tests_properties(oshmem.oshrun PROPERTIES LABELS system TIMEOUT 600 PROCESSORS 2)
add_test(NAME oshmem.refusals COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/refusals.sh
  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/refusals.c)
set_tests_properties(oshmem.refusals PROPERTIES LABELS system TIMEOUT 180)
add_test(NAME oshmem.variables COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/variables.sh
  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/refusals.c)
set_tests_properties(oshmem.variables PROPERTIES LABELS system TIMEOUT 300)
foreach(where near nodes)
  add_test(NAME oshmem.killed_pe.${where} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/killed_pe.sh ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc
    ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/killed_pe.c $<$<STREQUAL:${where},nodes>:$<TARGET_FILE:pretend_nodes>>)
  set_tests_properties(oshmem.killed_pe.${where} PROPERTIES LABELS system TIMEOUT 1500) # it waits for the launcher, most of the time
endforeach()
foreach(pes 2 4)
  foreach(where near nodes)
    set(test oshmem.left_pe.${where}.${pes})
    add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/left_pe.sh ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${MPIEXEC_EXECUTABLE}
      ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/left_pe.c ${pes} $<$<STREQUAL:${where},nodes>:$<TARGET_FILE:pretend_nodes>>)
    set_tests_properties(${test} PROPERTIES LABELS system TIMEOUT 1500) # its PEs wait: others may run beside it
  endforeach()
endforeach()
foreach(pes 2 4)
  foreach(where near nodes)
    set(test oshmem.left_in_mpi.${where}.${pes})
    add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/left_in_mpi.sh ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${MPIEXEC_EXECUTABLE}
      ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/left_in_mpi.c ${pes} $<$<STREQUAL:${where},nodes>:$<TARGET_FILE:pretend_nodes>>)
    set_tests_properties(${test} PROPERTIES LABELS system TIMEOUT 1500) # its PEs wait: others may run beside it
  endforeach()
endforeach()
add_test(NAME oshmem.with_mpi COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/with_mpi.sh
  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${MPI_C_COMPILER} ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/with_mpi.c)
set_tests_properties(oshmem.with_mpi PROPERTIES LABELS system TIMEOUT 300 PROCESSORS 2)
add_test(NAME oshmem.with_mpi.nodes COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/with_mpi.sh
  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc ${MPI_C_COMPILER} ${run_with} ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oshmem/programs/with_mpi.c)
set_tests_properties(oshmem.with_mpi.nodes PROPERTIES LABELS system TIMEOUT 300 PROCESSORS 2
  ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:pretend_nodes>;PROCESSES_PER_NODE=1")
