// SPDX-License-Identifier: Apache-2.0
// What the user of `causeway perf` asked for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace perf {

constexpr std::size_t kib = 1U << 10U;
constexpr std::size_t mib = 1U << 20U;
constexpr std::size_t gib = 1U << 30U;

/// A device's buffers; linked ones come from causeway_buffer_create().
enum class buffer_kind { ordinary, linked };

struct settings {
    std::vector<std::string> routes;     // names or beginnings of names; empty: all
    std::vector<std::size_t> sizes;      // of a transfer
    std::vector<std::size_t> blocks;     // forced beside each strategy's own choice
    std::vector<std::string> strategies; // forced beside the library's choice; empty: all that the library knows
    int repetitions = 0;                 // of each way
    double seconds = 0;                  // after these, repetitions of a route and size end, once there are three
    bool quick = false;
    bool table = false;                  // every row as it comes, instead of a few lines at the end
    bool in_windows = false;             // buffers of causeway_buffer_create(), for routes between devices
    bool progress = false;               // also where standard error is no terminal
    std::filesystem::path directory;     // where files are made
    std::filesystem::path file;          // read this one instead; may be empty
    std::string platform, peer_platform; // parts of their names; empty: the first
    std::optional<std::size_t> device;
    std::string commit;
    std::filesystem::path json, plot;    // may be empty
};

} // namespace perf
