// SPDX-License-Identifier: Apache-2.0
// A nest of its own for rows that are short and of one length: its masks are made once, outside.
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
    llvm::Loop* row = nullptr;        // in it, known to run no more than so many times
    llvm::BranchInst* gate = nullptr; // to the clone, where the rows are short

    explicit operator bool() const { return row != nullptr; }
};

/// The clone of `row` runs up to `longest` times, a power of two, rounded up to a multiple of `multiple`, into padding.
/// Nothing changes where its length may differ from row to row.
short_rows clone_for_short_rows(llvm::Loop& row, unsigned longest, unsigned multiple, llvm::LoopInfo& loops,
                                llvm::ScalarEvolution& evolution, llvm::DominatorTree& dominators);

/// The vectoriser did not take the rows: the nest runs as it did.
void close_gate(short_rows& rows);

/// Moves out of the nest what is the same in each row.
void hoist_masks(short_rows& rows, llvm::ScalarEvolution& evolution);

} // namespace causeway::simd
