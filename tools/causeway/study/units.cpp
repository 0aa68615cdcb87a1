// SPDX-License-Identifier: Apache-2.0
// Three digits, and the unit that fits.
#include "study/units.hpp"

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>

namespace study {

namespace {

std::string three_digits(double value, const char* unit) {
    std::array<char, 48> text{};
    const int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, unit);
    return text.data();
}

} // namespace

std::string time_text(double seconds) {
    if (seconds == 0) return "0";
    if (std::abs(seconds) >= 1) return three_digits(seconds, "s");
    if (std::abs(seconds) >= 1e-3) return three_digits(seconds * 1e3, "ms");
    return three_digits(seconds * 1e6, "us");
}

std::string bytes_text(double bytes) {
    if (bytes < 1024) return std::to_string(static_cast<long long>(bytes)) + " B";
    for (const char* const unit : {"KiB", "MiB", "GiB"}) {
        bytes /= 1024;
        if (bytes < 1024) return three_digits(bytes, unit);
    }
    return three_digits(bytes / 1024, "TiB");
}

std::string shape_text(const nlohmann::json& sizes) {
    std::string text;
    for (const auto& each : sizes) text += (text.empty() ? "" : " x ") + std::to_string(each.get<unsigned long long>());
    return text.empty() ? "many" : text;
}

std::string fault_text(const nlohmann::json& fault) {
    const auto signal = fault.at("signal").get<int>(), object = fault.at("object").get<int>();
    if (signal == SIGFPE) return "an integer was divided by zero (SIGFPE)";
    if (signal == SIGILL) return "an instruction was refused by the processor (SIGILL)";
    if (object < 0) return "memory outside of all buffers was touched";
    const bool is_before = fault.at("fault").get_ref<const std::string&>() == "before its begin";
    return std::string("memory ") + (is_before ? "before the begin" : "beyond the end") + " of buffer " +
           std::to_string(object) + " was touched";
}

} // namespace study
