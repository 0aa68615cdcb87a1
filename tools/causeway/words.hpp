// SPDX-License-Identifier: Apache-2.0
// Parsing of what a user types: sizes, files to be written, and suggestions for a wrong word.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace causeway_tool {

/// What the user asked for cannot be done; the program ends with status 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// "; did you mean --sizes?" or "".
std::string suggestion(std::string_view wrong, std::span<const std::string> known);

/// Bytes from "64", "64K", "1M", "2G"; `option` is for the message of a usage_error.
std::size_t size_from(std::string_view text, std::string_view option);

/// Throws usage_error if `file` can be neither created nor written, so that a long run does not fail at its end. Does
/// not change it. Does nothing for an empty name.
void check_writable(const std::filesystem::path& file);

/// "8 B", "64 KiB", "1 GiB"
std::string size_text(std::size_t bytes);

} // namespace causeway_tool
