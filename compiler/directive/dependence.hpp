// SPDX-License-Identifier: Apache-2.0
// A simple dependence test, for loops without an `independent` clause.
#pragma once
#include "loop_tree.hpp"

namespace directive {

/// Why iterations of the loop may depend on one another; nothing if it is proved that they do not.
std::string dependence(const unit& unit, const loop_node& loop);

} // namespace directive
