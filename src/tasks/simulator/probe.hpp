// SPDX-License-Identifier: Apache-2.0
// Costs of the machine that the process runs on, measured.
#pragma once

#include "tasks/simulator/cost_model.hpp"

namespace causeway::tasks::simulator {

/// Sets the costs of memory, of spawning and of waking in a model of this_machine(). Takes up to a second, on all its
/// cores. Costs that it cannot measure for lack of memory or threads stay as they are.
void measure(cost_model& of);

} // namespace causeway::tasks::simulator
