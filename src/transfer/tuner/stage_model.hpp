// SPDX-License-Identifier: Apache-2.0
// What is known of one stage: how long an operation takes, alone and beside others.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace causeway::transfer {

/// What a place (a device, a file system, a class of peers) does with the bytes of a block.
enum class operation : unsigned char { copy_in, copy_out, map_in, map_out, read, write, send, receive, window };

/// As the file of figures and `causeway tune` call them, in order.
inline constexpr std::array<std::string_view, 9> operation_names = {"copy in", "copy out", "map in", "map out", "read",
                                                                    "write",   "send",     "receive", "window"};

/// A straight line, and a limit: an operation alone takes `latency` and its bytes at `bandwidth`; several at once move no
/// more than `ceiling`. Seconds, bytes per second; all positive.
struct stage_model {
    double latency = 0;
    double bandwidth = 0;
    double ceiling = 0;

    [[nodiscard]] double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

/// Operations of about `bytes` that took `seconds` each, in the company of `company` (this one included) all the time.
struct stage_sample {
    double bytes = 0, seconds = 0;
    double company = 1;
};

/// The line nearest to samples of operations alone, where the relative errors count, and the limit by those in company.
/// At least two sizes alone; without company the ceiling is the bandwidth.
[[nodiscard]] stage_model fit(std::span<const stage_sample> samples);

/// Moves `known` a part of the way to what `seen` says. One sample, however wrong, changes it by less than a quarter.
void correct(stage_model& known, const stage_sample& seen);

} // namespace causeway::transfer
