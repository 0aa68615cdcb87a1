// SPDX-License-Identifier: Apache-2.0
// A part of a timeline as trace events: what Perfetto and chrome://tracing open.
#pragma once

#include "trace/clock_line.hpp"
#include "trace/part_content.hpp"

#include <string>

namespace causeway::trace {

/// One event in each line, without a comma at its end. Times are those of `to_reference`. The process is the rank; its
/// threads are lanes: transfers, and what each device, file system and peer does for them; then the program's commands,
/// by queue, and the firings of graphs.
[[nodiscard]] std::string trace_events(const part_content& part, const clock_line& to_reference);

} // namespace causeway::trace
