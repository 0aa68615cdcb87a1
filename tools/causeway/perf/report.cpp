// SPDX-License-Identifier: Apache-2.0
// The few lines, the table and the JSON.
#include "perf/report.hpp"

#include "words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace perf {

namespace {

using causeway_tool::size_text;

constexpr const char* table_row = "%-32s %8s  %-13s %8s %10s  %-29s %9s %9s %9s %8s %8s\n";

std::string formatted(const char* format, double number) {
    char text[32];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

std::string time_text(double seconds) {
    if (seconds < 1e-3) return formatted("%.2f us", seconds * 1e6);
    if (seconds < 1) return formatted("%.3f ms", seconds * 1e3);
    return formatted("%.3f s", seconds);
}

/// Three figures that count, also for the few bytes per second of a small transfer.
std::string rate_text(double bytes_per_second) {
    const double gigabytes = bytes_per_second / 1e9;
    return formatted(gigabytes < 0.01 ? "%.1e" : "%.2f", gigabytes);
}

/// Quartiles, and of how many rounds if these are few.
std::string range_text(const row& line) {
    constexpr std::size_t many = 5;
    if (line.samples == 1) return "(one round)";
    const auto range = time_text(line.seconds.lower) + " - " + time_text(line.seconds.upper);
    return line.samples < many ? "(" + range + ", of " + std::to_string(line.samples) + ")" : "(" + range + ")";
}

void print_own_choices(const std::vector<own_choice>& all) {
    if (all.empty()) return;
    std::printf("\nThe library's own choice beside the best that was forced (at most 5 %% slower, or within the "
                "quartiles of that "
                "one, is as good)\n");
    constexpr const char* choice_row = "%-32s %8s  %-13s %10s  %-13s %8s %10s %8s  %s\n";
    std::printf(choice_row, "route", "size", "own", "median", "best", "block", "median", "ratio", "");
    for (const auto& each : all)
        std::printf(choice_row, each.own.route.c_str(), size_text(each.own.size_bytes).c_str(),
                    each.own.plan.strategy.c_str(), time_text(each.own.seconds.median).c_str(),
                    each.best.strategy.c_str(), size_text(each.best.plan.block_bytes).c_str(),
                    time_text(each.best.seconds.median).c_str(), formatted("%.2f", each.over_best()).c_str(),
                    each.is_as_good()     ? "as good"
                    : each.is_same_plan() ? "slower, by the same plan"
                                          : "slower");
    std::printf("%td of %zu as good\n", std::ranges::count_if(all, &own_choice::is_as_good), all.size());
    const auto same = std::ranges::count_if(all,
                                            [](const auto& each) { return !each.is_as_good() && each.is_same_plan(); });
    if (same > 0) std::printf("%td of the others are the same plan, measured again\n", same);
}

/// What one transfer of a row takes, or so much in a second if it is large.
std::string pace_text(const row& line, double seconds) {
    constexpr std::size_t large = std::size_t{64} << 10;
    return line.size_bytes < large ? time_text(seconds) : rate_text(double(line.size_bytes) / seconds) + " GB/s";
}

/// Times as fast; nothing where both are within the scatter of a few rounds.
std::string ratio_text(double ratio) {
    constexpr double same = 1.1;
    if (ratio < same && ratio > 1 / same) return "as fast";
    return formatted(ratio < 0.1 ? "%.2f x" : ratio < 10 ? "%.1f x" : "%.0f x", ratio);
}

/// The limit, and what share of it is reached; a limit that is code by hand, or was passed, has none.
std::string limit_text(const row& line) {
    constexpr double whole = 105;
    if (line.limit_seconds >= line.naive_seconds) return "by hand";
    auto limit = pace_text(line, line.limit_seconds);
    if (line.percent_of_limit() > whole) return limit;
    return limit + " (" + formatted("%.0f %%", std::min(100.0, line.percent_of_limit())) + ")";
}

} // namespace

void print_summary(const report& all) {
    std::vector<const row*> lines;
    for (const auto& each : all.rows) {
        if (each.strategy != "auto") continue;
        const auto known = std::ranges::find_if(lines, [&](const row* one) { return one->route == each.route; });
        if (known == lines.end()) {
            lines.push_back(&each);
        } else if ((*known)->size_bytes < each.size_bytes) {
            *known = &each;
        }
    }
    std::ranges::stable_sort(lines, std::greater{}, [](const row* one) { return one->size_bytes; });
    constexpr const char* line_format = "%-30s %8s %12s %12s %8s  %s\n";
    std::printf(line_format, "route", "size", "Causeway", "by hand", "", "limit of the machine");
    for (const auto* const each : lines)
        std::printf(line_format, each->route.c_str(), size_text(each->size_bytes).c_str(),
                    pace_text(*each, each->seconds.median).c_str(), pace_text(*each, each->naive_seconds).c_str(),
                    ratio_text(each->naive_seconds / each->seconds.median).c_str(), limit_text(*each).c_str());
    constexpr std::size_t most_notes = 4;
    if (!all.notes.empty()) std::printf("\n");
    for (std::size_t i = 0; i < std::min(most_notes, all.notes.size()); ++i)
        std::printf("- %s\n", all.notes[i].c_str());
    if (all.notes.size() > most_notes)
        std::printf("- and %zu more: --table prints them\n", all.notes.size() - most_notes);
    std::fflush(stdout);
}

void print(const facts& machine) {
    for (const auto& [name, value] : machine) std::printf("%-10s %s\n", name.c_str(), value.c_str());
    std::printf("\n");
    std::fflush(stdout);
}

void print_heading() {
    std::printf(table_row, "route", "size", "strategy", "block", "median", "(quartiles)", "GB/s", "limit", "naive",
                "x naive", "% limit");
}

void print(const row& line) {
    std::printf(table_row, line.route.c_str(), size_text(line.size_bytes).c_str(),
                (line.strategy == "auto" ? "auto " + line.plan.strategy : line.strategy).c_str(),
                size_text(line.plan.block_bytes).c_str(), time_text(line.seconds.median).c_str(),
                range_text(line).c_str(), rate_text(line.bytes_per_second()).c_str(),
                rate_text(line.limit_bytes_per_second()).c_str(), rate_text(line.naive_bytes_per_second()).c_str(),
                formatted("%.2f", line.naive_seconds / line.seconds.median).c_str(),
                formatted("%.1f", line.percent_of_limit()).c_str());
    std::fflush(stdout);
}

void print_end(const report& all) {
    if (!all.parts.empty())
        std::printf("\nParts of the limits (the slowest counts, but below 1 MiB, where the stages of a transfer do not "
                    "overlap, and for latency their sum; of parts with one name the fastest)\n");
    constexpr const char* part_row = "%-32s %8s  %-14s %10s %9s  %s\n";
    if (!all.parts.empty()) std::printf(part_row, "route", "size", "part", "median", "GB/s", "how");
    for (const auto& each : all.parts)
        std::printf(part_row, each.route.c_str(), size_text(each.size_bytes).c_str(), each.name.c_str(),
                    time_text(each.seconds).c_str(), rate_text(double(each.size_bytes) / each.seconds).c_str(),
                    (each.how + (each.counts ? "" : " (does not count)")).c_str());
    print_own_choices(own_choices(all.rows));
    if (!all.notes.empty()) std::printf("\nNotes\n");
    for (const auto& each : all.notes) std::printf("- %s\n", each.c_str());
    std::fflush(stdout);
}

void write_json(const report& all, const std::filesystem::path& file) {
    using nlohmann::ordered_json;
    ordered_json written{{"schema", 1}, {"machine", ordered_json::object()}};
    for (const auto& [name, value] : all.machine) written["machine"][name] = value;
    written["results"] = ordered_json::array();
    written["details"] = ordered_json::array();
    for (const auto& each : all.rows) {
        written["results"].push_back({{"route", each.route},
                                      {"strategy", each.strategy},
                                      {"size_bytes", each.size_bytes},
                                      {"block_bytes", each.plan.block_bytes},
                                      {"median_seconds", each.seconds.median},
                                      {"bytes_per_second", each.bytes_per_second()},
                                      {"limit_bytes_per_second", each.limit_bytes_per_second()},
                                      {"naive_bytes_per_second", each.naive_bytes_per_second()},
                                      {"percent_of_limit", each.percent_of_limit()}});
        written["details"].push_back({{"used_strategy", each.plan.strategy},
                                      {"depth", each.plan.depth},
                                      {"lanes", each.plan.io_threads},
                                      {"lower_quartile_seconds", each.seconds.lower},
                                      {"upper_quartile_seconds", each.seconds.upper},
                                      {"samples", each.samples},
                                      {"over_limit_seconds", each.seconds.median - each.limit_seconds},
                                      {"times_naive", each.naive_seconds / each.seconds.median}});
    }
    written["limits"] = ordered_json::array();
    for (const auto& each : all.parts)
        written["limits"].push_back({{"route", each.route},
                                     {"size_bytes", each.size_bytes},
                                     {"part", each.name},
                                     {"how", each.how},
                                     {"counts", each.counts},
                                     {"median_seconds", each.seconds}});
    written["auto_over_best"] = ordered_json::array();
    for (const auto& each : own_choices(all.rows))
        written["auto_over_best"].push_back({{"route", each.own.route},
                                             {"size_bytes", each.own.size_bytes},
                                             {"auto_over_best", each.over_best()},
                                             {"as_good", each.is_as_good()},
                                             {"best_strategy", each.best.strategy},
                                             {"best_block_bytes", each.best.plan.block_bytes}});
    written["notes"] = all.notes;
    std::ofstream out(file);
    out << written.dump(1) << '\n';
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

} // namespace perf
