// SPDX-License-Identifier: Apache-2.0
// Iterations run ahead of a long loop, until its stores begin at a cache line: section 4 of the paper.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

namespace llvm {
class BranchInst;
class DominatorTree;
class LoopAccessInfo;
class ScalarEvolution;
} // namespace llvm

namespace causeway::simd {

struct peeled_loop {
    llvm::Loop* ahead = nullptr;       // a clone that runs the first iterations, fewer than a vector's lanes
    llvm::BranchInst* gate = nullptr;  // to the clone, where the loop is long and its stores are not aligned

    explicit operator bool() const { return ahead != nullptr; }
};

/// The loop must not need checks for overlapping pointers. Nothing changes where no store can be aligned so, or all
/// are. `lanes` of the widest element make a vector; vectors shorter than a cache line are left.
peeled_loop peel_to_cache_line(llvm::Loop& loop, const llvm::LoopAccessInfo& accesses, unsigned lanes,
                               llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
                               llvm::DominatorTree& dominators);

/// The vectoriser did not take the loop: it runs as it did.
void close_gate(peeled_loop& peeled);

} // namespace causeway::simd
