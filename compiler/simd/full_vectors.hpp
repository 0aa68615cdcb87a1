// SPDX-License-Identifier: Apache-2.0
// Short loops and remainders as masked vector steps: "less-than-full vectors", section 3 of the paper.
#pragma once

#include <llvm/IR/PassManager.h>

namespace causeway::simd {

/// Runs just before the compiler's own vectoriser, which gets the loops that this one leaves.
struct full_vectors : llvm::PassInfoMixin<full_vectors> {
    llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& manager);
};

} // namespace causeway::simd
