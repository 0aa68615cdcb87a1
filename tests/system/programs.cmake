# SPDX-License-Identifier: Apache-2.0
# Rank programs that cannot be tests of system_tests: they end MPI, the process or a rank. Include after GoogleTest's.

set(system_dir ${CMAKE_CURRENT_LIST_DIR})

foreach(program mpi_state work_in_flight stalled killed_peer killed_graph_peer)
  add_executable(${program} ${system_dir}/${program}.cpp)
  target_include_directories(${program} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE causeway_flags Causeway::causeway Threads::Threads)
endforeach()

add_executable(mpi_calls_in_c ${system_dir}/mpi_calls_in_c.c)
target_link_libraries(mpi_calls_in_c PRIVATE causeway_flags Causeway::causeway)

# By hand, because CMake chooses the order of libraries itself.
add_executable(link_order_ours_first ${system_dir}/link_order.cpp)
add_executable(link_order_mpi_first ${system_dir}/link_order.cpp)
foreach(program link_order_ours_first link_order_mpi_first)
  target_include_directories(${program} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
    $<TARGET_PROPERTY:Causeway::causeway,INTERFACE_INCLUDE_DIRECTORIES> ${MPI_C_INCLUDE_DIRS} ${OpenCL_INCLUDE_DIRS})
  target_link_libraries(${program} PRIVATE causeway_flags)
  add_dependencies(${program} causeway)
endforeach()
target_link_libraries(link_order_ours_first PRIVATE
  $<TARGET_FILE:Causeway::causeway> ${MPI_C_LIBRARIES} OpenCL::OpenCL Threads::Threads)
target_link_libraries(link_order_mpi_first PRIVATE
  ${MPI_C_LIBRARIES} OpenCL::OpenCL $<TARGET_FILE:Causeway::causeway> Threads::Threads)

# system_program(<test> <ranks> <command>...): 0 ranks runs the program without the launcher.
function(system_program test ranks)
  set(processors 1)
  set(launched ${run_with} system ${run_options})
  if(ranks GREATER 0)
    list(APPEND launched --ranks ${ranks})
    set(processors ${ranks})
  endif()
  add_test(NAME ${test} COMMAND ${launched} -- ${ARGN})
  set_tests_properties(${test} PROPERTIES LABELS system TIMEOUT 180 SKIP_RETURN_CODE 77
    PROCESSORS ${processors} ENVIRONMENT CAUSEWAY_TUNER=off)
endfunction()

foreach(state before after single funneled serialized)
  system_program(system.mpi_state.${state} 1 $<TARGET_FILE:mpi_state> ${state})
endforeach()
foreach(ranks 1 2 4)
  foreach(mode drain pending plain-drain plain-pending finalize-at-exit)
    system_program(system.work_in_flight.${mode}.${ranks} ${ranks} $<TARGET_FILE:work_in_flight> ${mode})
  endforeach()
endforeach()
foreach(mode ended-drain ended-pending)
  system_program(system.work_in_flight.${mode}.2 2 $<TARGET_FILE:work_in_flight> ${mode})
endforeach()
system_program(system.work_in_flight.unanswered.2 2 $<TARGET_FILE:work_in_flight> unanswered)
foreach(mode both missing slow one_sided)
  system_program(system.stalled.${mode}.2 2 $<TARGET_FILE:stalled> ${mode})
endforeach()
# A launcher would call a rank that never finalises an error.
foreach(mode exit-drain exit-pending)
  system_program(system.work_in_flight.${mode} 0 $<TARGET_FILE:work_in_flight> ${mode})
endforeach()
foreach(program link_order_ours_first link_order_mpi_first)
  system_program(system.${program} 2 $<TARGET_FILE:${program}>)
endforeach()
system_program(system.mpi_calls_in_c 1 $<TARGET_FILE:mpi_calls_in_c>)
foreach(way killed_peer.pipelined killed_peer.shared-window killed_peer.device-window
            killed_graph_peer.pipelined killed_graph_peer.shared-window)
  string(REPLACE "." ";" parts ${way})
  list(GET parts 0 program)
  list(GET parts 1 strategy)
  system_program(system.${way} 0
    ${system_dir}/killed_peer.sh ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:${program}> ${strategy})
  set_tests_properties(system.${way} PROPERTIES PROCESSORS 2 TIMEOUT 450)
endforeach()

# Another user of the node. The names are the library's, so its own code makes them.
add_executable(stranger ${system_dir}/stranger.cpp)
target_include_directories(stranger PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(stranger PRIVATE causeway_flags Causeway::causeway causeway_comm Threads::Threads)
add_test(NAME system.stranger.2 COMMAND ${run_with} pocl ${run_options} --ranks 2 -- $<TARGET_FILE:stranger>)
set_tests_properties(system.stranger.2 PROPERTIES LABELS system TIMEOUT 180 SKIP_RETURN_CODE 77 PROCESSORS 2
  ENVIRONMENT "CAUSEWAY_TUNER=off;CAUSEWAY_BRIDGE=host;CAUSEWAY_STRATEGY=device-window")
