// SPDX-License-Identifier: Apache-2.0
// A gate that opens when an event of an OpenCL implementation completes.
#pragma once

#include "cl/handles.hpp"
#include "transfer/gate.hpp"

#include <memory>

namespace causeway::endpoints {

/// What a failed event means.
enum class on_failure { fail, open };

[[nodiscard]] std::unique_ptr<transfer::gate> make_event_gate(cl::event watched, on_failure meaning);

} // namespace causeway::endpoints
