# SPDX-License-Identifier: Apache-2.0
# What is kept of contexts that a program has released.
add_executable(many_contexts support/programs/many_contexts.cpp)
target_link_libraries(many_contexts PRIVATE causeway_flags Causeway::causeway Threads::Threads)
foreach(runtime ${runtimes})
  causeway_test(device.many_contexts.${runtime} LABEL device RUNTIME ${runtime} TIMEOUT 120 COMMAND $<TARGET_FILE:many_contexts>)
endforeach()
