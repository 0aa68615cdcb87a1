// SPDX-License-Identifier: Apache-2.0
// Files in the user's cache folder, for what is known of a machine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace causeway {

/// The path of `name` below $XDG_CACHE_HOME or ~/.cache, as the variables of the process say; empty without either.
[[nodiscard]] std::string cache_file(std::string_view name);

/// What such a file has.
struct cache_content {
    std::optional<std::string> text; ///< none if there is no file
    std::string problem;             ///< why it cannot be read, if so
};
/// Never waits, and reads no more than the first `most_bytes`, whatever is at that path.
[[nodiscard]] cache_content read_cache_file(const std::string& path, std::size_t most_bytes);
/// Replaces the file by `text` atomically; makes its folder if need be. Returns what went wrong, or an empty text.
[[nodiscard]] std::string write_cache_file(const std::string& path, const std::string& text);

} // namespace causeway
