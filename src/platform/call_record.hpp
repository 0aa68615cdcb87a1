// SPDX-License-Identifier: Apache-2.0
// What a rank's program has enqueued, in short, to see whether the ranks' programs still do the same.
#pragma once

#include "platform/opencl.hpp"

#include <string>

namespace causeway::platform {

/// The last command, and a hash of all. What goes into it must be the same on every rank.
struct call_record {
    unsigned long hash = 0xcbf29ce484222325;
    unsigned long number = 0; ///< of commands
    cl_command_type type = 0;
    unsigned long device = 0; ///< the rank that has it
    unsigned long waits = 0;  ///< events in the wait list
    unsigned long bytes = 0;  ///< of all memory objects that it uses

    void add(cl_command_type next, unsigned long on, unsigned long events, unsigned long used) {
        type = next;
        device = on;
        waits = events;
        bytes = used;
        ++number;
        for (const unsigned long part : {static_cast<unsigned long>(next), on, events, used})
            hash = (hash ^ part) * 0x100000001b3;
    }
    [[nodiscard]] bool operator==(const call_record& other) const {
        return hash == other.hash && number == other.number;
    }
};

/// The function behind a command.
[[nodiscard]] std::string function_of(cl_command_type type);

/// How two records differ, for the user: the first is that of rank `mine`.
[[nodiscard]] std::string difference(const call_record& first, int mine, const call_record& second, int theirs);

} // namespace causeway::platform
