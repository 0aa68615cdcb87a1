# SPDX-License-Identifier: Apache-2.0
# Install rules of the library: shared object, headers, CMake package Causeway, pkg-config file causeway.
include(CMakePackageConfigHelpers)

set_target_properties(causeway PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)

set(causeway_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Causeway)
install(TARGETS causeway_trial RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/causeway)
install(TARGETS causeway_acc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS causeway EXPORT CausewayTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The platform: nobody links it, so it is not among the libraries. Loaders find it where OCL_ICD_VENDORS names this folder, or where its file is copied to the system's.
if(TARGET causeway_icd)
  install(TARGETS causeway_icd LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/causeway)
  install(CODE "file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/causeway/opencl-vendors/causeway.icd\"
    \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/causeway/libcauseway_icd.so\\n\")")
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/CL ${PROJECT_SOURCE_DIR}/include/causeway
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(EXPORT CausewayTargets NAMESPACE Causeway:: DESTINATION ${causeway_package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/CausewayConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/CausewayConfig.cmake
  INSTALL_DESTINATION ${causeway_package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/CausewayConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/CausewayConfig.cmake
  ${PROJECT_BINARY_DIR}/package/CausewayConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/CausewaySimd.cmake
  DESTINATION ${causeway_package_dir})

# The flags of OpenCL and MPI are written out as this build found them: MPI's own pkg-config files have other names in
# each MPI, and the library works with the one MPI it was built with.
# The C++ bindings that MPI once had are in a library of their own, and nothing here uses them.
set(causeway_pc_cflags " -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX")
foreach(dir IN LISTS MPI_C_INCLUDE_DIRS OpenCL_INCLUDE_DIRS)
  if(NOT dir IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
    string(APPEND causeway_pc_cflags " -I${dir}")
  endif()
endforeach()
set(causeway_pc_libs "")
foreach(library IN LISTS OpenCL_LIBRARIES MPI_C_LIBRARIES)
  if(IS_ABSOLUTE "${library}" OR library MATCHES "^-")
    string(APPEND causeway_pc_libs " ${library}")
  else()
    string(APPEND causeway_pc_libs " -l${library}")
  endif()
endforeach()
# The prefix is told from the file's own place, so that an installed tree can be moved.
file(RELATIVE_PATH causeway_pc_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" causeway_pc_prefix "${causeway_pc_prefix}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/causeway.pc.in ${PROJECT_BINARY_DIR}/package/causeway.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/causeway.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
