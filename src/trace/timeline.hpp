// SPDX-License-Identifier: Apache-2.0
// Turns a part of a timeline into trace events, for Perfetto and chrome://tracing.
#pragma once

#include "trace/clock_line.hpp"
#include "trace/part_content.hpp"

#include <string>

namespace causeway::trace {

/// What keeps the programs of a rank, and their arrows, apart.
struct timeline_process {
    int number = 0;          ///< the rank, for its first program
    int programs_before = 0; ///< earlier programs of the rank that exchanged messages
};

/// One JSON event per line, without trailing commas; times mapped by `to_reference`. The threads of the process are
/// lanes: transfers, and what each device, file system and peer does for them; then the program's commands, by queue,
/// and the firings of graphs.
[[nodiscard]] std::string trace_events(const part_content& part, const clock_line& to_reference,
                                       timeline_process process);

} // namespace causeway::trace
