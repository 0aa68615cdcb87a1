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
    llvm::BranchInst* test = nullptr; // branches to the gate if the loop is long
    llvm::BranchInst* gate = nullptr; // after the test: branches to the clones if the stores are not aligned

    explicit operator bool() const { return ahead != nullptr; }
};

/// `lanes` of the widest element make a vector. The loop must not need run-time checks for overlap. Changes nothing if
/// no store can be aligned, if all are aligned already, or if a vector is shorter than a cache line.
peeled_loop peel_to_cache_line(llvm::Loop& loop, const llvm::LoopAccessInfo& accesses, unsigned lanes,
                               llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
                               llvm::DominatorTree& dominators);

/// Moves the test to where the vector loop made of `loop` is entered, so that short runs take no extra test.
void ask_before_vectors(peeled_loop& peeled, llvm::Loop& loop, llvm::LoopInfo& loops, llvm::DominatorTree& dominators);

/// Undoes the peeling: the vectoriser did not take the loop.
void close_gate(peeled_loop& peeled);

} // namespace causeway::simd
