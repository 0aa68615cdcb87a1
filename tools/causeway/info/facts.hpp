// SPDX-License-Identifier: Apache-2.0
// What one process finds: OpenCL, memory, file systems, options, and what MPI gives.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace info {

using nlohmann::json;

/// `value` as JSON text. Bytes of names that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string as_text(const json& value, int indent = -1);

/// The platforms and devices that this process sees, what is wrong with how they are looked for, limits of memory.
[[nodiscard]] json facts_of_process();

/// Of each directory: its file system, free bytes, and whether files there can be read past the page cache.
[[nodiscard]] json facts_of_directories(const std::vector<std::string>& directories);

/// What MPI_Init_thread gives: "thread_level", or "error". Asked in a child process, because MPI may end or hang that
/// process.
[[nodiscard]] json facts_of_mpi();

[[nodiscard]] json facts_of_options();

/// "MPI_THREAD_MULTIPLE"
[[nodiscard]] std::string thread_level_name(int level);

} // namespace info
