// SPDX-License-Identifier: Apache-2.0
// Vector variants of functions (`omp declare simd`) for calls in loops of `omp simd`: section 7 of the paper.
#pragma once

#include <llvm/IR/PassManager.h>

namespace causeway::simd {

/// Early: keeps calls of such functions in such loops from being inlined if the function has a loop, because a loop
/// that contains a loop is not vectorised.
struct kept_calls : llvm::PassInfoMixin<kept_calls> {
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager);
};

/// Before loops become vectors: makes the variants that such calls may become, and names them at the calls. Calls of
/// functions without variants are inlined as usual.
struct vector_functions : llvm::PassInfoMixin<vector_functions> {
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager);
};

/// At the end: removes variants that nobody calls, and inlines what the vectoriser left scalar.
struct spare_functions : llvm::PassInfoMixin<spare_functions> {
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager);
};

/// True for a vector variant.
bool is_for_lanes(const llvm::Function& function);

} // namespace causeway::simd
