// SPDX-License-Identifier: Apache-2.0
// The 16 categories of OpenCL functions into which a study divides a program's time.
#pragma once

#include <array>
#include <string_view>

namespace study {

inline constexpr std::array<std::string_view, 16> categories{
    "platform", "device",    "context",           "queue", "buffer", "image",           "sampler",   "program",
    "kernel",   "arguments", "enqueued commands", "map",   "event",  "synchronisation", "profiling", "extensions"};

/// Of a function by its name; "extensions" for one that OpenCL does not have.
[[nodiscard]] std::string_view category_of(std::string_view function);

/// Whether the function compiles: what a program that keeps its binaries saves.
[[nodiscard]] bool compiles(std::string_view function);
/// Whether the function does nothing but wait.
[[nodiscard]] bool waits(std::string_view function);

} // namespace study
