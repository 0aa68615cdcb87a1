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
        bool in_turn = false; ///< operations end one after another: the first takes no longer than alone
    };
    std::array<stage, 3> stages;
    std::size_t count = 0;
    double set_up = 0; ///< seconds before the first block and after the last
    bool one_memory = false; ///< all stages share one memory's bandwidth, so that their times at the ceiling add up

    void add(const stage_model& model, unsigned at_once, bool in_turn = false) {
        stages[count++] = {model, at_once, in_turn};
    }
};

/// Seconds for `bytes` in blocks, at most `depth` of them in flight: the time of the slowest stage, with the filling of
/// the pipeline before its first block and the draining after its last. With one block in flight that is the sum of
/// all stages.
[[nodiscard]] double predicted_seconds(const pipeline& way, std::size_t bytes, std::size_t block_bytes, unsigned depth);

} // namespace causeway::transfer
