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
    unsigned step = 0;                  // iterations of the scalar loop that one of the vector loop replaces

    explicit operator bool() const { return vector != nullptr; }
};

/// Finds the vector loop that was just made of `scalar`. False if its form is not the one known.
split_loop find_split(llvm::Loop& scalar, llvm::LoopInfo& loops);

class remainder {
  public:
    remainder(llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution, llvm::DominatorTree& dominators)
        : m_loops(loops), m_evolution(evolution), m_dominators(dominators) {}

    /// Gives the iterations that `split` leaves, and short runs that never reach the vector loop, a loop of their own
    /// that is known to run less than `step` times. `back_edges` is how often the loop's back edge was taken before it
    /// was split; `may_wrap` if that is not known to be less than its type's largest number. `multiple` rounds its
    /// iterations up, into padding behind the arrays; `whole`, where the loop's length is a constant, lets it begin
    /// earlier, so that it makes that many iterations, of which the vector loop did the first. Runs for which the
    /// vector loop's own checks fail keep the scalar loop. Null, and nothing changed, if the form is not known.
    llvm::Loop* make(const split_loop& split, const llvm::SCEV* back_edges, bool may_wrap, unsigned multiple = 1,
                     unsigned whole = 0);

    /// Rounds the iterations of a loop of constant length up to whole vectors, into padding behind the arrays.
    void round_up(llvm::Loop& loop, unsigned trip_count, unsigned width);

    /// Makes the loop run `last` + 1 times, a number of 32 bits, by a counter of its own that its inductions follow.
    void count_anew(llvm::Loop& loop, llvm::Value* last);

    /// What an induction of the loop that begins at `start` is after so many iterations, fewer than it has; null if it
    /// is none.
    llvm::Value* advanced(llvm::PHINode& phi, llvm::Loop& loop, llvm::Value* start, llvm::Value* iterations,
                          llvm::IRBuilderBase& builder);

    /// Sums that the vector loop began go on in their lanes, once the rest is vectorised, too: they are folded to a
    /// number once, not twice.
    void continue_in_lanes(const split_loop& split);

    /// That its iterations do not depend on each other, as the vector loop proved for its width. What the vectoriser
    /// makes of the loop says so, too.
    static void promise_independence(llvm::Loop& loop);
    /// Takes the promise back, if it was given.
    static void forget_independence(llvm::Loop& loop);

  private:
    struct bypass;

    bool find_bypass(const split_loop& split, bypass& found) const;
    llvm::Loop* clone(const split_loop& split, const bypass& bypass, llvm::Value* keeps_scalar);
    void begin_earlier(llvm::Loop& loop, llvm::Value* iterations);
    void replace_inductions(llvm::Loop& loop, llvm::PHINode& counter);

    llvm::LoopInfo& m_loops;
    llvm::ScalarEvolution& m_evolution;
    llvm::DominatorTree& m_dominators;
};

} // namespace causeway::simd
