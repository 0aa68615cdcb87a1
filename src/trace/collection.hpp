// SPDX-License-Identifier: Apache-2.0
// Joins the parts of all ranks of a job in one file, which is whole after each of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace causeway::trace {

/// How long a timeline may stay locked without being written to, before those who wait for it give up.
inline constexpr std::chrono::milliseconds lock_patience{10000};

/// Throws transfer_error, naming it, if there is a file of this name that is no timeline, which nothing here replaces;
/// or a link of another user on the way to it.
void check_timeline(const std::string& timeline);

/// Adds `part` to `timeline` and removes it; with it the parts of ranks of the same job that were killed. A file that
/// is there from another job is replaced, and its parts go. Ranks that end at once take turns. Throws transfer_error,
/// and leaves the part and what was added before, if the disk is full, the file cannot be locked, or it is none of
/// ours. A file that is made is for its user alone; one that is there keeps its rights.
void add_part(const std::string& timeline, const std::string& part, std::chrono::milliseconds patience = lock_patience);

/// Adds what ranks have left that were killed or could not add it; how many there were. Ranks that live keep theirs.
/// Parts of other users are not looked at; one that is damaged stays where it is, after a warning, and keeps out no
/// other. Where no file can be locked, one process at a time.
std::size_t add_left_parts(const std::string& timeline, std::chrono::milliseconds patience = lock_patience);

} // namespace causeway::trace
