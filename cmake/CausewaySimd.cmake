# SPDX-License-Identifier: Apache-2.0
# The component simd of the package Causeway: adds the SIMD plug-in to targets that clang 19, or 22, compiles.

# Installed beside the package, or built in the tree that includes this file.
if(NOT CAUSEWAY_SIMD_PLUGIN)
  get_filename_component(CAUSEWAY_SIMD_PLUGIN "${CMAKE_CURRENT_LIST_DIR}/../../causeway/libcauseway_simd.so" ABSOLUTE)
endif()

# causeway_simd(<target> [REPORT <file>]): compiles its C and C++ sources with the plug-in.
#   REPORT  appends what was done with each loop, or why nothing was, to the file
# Another compiler gets a warning and compiles the target without.
function(causeway_simd target)
  cmake_parse_arguments(PARSE_ARGV 1 SIMD "" "REPORT" "")
  if(SIMD_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "causeway_simd(${target}): unknown argument ${SIMD_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "causeway_simd(${target}): there is no such target")
  endif()
  get_filename_component(folder "${CAUSEWAY_SIMD_PLUGIN}" DIRECTORY)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language C CXX)
    if(NOT language IN_LIST languages)
      continue()
    endif()
    set(plugin "")
    if(CMAKE_${language}_COMPILER_ID STREQUAL "Clang" AND CMAKE_${language}_COMPILER_VERSION MATCHES "^19\\.")
      set(plugin "${CAUSEWAY_SIMD_PLUGIN}")
    elseif(CMAKE_${language}_COMPILER_ID STREQUAL "Clang" AND CMAKE_${language}_COMPILER_VERSION MATCHES "^22\\." AND EXISTS "${folder}/libcauseway_simd_22.so")
      set(plugin "${folder}/libcauseway_simd_22.so")
    endif()
    if(plugin)
      set(flags "-fplugin=${plugin}" "-fpass-plugin=${plugin}")
      if(SIMD_REPORT)
        get_filename_component(report "${SIMD_REPORT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
        list(APPEND flags "SHELL:-mllvm -causeway-simd-report=${report}")
      endif()
      foreach(flag IN LISTS flags)
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:${flag}>")
      endforeach()
    else()
      message(WARNING "causeway_simd(${target}): ${language} is compiled without the plug-in, which is for clang 19 (or 22, if built for it), not for "
        "${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}")
    endif()
  endforeach()
endfunction()
