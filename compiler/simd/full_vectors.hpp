// SPDX-License-Identifier: Apache-2.0
// Short loops and remainders as masked vector steps: "less-than-full vectors", section 3 of the paper.
#pragma once

#include <llvm/IR/PassManager.h>

namespace causeway::simd {

/// Runs just before the compiler's own vectoriser, which gets the loops that this one leaves.
struct full_vectors : llvm::PassInfoMixin<full_vectors> {
    llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& manager);
};

/// Whether the arrays of the function may be read and written up to a whole vector behind their ends: by the option
/// -causeway-simd-padded, or by __attribute__((annotate("causeway_padded"))).
bool is_padded(const llvm::Function& function);

} // namespace causeway::simd
