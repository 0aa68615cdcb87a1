// SPDX-License-Identifier: Apache-2.0
// Joins the parts of all ranks of a job in one file, which is valid after each addition.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace causeway::trace {

/// How long a rank waits for the lock of a timeline that does not grow before it gives up.
inline constexpr std::chrono::milliseconds lock_patience{10000};

/// Throws transfer_error if the file exists and is no timeline, which is never replaced, or if the path has another
/// user's symbolic link.
void check_timeline(const std::string& timeline);

/// Adds `part` to `timeline` and removes it, together with the parts of killed ranks of the same job. A timeline of
/// another job is replaced, and its parts are removed. Ranks that end at once take turns. Throws transfer_error if the
/// disk is full, the file cannot be locked, or it is none of ours; the part and what was added before stay. A new file
/// has mode 0600; an old one keeps its mode.
void add_part(const std::string& timeline, const std::string& part, std::chrono::milliseconds patience = lock_patience);

/// Adds the parts that ranks left behind because they were killed or could not add them; returns their number. Parts of
/// live ranks and of other users stay. A damaged part stays too, after a warning. Where files cannot be locked, call
/// from one process at a time.
std::size_t add_left_parts(const std::string& timeline, std::chrono::milliseconds patience = lock_patience);

} // namespace causeway::trace
