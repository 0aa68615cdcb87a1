// SPDX-License-Identifier: Apache-2.0
// Puts actors in order: loops, stages, buffers.
#pragma once

#include "graph/pipeline.hpp"

namespace causeway::graph {

/// Gives each actor its stage, each channel its buffers, and sorts the actors. Throws transfer_error(invalid_operation)
/// for a loop whose delay is too small, so that it deadlocks.
void assign_stages(const description& described, pipeline& compiled, std::size_t slack);

} // namespace causeway::graph
