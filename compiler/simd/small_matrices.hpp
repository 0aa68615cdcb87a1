// SPDX-License-Identifier: Apache-2.0
// Loop nests over 4 x 4 matrices as operations on whole matrices in registers: "2D vectorization", section 5 of the
// paper.
#pragma once

#include <llvm/IR/PassManager.h>

namespace causeway::simd {

/// Runs before loops are unrolled; later nothing shows that there were matrices.
struct small_matrices : llvm::PassInfoMixin<small_matrices> {
    llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& manager);
};

} // namespace causeway::simd
