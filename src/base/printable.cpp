// SPDX-License-Identifier: Apache-2.0
// Looks for the control characters of ASCII, and of Latin 1 as UTF-8 has them (C2 80 to C2 9F).
#include "base/printable.hpp"

#include <array>
#include <cstdio>

namespace causeway {

std::string printable(std::string_view text, std::string_view kept) {
    std::string shown;
    const auto write_out = [&shown](unsigned char byte) {
        std::array<char, 5> digits{};
        std::snprintf(digits.data(), digits.size(), "\\x%02x", byte);
        shown += digits.data();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
        if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
            write_out(byte);
            write_out(next);
            ++i;
        } else if ((byte < 0x20 || byte == 0x7f) && kept.find(text[i]) == std::string_view::npos) {
            write_out(byte);
        } else {
            shown += text[i];
        }
    }
    return shown;
}

} // namespace causeway
