// SPDX-License-Identifier: Apache-2.0
// Joins the parts of all ranks of a job in one file, which is whole after each of them.
#pragma once

#include <cstddef>
#include <string>

namespace causeway::trace {

/// Adds `part` to `timeline` and removes it; with it the parts of ranks of the same job that were killed. A file that is
/// there from another job is replaced, and its parts go. Ranks that end at once take turns. Throws transfer_error.
void add_part(const std::string& timeline, const std::string& part);

/// Adds what killed ranks have left; how many there were. Ranks that live keep theirs.
std::size_t add_left_parts(const std::string& timeline);

} // namespace causeway::trace
