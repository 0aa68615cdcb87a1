// SPDX-License-Identifier: Apache-2.0
// Reads the files that studied processes left, and condenses them.
#pragma once

#include "study/bandwidth.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace study {

/// When the program was started and when it had ended, in nanoseconds of the steady clock.
struct lifetime {
    std::int64_t begin = 0, end = 0;
};

/// The files that the program's processes have left in `folder`, in the order of their first calls. Throws
/// std::runtime_error for a file that cannot be read.
[[nodiscard]] std::vector<nlohmann::json> read_processes(const std::filesystem::path& folder);

/// Condenses one process, in seconds and bytes: "wall", "parts" (where its first thread spent the wall time, in order),
/// "categories", "functions", "kernels", "copies", "busy", "compilation", "waiting", "observer". `alone`: the program
/// has no other process, so its lifetime is the program's.
[[nodiscard]] nlohmann::json digest(const nlohmann::json& process, const lifetime& of, bool alone,
                                    const bandwidth& machine);

} // namespace study
