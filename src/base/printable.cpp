// SPDX-License-Identifier: Apache-2.0
// Takes UTF-8 apart, as far as terminals do something else with a character than show it.
#include "base/printable.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace causeway {

namespace {

struct character {
    std::uint32_t code;
    std::size_t bytes; ///< 0: none begins there
};

character first_of(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const auto lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead >= 0xf5 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (bytes == 0 || text.size() < bytes) return {};
    auto code = lead & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {};
        code = code << 6U | (byte(i) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    return code < least.at(bytes) ? character{} : character{code, bytes};
}

/// Controls of ASCII and Latin 1, and what has no width, ends a line or turns the order of what follows.
bool is_obeyed(std::uint32_t code) {
    return code < 0x20 || (0x7f <= code && code < 0xa0) || code == 0x61c || (0x200b <= code && code <= 0x200f) ||
           (0x2028 <= code && code <= 0x202e) || (0x2060 <= code && code <= 0x206f) || code == 0xfeff;
}

} // namespace

std::string printable(std::string_view text, std::string_view kept) {
    std::string shown;
    while (!text.empty()) {
        const auto [code, bytes] = first_of(text);
        const auto all = text.substr(0, bytes == 0 ? 1 : bytes);
        text.remove_prefix(all.size());
        if (bytes != 0 && (!is_obeyed(code) || kept.find(all) != std::string_view::npos)) {
            shown += all;
            continue;
        }
        for (const char byte : all) {
            std::array<char, 5> digits{};
            std::snprintf(digits.data(), digits.size(), "\\x%02x", static_cast<unsigned char>(byte));
            shown += digits.data();
        }
    }
    return shown;
}

} // namespace causeway
