# SPDX-License-Identifier: Apache-2.0
# OpenSHMEM's library and its wrappers, in the build tree and installed.
set_target_properties(causeway_oshmem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
install(TARGETS causeway_oshmem LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(CAUSEWAY_OSHCC_DEFAULT cc)
set(CAUSEWAY_OSHCC_INCLUDE ${PROJECT_SOURCE_DIR}/include/causeway/oshmem)
set(CAUSEWAY_OSHCC_LIBRARY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
configure_file(${PROJECT_SOURCE_DIR}/tools/oshmem/causeway-oshcc.in ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/tools/oshmem/causeway-oshrun ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshrun COPYONLY)
# An installed tree can be moved: the wrapper looks from its own place.
set(CAUSEWAY_OSHCC_INCLUDE "$prefix/${CMAKE_INSTALL_INCLUDEDIR}/causeway/oshmem")
set(CAUSEWAY_OSHCC_LIBRARY "$prefix/${CMAKE_INSTALL_LIBDIR}")
configure_file(${PROJECT_SOURCE_DIR}/tools/oshmem/causeway-oshcc.in ${PROJECT_BINARY_DIR}/package/causeway-oshcc @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/package/causeway-oshcc ${PROJECT_SOURCE_DIR}/tools/oshmem/causeway-oshrun
  DESTINATION ${CMAKE_INSTALL_BINDIR})
