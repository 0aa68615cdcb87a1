// SPDX-License-Identifier: Apache-2.0
// Files read and written whole, and folders, through descriptors above 2: the standard library's streams take 0 to 2
// where a program has closed these.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// The contents; none, with errno set, if the file cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& file);
/// The text before the first end of a line; empty if there is none or the file cannot be read.
[[nodiscard]] std::string first_line_of(const std::filesystem::path& file);
/// Makes the file or replaces its contents. False, with errno, unless it then holds all of `bytes`.
[[nodiscard]] bool write_file(const std::filesystem::path& file, std::string_view bytes);
/// What the folder holds but "." and "..", in no order; nothing if it cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

} // namespace causeway
