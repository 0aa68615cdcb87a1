// SPDX-License-Identifier: Apache-2.0
// Functions of `omp declare simd` in loops of `omp simd`: section 7 of the paper.
#pragma once

#include <llvm/IR/PassManager.h>

namespace causeway::simd {

/// Early: keeps calls of functions with loops from being inlined, where the loop is one of `omp simd` and the function
/// one of `omp declare simd`. A loop in a loop would not become vectors.
struct kept_calls : llvm::PassInfoMixin<kept_calls> {
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager);
};

/// Before loops become vectors: makes the functions for lanes that such calls may become, and names them at the calls.
struct vector_functions : llvm::PassInfoMixin<vector_functions> {
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager);
};

/// At the end: takes away those that nobody calls.
struct spare_functions : llvm::PassInfoMixin<spare_functions> {
    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager);
};

/// One that was made so.
bool is_for_lanes(const llvm::Function& function);

} // namespace causeway::simd
