// SPDX-License-Identifier: Apache-2.0
// Suggestions, and sizes with units.
#include "words.hpp"

#include "base/nearest_word.hpp"

#include <unistd.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <system_error>

namespace causeway_tool {

std::string suggestion(std::string_view wrong, std::span<const std::string> known) {
    const auto found = causeway::nearest_word(wrong, known);
    return found.empty() ? "" : "; did you mean " + found + "?";
}

std::size_t size_from(std::string_view text, std::string_view option) {
    const std::string_view whole = text;
    unsigned shift = 0;
    if (!text.empty()) {
        switch (std::toupper(static_cast<unsigned char>(text.back()))) {
        case 'K': shift = 10; break;
        case 'M': shift = 20; break;
        case 'G': shift = 30; break;
        default: break;
        }
        if (shift > 0) text.remove_suffix(1);
    }
    std::size_t value = 0;
    const auto [stop, error] = std::from_chars(text.begin(), text.end(), value);
    if (error != std::errc{} || stop != text.end() || value == 0 || value > (SIZE_MAX >> shift))
        throw usage_error(std::string(option) + ": not a size: " + std::string(whole) +
                          " (for example 8, 64K, 16M, 1G)");
    return value << shift;
}

void check_writable(const std::filesystem::path& file) {
    if (file.empty()) return;
    std::error_code ignored;
    const bool was_there = std::filesystem::exists(std::filesystem::symlink_status(file, ignored));
    if (was_there && !std::filesystem::is_regular_file(file, ignored)) {
        // A pipe's reader would see its end; a link may lead to nothing yet.
        const bool is_refused = std::filesystem::exists(file, ignored) && ::access(file.c_str(), W_OK) != 0;
        if (is_refused || std::filesystem::is_directory(file, ignored))
            throw usage_error("cannot write " + file.string());
        return;
    }
    std::FILE* const opened = std::fopen(file.c_str(), "ab");
    if (opened == nullptr) throw usage_error("cannot write " + file.string());
    std::fclose(opened);
    if (!was_there) std::filesystem::remove(file, ignored);
}

std::string size_text(std::size_t bytes) {
    constexpr std::array units = {"GiB", "MiB", "KiB"};
    for (std::size_t i = 0; i < units.size(); ++i) {
        const std::size_t unit = std::size_t{1} << (30 - 10 * i);
        if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + " " + units[i];
    }
    return std::to_string(bytes) + " B";
}

} // namespace causeway_tool
