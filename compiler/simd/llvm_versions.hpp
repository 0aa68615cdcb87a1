// SPDX-License-Identifier: Apache-2.0
// Interfaces that LLVM 19 and LLVM 22 have in different forms.
#pragma once

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#if LLVM_VERSION_MAJOR >= 22
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif

namespace causeway::simd {

inline llvm::SCEVExpander expander_of(llvm::ScalarEvolution& evolution, [[maybe_unused]] const llvm::Module& module) {
#if LLVM_VERSION_MAJOR >= 22
    return llvm::SCEVExpander(evolution, "causeway.simd");
#else
    return llvm::SCEVExpander(evolution, module.getDataLayout(), "causeway.simd");
#endif
}

inline llvm::LoopAccessInfo accesses_of(llvm::Loop& loop, llvm::LoopStandardAnalysisResults& known) {
#if LLVM_VERSION_MAJOR >= 22
    return llvm::LoopAccessInfo(&loop, &known.SE, &known.TTI, &known.TLI, &known.AA, &known.DT, &known.LI, &known.AC);
#else
    return llvm::LoopAccessInfo(&loop, &known.SE, &known.TTI, &known.TLI, &known.AA, &known.DT, &known.LI);
#endif
}

inline bool has_masked_access(const llvm::TargetTransformInfo& target, llvm::Type* type, llvm::Align alignment,
                              bool stores) {
#if LLVM_VERSION_MAJOR >= 22
    return stores ? target.isLegalMaskedStore(type, alignment, 0) : target.isLegalMaskedLoad(type, alignment, 0);
#else
    return stores ? target.isLegalMaskedStore(type, alignment) : target.isLegalMaskedLoad(type, alignment);
#endif
}

/// Whether the vector form of intrinsic `id` is overloaded on the type of argument `at`, or of the result if that is
/// -1.
inline bool is_overloaded_at(llvm::Intrinsic::ID id, int at) {
#if LLVM_VERSION_MAJOR >= 22
    return llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, at, nullptr);
#else
    return llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, at);
#endif
}

inline bool is_scalar_at(llvm::Intrinsic::ID id, unsigned at) {
#if LLVM_VERSION_MAJOR >= 22
    return llvm::isVectorIntrinsicWithScalarOpAtArg(id, at, nullptr);
#else
    return llvm::isVectorIntrinsicWithScalarOpAtArg(id, at);
#endif
}

inline llvm::Function* declaration_of(llvm::Module& module, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types) {
#if LLVM_VERSION_MAJOR >= 22
    return llvm::Intrinsic::getOrInsertDeclaration(&module, id, types);
#else
    return llvm::Intrinsic::getDeclaration(&module, id, types);
#endif
}

} // namespace causeway::simd
