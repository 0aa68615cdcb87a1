// SPDX-License-Identifier: Apache-2.0
// A gate that opens when an event of an OpenCL implementation completes.
#pragma once

#include "cl/handles.hpp"
#include "transfer/gate.hpp"

#include <cstdint>
#include <memory>

namespace causeway::endpoints {

/// What a gate does when its event has failed. With `fail_even_hidden` it fails even if the driver reports that failed
/// event as complete (driver_quirks::hides_failed_waits).
enum class on_failure { fail, fail_even_hidden, open };

/// Wakes the engine for the gates of `command` when `event` is complete, if the implementation calls back.
void wake_when_complete(cl_event event, const std::shared_ptr<transfer::waker>& engine, std::uint64_t command);

[[nodiscard]] std::unique_ptr<transfer::gate> make_event_gate(cl::event watched, on_failure meaning);

} // namespace causeway::endpoints
