// SPDX-License-Identifier: Apache-2.0
// Simulator runs by policy name, with their regret (time over the best found) and timeline.
#pragma once

#include "tasks/simulator/simulator.hpp"

#include <memory>
#include <string>

namespace causeway::tasks::simulator {

/// Of "work-stealing", "central", "locality", "locality-paper". Throws transfer_error for another one.
[[nodiscard]] std::unique_ptr<policy> policy_named(const std::string& name, const topology::machine& machine,
                                                   unsigned vicinity);

struct best_found {
    double seconds = 0;
    std::string how; ///< policy and distribution
};

/// The fastest of all policies and of a list schedule that starts each ready task where its bytes are nearest, by each
/// distribution. A recorded run (`paper_name` is "") is tried as recorded, too.
[[nodiscard]] best_found find_best(const program& what, const std::string& paper_name, const cost_model& where,
                                   const settings& with);

/// The run as trace events: workers as lanes, tasks coloured by their part of remote bytes. An arrow for each deal and
/// each steal begins at the worker and time at which the task became ready.
[[nodiscard]] std::string timeline_of(const outcome& run, const std::string& title);

} // namespace causeway::tasks::simulator
