# SPDX-License-Identifier: Apache-2.0
# libcauseway_tasks: a library of its own, without MPI and OpenCL (docs/decisions/0021-a-library-of-tasks.md).
find_path(CAUSEWAY_HWLOC_HEADERS hwloc.h)
find_library(CAUSEWAY_HWLOC_LIBRARY hwloc)
if(NOT CAUSEWAY_HWLOC_HEADERS OR NOT CAUSEWAY_HWLOC_LIBRARY)
  message(STATUS "libcauseway_tasks is left out: no hwloc with headers (Debian: libhwloc-dev)")
  return()
endif()

causeway_part(topology SOURCES topology/binding.cpp topology/discovery.cpp topology/machine.cpp USES causeway_base)
target_include_directories(causeway_topology SYSTEM PRIVATE ${CAUSEWAY_HWLOC_HEADERS})
target_link_libraries(causeway_topology PRIVATE ${CAUSEWAY_HWLOC_LIBRARY})
causeway_part(task_parts
  SOURCES tasks/address_map.cpp tasks/arena.cpp tasks/dependences.cpp tasks/distribution.cpp tasks/locality.cpp tasks/policy.cpp
          tasks/pool.cpp tasks/run_record.cpp tasks/worker.cpp
          tasks/simulator/cost_model.cpp tasks/simulator/paper_programs.cpp tasks/simulator/probe.cpp
          tasks/simulator/record_file.cpp tasks/simulator/report.cpp tasks/simulator/simulator.cpp
  USES causeway_topology)

add_library(causeway_tasks SHARED tasks/c_api.cpp tasks/process.cpp tasks/simulator_api.cpp)
add_library(Causeway::tasks ALIAS causeway_tasks)
target_include_directories(causeway_tasks
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(causeway_tasks PRIVATE causeway_flags causeway_task_parts)
causeway_exports(causeway_tasks tasks/symbols.map)
causeway_precompile(causeway_tasks REUSE causeway_base)
set_target_properties(causeway_tasks PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 EXPORT_NAME tasks)

# Beside the package of the other libraries, in files of its own: a program of tasks needs none of theirs.
install(TARGETS causeway_tasks EXPORT CausewayTasksTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT CausewayTasksTargets NAMESPACE Causeway:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Causeway)
file(RELATIVE_PATH causeway_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" causeway_pc_prefix "${causeway_pc_prefix}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/causeway_tasks.pc.in ${PROJECT_BINARY_DIR}/package/causeway_tasks.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/causeway_tasks.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
