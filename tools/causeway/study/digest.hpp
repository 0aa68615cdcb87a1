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

/// What the processes of the program have left in `folder`, in the order of their first calls. Throws
/// std::runtime_error for a file that cannot be read.
[[nodiscard]] std::vector<nlohmann::json> read_processes(const std::filesystem::path& folder);

/// Of one process, in seconds and bytes: "wall", "parts" (what its first thread spent the wall time with, in order),
/// "categories", "functions", "kernels", "copies", "busy", "compilation", "waiting", "observer". `alone`: it is the
/// only process, so that its life is that of the program.
[[nodiscard]] nlohmann::json digest(const nlohmann::json& process, const lifetime& of, bool alone,
                                    const bandwidth& machine);

} // namespace study
