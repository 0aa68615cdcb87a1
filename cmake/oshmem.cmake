# SPDX-License-Identifier: Apache-2.0
# OpenSHMEM's library and its wrappers, in the build tree and installed.
set_target_properties(causeway_oshmem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
install(TARGETS causeway_oshmem LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The names of the profiling interface, for all that shmem.h declares: a header, and second names of the functions for the linker.
set(CAUSEWAY_OSHCC_GENERATED ${PROJECT_BINARY_DIR}/oshmem)
execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P ${PROJECT_SOURCE_DIR}/include/causeway/oshmem/shmem.h
  OUTPUT_VARIABLE declarations COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/causeway/oshmem/shmem.h)
string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_ *]*[ *]shmem_[a-z0-9_]+ *\\([^;{}]*\\)" declarations "${declarations}")
set(names)
string(CONCAT prototypes "/* SPDX-License-Identifier: Apache-2.0 */\n/* The profiling interface: shmem.h's functions by their second names. */\n"
  "#ifndef CAUSEWAY_PSHMEM_H\n#define CAUSEWAY_PSHMEM_H\n#include <shmem.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n")
foreach(each IN LISTS declarations)
  if(each MATCHES "[ *](shmem_[a-z0-9_]+) *\\(")
    set(name ${CMAKE_MATCH_1})
    string(APPEND names "p${name} = ${name};\n")
    string(REGEX REPLACE "([ *])${name}( *\\()" "\\1p${name}\\2" each "${each}")
    string(APPEND prototypes "${each};\n")
  endif()
endforeach()
string(APPEND prototypes "#ifdef __cplusplus\n}\n#endif\n#endif\n")
file(CONFIGURE OUTPUT ${CAUSEWAY_OSHCC_GENERATED}/pshmem.h CONTENT "${prototypes}" @ONLY)
file(CONFIGURE OUTPUT ${CAUSEWAY_OSHCC_GENERATED}/second_names.ld CONTENT "${names}" @ONLY)
target_link_options(causeway_oshmem PRIVATE ${CAUSEWAY_OSHCC_GENERATED}/second_names.ld)
set_property(TARGET causeway_oshmem APPEND PROPERTY LINK_DEPENDS ${CAUSEWAY_OSHCC_GENERATED}/second_names.ld)
install(FILES ${CAUSEWAY_OSHCC_GENERATED}/pshmem.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/causeway/oshmem)

set(CAUSEWAY_OSHCC_DEFAULT cc)
# For programs that use MPI, too: the options of the MPI that the library was built with.
set(CAUSEWAY_OSHCC_MPI_COMPILE)
foreach(folder IN LISTS MPI_C_INCLUDE_DIRS)
  string(APPEND CAUSEWAY_OSHCC_MPI_COMPILE " \"-I${folder}\"")
endforeach()
set(CAUSEWAY_OSHCC_MPI_LINK)
foreach(library IN LISTS MPI_C_LIBRARIES)
  cmake_path(GET library PARENT_PATH folder)
  cmake_path(GET library FILENAME name)
  string(APPEND CAUSEWAY_OSHCC_MPI_LINK " \"-L${folder}\" \"-Wl,-rpath,${folder}\" \"-l:${name}\"")
endforeach()
set(CAUSEWAY_OSHCC_INCLUDE ${PROJECT_SOURCE_DIR}/include/causeway/oshmem)
set(CAUSEWAY_OSHCC_LIBRARY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
configure_file(${PROJECT_SOURCE_DIR}/tools/oshmem/causeway-oshcc.in ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshcc @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/tools/oshmem/causeway-oshrun ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/causeway-oshrun COPYONLY)
# An installed tree can be moved: the wrapper looks from its own place.
set(CAUSEWAY_OSHCC_INCLUDE "$prefix/${CMAKE_INSTALL_INCLUDEDIR}/causeway/oshmem")
set(CAUSEWAY_OSHCC_GENERATED ${CAUSEWAY_OSHCC_INCLUDE})
set(CAUSEWAY_OSHCC_LIBRARY "$prefix/${CMAKE_INSTALL_LIBDIR}")
configure_file(${PROJECT_SOURCE_DIR}/tools/oshmem/causeway-oshcc.in ${PROJECT_BINARY_DIR}/package/causeway-oshcc @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/package/causeway-oshcc ${PROJECT_SOURCE_DIR}/tools/oshmem/causeway-oshrun
  DESTINATION ${CMAKE_INSTALL_BINDIR})
