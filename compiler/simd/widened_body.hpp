// SPDX-License-Identifier: Apache-2.0
// The body of a function for several lanes at once: branches become masks, and a loop runs until the last lane has left
// it.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

namespace causeway::simd {

/// Why `scalar` cannot be widened; null if it can. It may have loops in simplified and LCSSA form, one return and no
/// switch.
const char* why_not_wide(llvm::Function& scalar, const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators);

/// Fills `wide`, whose only block makes `arguments` (a vector for each argument of `scalar`) and `mask` (the lanes in
/// use).
void widen(llvm::Function& scalar, const llvm::LoopInfo& loops, llvm::Function& wide, unsigned lanes,
           llvm::ArrayRef<llvm::Value*> arguments, llvm::Value* mask);

} // namespace causeway::simd
