// SPDX-License-Identifier: Apache-2.0
// Discrete-event simulation of a program on a modelled machine under a policy.
#pragma once

#include "tasks/came_by.hpp"
#include "tasks/policy.hpp"
#include "tasks/simulator/cost_model.hpp"
#include "tasks/simulator/program.hpp"

#include <cstdint>
#include <vector>

namespace causeway::tasks::simulator {

struct settings {
    unsigned cores = 0;  ///< that work; 0 for all
    unsigned seed = 1;   ///< random seed for the order in which idle workers look for work
    bool greedy = false; ///< no policy: each ready task runs where it ends first
    bool keep_slices = false;
};

struct slice {
    std::uint32_t task = 0;
    unsigned worker = 0;
    double begin = 0, end = 0;
    double remote = 0; ///< the part of its bytes that came from other nodes; negative if that is not known
    double ready = 0;
    std::uint32_t from = no_worker; ///< the worker that made it ready
    came_by way = came_by::own_queue;
};

/// Modelled, not measured; times in seconds.
struct outcome {
    double seconds = 0;
    double own_bytes = 0, remote_bytes = 0, cached_bytes = 0;
    double memory_seconds = 0; ///< sum over tasks of the time that they wait for memory
    std::uint64_t tasks = 0, dealt = 0, stolen = 0, stolen_far = 0;
    std::vector<slice> slices;
};

/// Throws transfer_error if tasks are left that can never run.
[[nodiscard]] outcome simulate(const program& what, const cost_model& where, policy& how, const settings& with);

} // namespace causeway::tasks::simulator
