// SPDX-License-Identifier: Apache-2.0
// Clones a loop nest for short rows of one length, so that their masks are computed once, outside of the nest.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

namespace llvm {
class BranchInst;
class DominatorTree;
class ScalarEvolution;
} // namespace llvm

namespace causeway::simd {

struct short_rows {
    llvm::Loop* nest = nullptr;       // a clone of the loop around the rows
    llvm::Loop* row = nullptr;        // in it, known to run at most `longest` times, rounded up
    llvm::BranchInst* gate = nullptr; // branches to the clone if the rows are short

    explicit operator bool() const { return row != nullptr; }
};

/// The clone of `row` runs up to `longest` times, a power of two, rounded up to a multiple of `multiple`, into padding.
/// Changes nothing if the length may differ from row to row.
short_rows clone_for_short_rows(llvm::Loop& row, unsigned longest, unsigned multiple, llvm::LoopInfo& loops,
                                llvm::ScalarEvolution& evolution, llvm::DominatorTree& dominators);

/// Undoes the cloning: the vectoriser did not take the rows.
void close_gate(short_rows& rows);

/// Moves out of the nest what is the same in each row.
void hoist_masks(short_rows& rows, llvm::ScalarEvolution& evolution);

} // namespace causeway::simd
