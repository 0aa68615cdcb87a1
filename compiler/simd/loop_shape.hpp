// SPDX-License-Identifier: Apache-2.0
// Whether a loop's iterations can run as lanes of a vector of which some are masked.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

namespace llvm {
class DominatorTree;
class ScalarEvolution;
class TargetTransformInfo;
} // namespace llvm

namespace causeway::simd {

struct loop_shape {
    /// First reason against masked lanes, as the end of a sentence; null if there is none.
    const char* why_not = nullptr;
    /// Lanes of the widest element in a register that the target prefers.
    unsigned lanes = 0;
    /// 0 if only known at run time.
    unsigned trip_count = 0;
    bool stores = false;
    bool reduces = false;
    bool backwards = false; // some access has a negative stride
    bool in_place = false;  // some array is read and written
    bool slow_masks = false; // it stores, and a masked store takes longer than the scalar ones that it replaces
};

/// Looks at instructions only; the caller must still check memory dependences between iterations.
loop_shape examine(llvm::Loop& loop, llvm::ScalarEvolution& evolution, llvm::DominatorTree& dominators,
                   const llvm::TargetTransformInfo& target);

/// The smallest power of two of lanes, from 2 to `lanes`, that takes `trip_count` iterations in the fewest steps.
unsigned sufficient_width(unsigned trip_count, unsigned lanes);

} // namespace causeway::simd
