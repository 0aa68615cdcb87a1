// SPDX-License-Identifier: Apache-2.0
// Puts a transfer into words.
#include "transfer/tuner/explanation.hpp"

#include <array>
#include <cstdio>

namespace causeway::transfer {

namespace {

std::string time_text(double seconds) {
    std::array<char, 32> text{};
    if (seconds < 1e-3) {
        std::snprintf(text.data(), text.size(), "%.1f us", seconds * 1e6);
    } else if (seconds < 1) {
        std::snprintf(text.data(), text.size(), "%.2f ms", seconds * 1e3);
    } else {
        std::snprintf(text.data(), text.size(), "%.2f s", seconds);
    }
    return text.data();
}

std::string bandwidth_text(double bytes_per_second) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g GB/s", bytes_per_second / 1e9);
    return text.data();
}

std::string reason_text(const plan& chosen) {
    switch (chosen.why) {
    case plan::reason::forced: return "forced by options";
    case plan::reason::rules: return "by rules";
    case plan::reason::measured: break;
    }
    if (chosen.next_best.empty()) return "by figures";
    return "by figures (next best: " + std::string(chosen.next_best) + ", " + time_text(chosen.next_best_seconds) + ")";
}

} // namespace

std::string explain(const explained_transfer& what) {
    const auto& chosen = what.chosen;
    const double took = std::chrono::duration<double>(what.took).count();
    auto line = what.source;
    const bool is_meeting = what.target == what.source && what.bytes == 0;
    if (!is_meeting) line += " -> " + what.target;
    if (what.bytes != 0)
        line += ", " + bytes_text(what.bytes) + ": " + std::string(chosen.strategy) + ", block " +
                bytes_text(chosen.block_bytes) + ", depth " + std::to_string(chosen.depth) + ", I/O threads " +
                std::to_string(chosen.io_threads) + ", " + reason_text(chosen) + "; expected " +
                (what.expected_seconds ? time_text(*what.expected_seconds) : "nothing");
    line += ", took " + time_text(took);
    if (took > 0 && what.bytes != 0) line += ", " + bandwidth_text(static_cast<double>(what.moved) / took);
    if (what.error) line += "; failed after " + bytes_text(what.moved) + ": " + what.error.message;
    return line;
}

} // namespace causeway::transfer
