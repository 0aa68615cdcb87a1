// SPDX-License-Identifier: Apache-2.0
// Loop peeling: runs iterations ahead of a long loop until its stores are aligned to a cache line (section 4 of the
// paper).
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
    llvm::Loop* ahead = nullptr;      // a clone that runs the first iterations, fewer than a vector's lanes
    llvm::Loop* behind = nullptr;     // a clone that runs the others
    llvm::BranchInst* test = nullptr; // to the gate, where the loop is long
    llvm::BranchInst* gate = nullptr; // to the clones, where its stores are not aligned, either

    explicit operator bool() const { return ahead != nullptr; }
};

/// The loop must not need checks for overlapping
/// pointers. Nothing changes where no store can be aligned so, or all are. `lanes` of the widest element make a vector;
/// vectors shorter than a cache line are left.
peeled_loop peel_to_cache_line(llvm::Loop& loop, const llvm::LoopAccessInfo& accesses, unsigned lanes,
                               llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
                               llvm::DominatorTree& dominators);

/// Asks only where the vector loop that `loop` became would run: shorter runs take no test more than they did.
void ask_before_vectors(peeled_loop& peeled, llvm::Loop& loop, llvm::LoopInfo& loops, llvm::DominatorTree& dominators);

/// The vectoriser did not take the loop: it runs as it did.
void close_gate(peeled_loop& peeled);

} // namespace causeway::simd
