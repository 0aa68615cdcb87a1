// SPDX-License-Identifier: Apache-2.0
// Edit distance, and sizes with units.
#include "words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <utility>

namespace causeway_tool {

namespace {

/// Insertions, deletions, changes, and neighbours that changed places.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last, last(b.size() + 1), now(b.size() + 1);
    std::iota(last.begin(), last.end(), 0U);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], before_last[j - 2] + 1);
        }
        before_last = std::exchange(last, now);
    }
    return last.back();
}

} // namespace

std::string nearest(std::string_view wrong, std::span<const std::string> known) {
    std::string best;
    std::size_t least = std::max<std::size_t>(wrong.size() / 2, 1) + 1;
    for (const auto& each : known)
        if (const auto found = distance(wrong, each); found < least) {
            least = found;
            best = each;
        }
    return best;
}

std::string suggestion(std::string_view wrong, std::span<const std::string> known) {
    const auto found = nearest(wrong, known);
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

std::string size_text(std::size_t bytes) {
    constexpr std::array units = {"GiB", "MiB", "KiB"};
    for (std::size_t i = 0; i < units.size(); ++i) {
        const std::size_t unit = std::size_t{1} << (30 - 10 * i);
        if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + " " + units[i];
    }
    return std::to_string(bytes) + " B";
}

} // namespace causeway_tool
