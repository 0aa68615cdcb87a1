// SPDX-License-Identifier: Apache-2.0
// A part of a timeline as trace events: what Perfetto and chrome://tracing open.
#pragma once

#include "trace/clock_line.hpp"
#include "trace/part_content.hpp"

#include <string>

namespace causeway::trace {

/// What keeps the programs of a rank, and their arrows, apart.
struct timeline_process {
    int number = 0;          ///< the rank, for its first program
    int programs_before = 0; ///< of the rank, with messages
};

/// One event in each line, without a comma at its end. Times are those of `to_reference`. The threads of the
/// process are lanes: transfers, and what each device, file system and peer does for them; then the program's commands,
/// by queue, and the firings of graphs.
[[nodiscard]] std::string trace_events(const part_content& part, const clock_line& to_reference,
                                       timeline_process process);

} // namespace causeway::trace
