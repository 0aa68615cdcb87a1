// SPDX-License-Identifier: Apache-2.0
// What one process finds: OpenCL, memory, file systems, options, and what MPI gives.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace info {

using nlohmann::json;

/// The platforms and devices that this process sees, what is wrong with how they are looked for, limits of memory.
[[nodiscard]] json facts_of_process();

/// Of each directory: its file system, free bytes, and whether files there can be read past the page cache.
[[nodiscard]] json facts_of_directories(const std::vector<std::string>& directories);

/// What MPI_Init_thread gives, tried in a process of its own, as it may end or hang that: "thread_level", or "error".
[[nodiscard]] json facts_of_mpi();

[[nodiscard]] json facts_of_options();

/// "MPI_THREAD_MULTIPLE"
[[nodiscard]] std::string thread_level_name(int level);

} // namespace info
