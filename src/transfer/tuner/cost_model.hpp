// SPDX-License-Identifier: Apache-2.0
// How long a plan takes: a pipeline of stages, each as its model says.
#pragma once

#include "transfer/tuner/stage_model.hpp"

#include <array>
#include <cstddef>

namespace causeway::transfer {

/// What the blocks of a plan pass, in order.
struct pipeline {
    struct stage {
        stage_model model;
        unsigned at_once = 1; ///< operations that may be under way
        bool in_turn = false; ///< one behind the other: the first is over when it would be alone
    };
    std::array<stage, 3> stages;
    std::size_t count = 0;
    double set_up = 0; ///< seconds before the first block and after the last
    bool one_memory = false; ///< all stages draw on the same memory: no two of them reach their ceilings at once

    void add(const stage_model& model, unsigned at_once, bool in_turn = false) {
        stages[count++] = {model, at_once, in_turn};
    }
};

/// Seconds for `bytes` in blocks, at most `depth` of them in flight. A stage takes the time before its first block, its
/// own work, and the time after its last block; the slowest stage counts. With one block in flight that is the sum of
/// all stages. With many it is the slowest stage, a fill and a drain.
[[nodiscard]] double predicted_seconds(const pipeline& way, std::size_t bytes, std::size_t block_bytes, unsigned depth);

} // namespace causeway::transfer
