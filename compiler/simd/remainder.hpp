// SPDX-License-Identifier: Apache-2.0
// Prepares the scalar remainder of a vectorised loop for vectorisation.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>

namespace causeway::simd {

/// A vector loop and the scalar loop for the iterations that it leaves.
struct split_loop {
    llvm::Loop* vector = nullptr;
    llvm::Loop* scalar = nullptr;
    llvm::BasicBlock* middle = nullptr; // from the vector loop to the scalar loop, or past it
    llvm::Value* done = nullptr;        // iterations that the vector loop did, in `middle`
    unsigned width = 0;                 // lanes of a vector
    unsigned step = 0;                  // scalar iterations that one iteration of the vector loop replaces

    explicit operator bool() const { return vector != nullptr; }
};

/// Finds the vector loop that was just made of `scalar`. False if it does not have the expected form.
split_loop find_split(llvm::Loop& scalar, llvm::LoopInfo& loops);

class remainder {
  public:
    remainder(llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution, llvm::DominatorTree& dominators)
        : m_loops(loops), m_evolution(evolution), m_dominators(dominators) {}

    /// Makes a loop that is known to run less than `step` times: for the iterations that `split` leaves, and for short
    /// runs that never reach the vector loop. Runs for which the vector loop's checks fail keep the scalar loop.
    /// `back_edges` is the count of back edges before the split; `may_wrap`: that count may be the largest number of
    /// its type. `multiple` rounds the iterations up, into padding behind the arrays. If `whole` is not 0, the loop
    /// begins earlier and runs `whole` iterations, the first of which are done already; runs of fewer iterations in
    /// total (`in_all` back edges) keep the scalar loop. Returns null, and changes nothing, if the loops do not have
    /// the expected form.
    llvm::Loop* make(const split_loop& split, const llvm::SCEV* back_edges, bool may_wrap, unsigned multiple = 1,
                     unsigned whole = 0, const llvm::SCEV* in_all = nullptr);

    /// Rounds the iterations of a loop of constant length up to whole vectors, into padding behind the arrays.
    void round_up(llvm::Loop& loop, unsigned trip_count, unsigned width);

    /// Makes the loop run `last` + 1 times, by a new 32-bit counter from which its inductions are computed. `last` is a
    /// 32-bit number, too.
    /// If it `may_go_back`, its clones may be made to begin before its first iteration.
    void count_anew(llvm::Loop& loop, llvm::Value* last, bool may_go_back = false);

    /// The value of the induction `phi`, which begins at `start`, after `iterations`, fewer than the loop has. Null if
    /// `phi` is no induction.
    llvm::Value* advanced(llvm::PHINode& phi, llvm::Loop& loop, llvm::Value* start, llvm::Value* iterations,
                          llvm::IRBuilderBase& builder, bool may_go_back = false);

    /// Call once the rest is vectorised, too. The sums of the vector loop then stay in lanes through the rest, and are
    /// reduced to a number once, not twice.
    void continue_in_lanes(const split_loop& split);

    /// Marks the iterations as independent, as the vector loop has proved for its width. Loops that the vectoriser
    /// makes of this one inherit the mark.
    static void promise_independence(llvm::Loop& loop);
    /// Removes the mark, if there is one.
    static void forget_independence(llvm::Loop& loop);

  private:
    struct bypass;

    bool find_bypass(const split_loop& split, bypass& found) const;
    llvm::Loop* clone(const split_loop& split, const bypass& bypass, llvm::Value* keeps_scalar);
    void begin_earlier(llvm::Loop& loop, llvm::Value* iterations);
    void replace_inductions(llvm::Loop& loop, llvm::PHINode& counter, bool may_go_back);

    llvm::LoopInfo& m_loops;
    llvm::ScalarEvolution& m_evolution;
    llvm::DominatorTree& m_dominators;
};

} // namespace causeway::simd
