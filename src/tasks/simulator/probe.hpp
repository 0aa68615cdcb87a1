// SPDX-License-Identifier: Apache-2.0
// Costs of the machine that the process runs on, measured.
#pragma once

#include "tasks/simulator/cost_model.hpp"

namespace causeway::tasks::simulator {

/// Sets the costs of memory, of spawning and of waking in a model of this_machine(). Takes up to a second, on all its
/// cores. Leaves alone what it has no memory or threads to measure.
void measure(cost_model& of);

} // namespace causeway::tasks::simulator
