// SPDX-License-Identifier: Apache-2.0
// The commands that the platform's observer has seen, as a timeline for `causeway trace view`, Perfetto and others.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace study {

/// `processes` are those of read_processes(). Each becomes a process of the timeline; each of its devices has a track
/// for kernels and one for copies. Throws std::runtime_error if the file cannot be written.
void write_timeline(const std::vector<nlohmann::json>& processes, const std::string& path);

} // namespace study
