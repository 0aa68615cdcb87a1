// SPDX-License-Identifier: Apache-2.0
// Programs that a test starts, and how they end.
#pragma once

#include "support/devices.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace support {

/// How a process ended: its exit code, or minus the number of the signal that killed it.
struct ending {
    int code = 0;
    std::chrono::milliseconds took{};
};

/// Runs the program with `changes` ("NAME=value") to this process's environment. Nothing if it does not end while
/// patience lasts; it is killed then.
[[nodiscard]] std::optional<ending> run_program(const std::string& path, const std::vector<std::string>& arguments,
                                                const std::vector<std::string>& changes = {});

/// Where the device stands among those of all platforms: what the programs of the tests ask for.
[[nodiscard]] std::string index_of(const device_under_test& device);

} // namespace support
