// SPDX-License-Identifier: Apache-2.0
// Where the compiler's pipeline calls the passes of the plug-in.
#include "full_vectors.hpp"
#include "kept_loops.hpp"
#include "llvm_versions.hpp"
#include "small_matrices.hpp"
#include "vector_functions.hpp"

#include <llvm/Passes/PassBuilder.h>

using namespace llvm;
using namespace causeway::simd;

namespace {

bool is_for_speed(OptimizationLevel level) { return level.getSpeedupLevel() >= 2 && level.getSizeLevel() == 0; }

void add_passes(PassBuilder& builder) {
    builder.registerPipelineStartEPCallback([](ModulePassManager& passes, OptimizationLevel level) {
        if (is_for_speed(level)) passes.addPass(kept_calls());
    });
    builder.registerOptimizerEarlyEPCallback([](ModulePassManager& passes, OptimizationLevel level, auto...) {
        if (is_for_speed(level)) passes.addPass(vector_functions());
    });
    builder.registerOptimizerLastEPCallback([](ModulePassManager& passes, OptimizationLevel level, auto...) {
        if (is_for_speed(level)) passes.addPass(spare_functions());
    });
    builder.registerPeepholeEPCallback([](FunctionPassManager& passes, OptimizationLevel level) {
        if (is_for_speed(level)) passes.addPass(small_matrices());
    });
    builder.registerLateLoopOptimizationsEPCallback([](LoopPassManager& passes, OptimizationLevel level) {
        if (is_for_speed(level)) passes.addPass(kept_loops());
    });
    builder.registerVectorizerStartEPCallback([](FunctionPassManager& passes, OptimizationLevel level) {
        if (is_for_speed(level)) passes.addPass(full_vectors());
    });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "causeway-simd", "0.1", add_passes};
}
