// SPDX-License-Identifier: Apache-2.0
// Keeps short constant loops from being unrolled into scalar code before the vectoriser has seen them.
#pragma once

#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace causeway::simd {

/// Runs just before full unrolling; the pass in full_vectors.hpp removes its marks.
struct kept_loops : llvm::PassInfoMixin<kept_loops> {
    llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& manager,
                                llvm::LoopStandardAnalysisResults& known, llvm::LPMUpdater& updater);
};

/// True if masked vector steps are faster than full vectors and unrolled code for so few iterations.
bool is_short(unsigned trip_count, unsigned lanes);

} // namespace causeway::simd
