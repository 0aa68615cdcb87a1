// SPDX-License-Identifier: Apache-2.0
// Runs ways in turn, compares their medians, prints the table.
#include "measurement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace benchmarks {

namespace {

double run_checked(const comparison& compared, const way& each) {
    try {
        const double seconds = each.run();
        if (each.check) each.check();
        return seconds;
    } catch (const std::exception& error) {
        throw std::runtime_error(compared.route + ", " + size_text(compared.bytes) + ", " + each.name + ": " +
                                 error.what());
    }
}

std::string time_text(double seconds) {
    const double size = std::abs(seconds);
    char text[32];
    if (size < 1e-3) {
        std::snprintf(text, sizeof text, "%.2f us", seconds * 1e6);
    } else if (size < 1) {
        std::snprintf(text, sizeof text, "%.3f ms", seconds * 1e3);
    } else {
        std::snprintf(text, sizeof text, "%.3f s", seconds);
    }
    return text;
}

std::string number_text(const char* format, const std::optional<double>& number) {
    if (!number) return "-";
    char text[32];
    std::snprintf(text, sizeof text, format, *number);
    return text;
}

} // namespace

std::string size_text(std::size_t bytes) {
    if (bytes >= 1U << 20U && bytes % (1U << 20U) == 0) return std::to_string(bytes >> 20U) + " MiB";
    if (bytes >= 1U << 10U && bytes % (1U << 10U) == 0) return std::to_string(bytes >> 10U) + " KiB";
    return std::to_string(bytes) + " B";
}

std::vector<line> measure(const comparison& compared, int rounds) {
    std::vector<std::vector<double>> samples(compared.ways.size());
    for (int round = 0; round <= rounds; ++round)
        for (std::size_t i = 0; i < compared.ways.size(); ++i) {
            const double seconds = run_checked(compared, compared.ways[i]);
            if (round > 0) samples[i].push_back(seconds);
        }
    return evaluate(compared, samples);
}

std::vector<line> evaluate(const comparison& compared, const std::vector<std::vector<double>>& samples) {
    std::vector<line> lines;
    std::optional<double> naive, limit;
    for (std::size_t i = 0; i < compared.ways.size(); ++i) {
        const auto& each = compared.ways[i];
        auto& added = lines.emplace_back(line{compared.route, each.name, each.plan ? each.plan() : "", compared.bytes,
                                              each.is == role::limit, apps::quartiles_of(samples[i])});
        const double seconds = added.seconds.median;
        if (each.is == role::naive && !naive) naive = seconds;
        if (each.is == role::limit)
            limit = compared.rule == limit_rule::sum ? limit.value_or(0) + seconds
                                                     : std::max(limit.value_or(0), seconds);
    }
    for (auto& each : lines) {
        const double seconds = each.seconds.median;
        if (naive) each.times_naive = *naive / seconds;
        if (!limit || each.is_limit) continue;
        each.over_limit_seconds = seconds - *limit;
        each.percent_of_limit = 100 * *limit / seconds;
    }
    return lines;
}

void print(const std::vector<line>& lines, heading head) {
    constexpr const char* row = "%-22s %8s  %-33s %10s  %-26s %7s  %-30s %7s %10s %10s\n";
    if (head == heading::yes)
        std::printf(row, "route", "size", "way", "median", "(quartiles)", "GB/s", "plan", "x naive", "over limit",
                    "% of limit");
    for (const auto& each : lines) {
        std::string range = "(";
        range += time_text(each.seconds.lower) + " - " + time_text(each.seconds.upper) + ")";
        std::optional<double> rate;
        if (each.bytes >= 1U << 10U) rate = double(each.bytes) / each.seconds.median / 1e9;
        std::printf(row, each.route.c_str(), each.bytes > 0 ? size_text(each.bytes).c_str() : "-",
                    each.way.c_str(),
                    time_text(each.seconds.median).c_str(), range.c_str(), number_text("%.2f", rate).c_str(),
                    each.plan.empty() ? "-" : each.plan.c_str(), number_text("%.2f", each.times_naive).c_str(),
                    each.over_limit_seconds ? time_text(*each.over_limit_seconds).c_str() : "-",
                    each.is_limit ? "limit" : number_text("%.1f", each.percent_of_limit).c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace benchmarks
