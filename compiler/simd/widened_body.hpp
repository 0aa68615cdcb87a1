// SPDX-License-Identifier: Apache-2.0
// The body of a function for several lanes at once: branches become masks, and a loop goes on while a lane does.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

namespace causeway::simd {

/// Why `scalar` has no body for lanes; none if it has one. It may have loops in simplified and closed form, one return
/// and no switch.
const char* why_not_wide(llvm::Function& scalar, const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators);

/// Fills `wide`, which is empty: `arguments` gives a value of lanes for each argument of `scalar`, made in the block
/// that is the end of `wide`, and `mask` says which lanes are there.
void widen(llvm::Function& scalar, const llvm::LoopInfo& loops, llvm::Function& wide, unsigned lanes,
           llvm::ArrayRef<llvm::Value*> arguments, llvm::Value* mask);

} // namespace causeway::simd
