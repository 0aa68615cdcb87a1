# SPDX-License-Identifier: Apache-2.0
# The SIMD plug-in: what it generates, and that programs compute the same with it.
find_program(clang_19 NAMES clang-19 HINTS /usr/lib/llvm-19/bin)
if(NOT TARGET causeway_simd OR NOT clang_19)
  # Not a skip: the plug-in is part of the product, and scripts/setup.sh compilers installs what it needs.
  add_test(NAME simd COMMAND ${CMAKE_COMMAND} -E cat "the SIMD plug-in needs clang-19 and llvm-19-dev (scripts/setup.sh compilers)")
  set_tests_properties(simd PROPERTIES LABELS simd)
  return()
endif()
if(CAUSEWAY_SANITIZE)
  return() # the compiler that loads the plug-in has no sanitizer's library
endif()
set(simd_plugin $<TARGET_FILE:causeway_simd>)
set(simd_folder ${CMAKE_CURRENT_LIST_DIR})

file(GLOB sources CONFIGURE_DEPENDS ${simd_folder}/generated/*.c ${simd_folder}/generated/*.cl)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME simd.generated.${name} COMMAND ${simd_folder}/generated.py ${clang_19} ${simd_plugin} ${source})
  set_tests_properties(simd.generated.${name} PROPERTIES LABELS simd TIMEOUT 60)
endforeach()
foreach(floating strict fast)
  add_test(NAME simd.execution.${floating} COMMAND ${simd_folder}/execution.sh ${clang_19} ${simd_plugin} ${floating})
  set_tests_properties(simd.execution.${floating} PROPERTIES LABELS simd SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()
# More by hand: random_loops.py CLANG PLUGIN --seed 7 --loops 1000 --flags -mavx2
foreach(target native avx2)
  set(flags -m${target})
  if(target STREQUAL native)
    set(flags -march=native)
  endif()
  add_test(NAME simd.random_loops.${target} COMMAND ${simd_folder}/random_loops.py ${clang_19} ${simd_plugin} --seed 1 --flags ${flags})
  set_tests_properties(simd.random_loops.${target} PROPERTIES LABELS simd SKIP_RETURN_CODE 77 TIMEOUT 120)
endforeach()
add_test(NAME simd.stranger COMMAND ${simd_folder}/stranger.sh ${clang_19} ${PROJECT_BINARY_DIR} ${CMAKE_INSTALL_LIBDIR})
set_tests_properties(simd.stranger PROPERTIES LABELS simd TIMEOUT 120)

# causeway/simd.h needs no plug-in, and serves any compiler.
add_executable(simd_header_test ${simd_folder}/header_test.c)
add_executable(simd_header_test_cpp ${simd_folder}/header_test.cpp)
foreach(program simd_header_test simd_header_test_cpp)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${program} PRIVATE -O3 -ffp-contract=off -Wno-psabi)
  target_link_libraries(${program} PRIVATE causeway_flags)
  add_test(NAME ${program} COMMAND ${program})
  set_tests_properties(${program} PROPERTIES LABELS simd TIMEOUT 60)
endforeach()

# The paper's workloads: vectors and threads compute what scalar code does.
if(TARGET simd)
  add_test(NAME simd.workloads COMMAND simd --rounds 1 --threads 3)
  set_tests_properties(simd.workloads PROPERTIES LABELS simd TIMEOUT 60 PASS_REGULAR_EXPRESSION "all results agree")
endif()
