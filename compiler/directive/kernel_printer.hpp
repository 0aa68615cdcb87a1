// SPDX-License-Identifier: Apache-2.0
// Regions as OpenCL C. Code outside of worker and vector loops runs in every thread of a gang. If it writes device
// memory that the region also reads, one thread writes, between barriers.
#pragma once
#include "expression_printer.hpp"
#include "region.hpp"

namespace directive {

/// A private array whose length is known at run time: each thread has its part of one buffer.
struct scratch {
    std::string name;
    std::string bytes; // C text: the bytes of one thread's part
};

struct kernel_text {
    std::string name;
    std::string text;
    std::vector<std::string> flags; // of enum causeway_acc_kernel_flags
    unsigned line = 0;
    std::string trips = "0"; // C text for the host: iterations of the gangs' loop; "0" if the host cannot know them
    std::string inner_trips = "0"; // of the loop over lanes inside it, if groups may share that loop
};

/// What all kernels of one source share.
struct program_text {
    type_printer types;
    std::string functions;
    std::set<std::string> known_functions, known_kernels;
    std::set<std::string> exported; // functions that kernels of other sources call
    std::set<std::string> needed;   // functions of other sources
    std::vector<std::string> kernels;
    std::string prototypes{}; // of all functions, which call each other in any order

    std::string functions_and_types() const { return types.definitions() + prototypes + functions; }
};

/// The kernels of a region, in the order in which they run.
struct region_kernels {
    std::vector<kernel_text> kernels;
    std::vector<scratch> scratches; // the last arguments before those of the run time
};
region_kernels print_kernels(const unit& unit, const region& region, const loop_tree& tree, program_text& program);

/// The address spaces of a function's parameters, in each way in which kernels of other sources may call it.
std::vector<std::vector<std::string>> ways_to_call(const clang::FunctionDecl* function);
/// Writes the function for kernels of other sources.
void print_routine(const unit& unit, const clang::FunctionDecl* definition, const std::vector<std::string>& spaces,
                   program_text& into);

/// What stands before the kernels of every program.
extern const char* const prelude;

/// OpenCL C text of the identity element of a reduction in a type, and of `a operation b`.
std::string reduction_identity(const std::string& operation, clang::QualType type);
/// `before` is the value before the loop.
std::string reduction_step(const std::string& operation, const std::string& a, const std::string& b,
                           const std::string& before);

} // namespace directive
