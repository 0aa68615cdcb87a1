// SPDX-License-Identifier: Apache-2.0
// Reads trace events, and adds up intervals.
#include "trace/timeline.hpp"

#include "printable.hpp"

#include <causeway/trace.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <string_view>

namespace trace {

namespace {

using nlohmann::json;

/// Without overlaps, in order.
std::vector<span> joined(std::vector<span> spans) {
    std::sort(spans.begin(), spans.end(), [](const span& a, const span& b) { return a.begin < b.begin; });
    std::vector<span> result;
    for (const auto& each : spans) {
        if (!result.empty() && each.begin <= result.back().end) {
            result.back().end = std::max(result.back().end, each.end);
        } else {
            result.push_back(each);
        }
    }
    return result;
}

double length(const std::vector<span>& spans) {
    double sum = 0;
    for (const auto& each : spans) sum += each.end - each.begin;
    return sum;
}

double overlap(const std::vector<span>& a, const std::vector<span>& b) {
    double sum = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        sum += std::max(0.0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
        a[i].end < b[j].end ? ++i : ++j;
    }
    return sum;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto middle = values.size() / 2;
    return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void add_rank(timeline& to, const json& event) {
    const auto& told = event.at("args");
    auto& added = to.ranks[event.at("pid")];
    added.number = told.value("rank", event.at("pid").get<int>());
    added.process = told.value("process", 0L);
    added.ranks = told.at("ranks");
    added.host = told.at("host");
    added.direct_links = told.value("direct_links", "");
    added.clock = told.at("clock");
    added.clock_uncertainty = told.at("clock_uncertainty_ns").get<double>() / 1e3;
    added.ended = told.at("ended");
    added.cut = told.at("cut");
    added.commands_without_times = told.at("commands_without_times");
}

constexpr span nothing{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

span span_of(const json& event) {
    const double begin = event.at("ts");
    return {begin, begin + event.value("dur", 0.0)};
}

void add_slice(rank& to, const json& event) {
    const auto category = event.value("cat", "");
    const auto when = span_of(event);
    if (category == "command" || category == "firing") to.commands.push_back(when);
    if (category != "transfer" && (category != "failure" || !event.at("args").contains("waited_us"))) return;
    const auto& told = event.at("args");
    to.transfers.push_back({event.at("name"), when, told.at("waited_us"), told.at("moved"), told.value("limit_us", 0.0),
                            told.value("strategy", ""), told.value("error", "")});
}

std::vector<span> spans_of(const std::vector<transfer>& transfers) {
    std::vector<span> spans;
    for (const auto& each : transfers) spans.push_back(each.when);
    return spans;
}

json summary_of_route(const std::string& name, const std::vector<const transfer*>& transfers) {
    std::vector<double> times, waits, shares;
    double bytes = 0, moving = 0;
    std::size_t failed = 0;
    std::string strategy;
    for (const auto* const each : transfers) {
        if (!each->error.empty()) {
            ++failed;
            continue;
        }
        const double took = each->when.end - each->when.begin;
        times.push_back(took);
        waits.push_back(each->waited);
        if (each->limit > 0 && took > 0) shares.push_back(100 * each->limit / took);
        bytes += each->bytes;
        moving += took;
        if (strategy.empty()) strategy = each->strategy;
        if (!each->strategy.empty() && each->strategy != strategy) strategy = "several";
    }
    // Those that failed had been planned, or had not.
    for (const auto* const each : transfers)
        if (strategy.empty()) strategy = each->strategy;
    json told{{"route", name},       {"transfers", transfers.size()}, {"failed", failed},
              {"bytes", bytes},      {"median_us", median(times)},    {"median_wait_us", median(waits)},
              {"strategy", strategy}};
    told["bytes_per_second"] = moving > 0 ? json(bytes / moving * 1e6) : json(nullptr);
    told["percent_of_limit"] = shares.empty() ? json(nullptr) : json(median(shares));
    return told;
}

std::string number_text(const json& value, const char* format, double scale = 1) {
    if (value.is_null()) return "-";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), format, value.get<double>() * scale);
    return text.data();
}

/// A name of the timeline, which may come from anywhere.
std::string name_in(const json& of, const char* key) { return causeway_tool::printable(of.at(key).get<std::string>()); }

/// Shows each event to `stays`, and returns the file with those for which it said so.
json read_events(const std::string& path, const std::function<bool(const json&)>& stays) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path + "; causeway trace -- PROGRAM makes such a file");
    bool is_event = false;
    json read;
    try {
        read = json::parse(
            file,
            [&](int depth, json::parse_event_t what, json& parsed) {
                if (depth == 1 && what == json::parse_event_t::key) is_event = parsed == "traceEvents";
                return !is_event || depth != 2 || what != json::parse_event_t::object_end || stays(parsed);
            },
            false);
    } catch (const json::exception& error) {
        throw std::runtime_error(path + " is not a timeline of Causeway, or of another version: " + error.what());
    }
    if (!read.is_object() || !read.contains("traceEvents"))
        throw std::runtime_error(path + " is not a timeline of Causeway");
    return read;
}

} // namespace

timeline read_timeline(const std::string& path, const extract& wanted) {
    // What cannot be added, as on a full disk, keeps nobody from what is there.
    if (causeway_trace_collect(path.c_str()) < 0) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(path, ignored) || std::filesystem::file_size(path, ignored) == 0)
            throw std::runtime_error(path + ": " + causeway_error_last_message());
        std::fprintf(stderr, "causeway trace: without what ranks have left beside it: %s\n",
                     causeway_error_last_message());
    }
    timeline read;
    // Where it begins is known at its end only.
    const bool is_part = wanted.between.begin > 0 || std::isfinite(wanted.between.end);
    read.whole = is_part ? read_timeline(path, {}).whole : nothing;
    const span shown{read.whole.begin + wanted.between.begin, read.whole.begin + wanted.between.end};
    auto rest = read_events(path, [&](const json& event) {
        if (event.at("name") == "causeway_rank") add_rank(read, event);
        if (event.at("ph") == "M") return wanted.with_events;
        const auto when = span_of(event);
        if (!is_part && event.at("ph") == "X")
            read.whole = {std::min(read.whole.begin, when.begin), std::max(read.whole.end, when.end)};
        if (is_part && (when.end < shown.begin || when.begin > shown.end)) return false;
        if (event.at("ph") == "X") add_slice(read.ranks[event.at("pid")], event);
        return wanted.with_events;
    });
    read.job = rest.value("/otherData/job"_json_pointer, "");
    read.events = std::move(rest.at("traceEvents"));
    if (read.ranks.empty()) throw std::runtime_error(path + " is not a timeline of Causeway: it has no rank");
    return read;
}

double hidden_share(const rank& which) {
    const auto moving = joined(spans_of(which.transfers));
    const auto computing = joined(which.commands);
    if (computing.empty() || length(moving) <= 0) return -1;
    return overlap(moving, computing) / length(moving);
}

json summary_of(const timeline& shown) {
    json ranks = json::array();
    std::set<int> recorded;
    int expected = 1;
    for (const auto& [place, each] : shown.ranks) {
        recorded.insert(each.number);
        expected = std::max(expected, each.ranks);
        const auto moving = joined(spans_of(each.transfers)), computing = joined(each.commands);
        const auto hidden = hidden_share(each);
        json routes = json::array();
        std::map<std::string, std::vector<const transfer*>> by_route;
        for (const auto& one : each.transfers) by_route[one.name].push_back(&one);
        for (const auto& [name, transfers] : by_route) routes.push_back(summary_of_route(name, transfers));
        ranks.push_back({{"rank", each.number},
                         {"shown_as", place},
                         {"process", each.process},
                         {"host", each.host},
                         {"ended", each.ended},
                         {"cut", each.cut},
                         {"direct_links", each.direct_links},
                         {"clock", each.clock},
                         {"clock_uncertainty_us", each.clock_uncertainty},
                         {"transfers", each.transfers.size()},
                         {"moving_us", length(moving)},
                         {"commands", each.commands.size()},
                         {"commands_without_times", each.commands_without_times},
                         {"computing_us", length(computing)},
                         {"hidden", hidden < 0 ? json(nullptr) : json(hidden)},
                         {"routes", routes}});
    }
    return {{"job", shown.job}, {"ranks_of_job", expected}, {"ranks_recorded", recorded.size()}, {"ranks", ranks}};
}

void print_summary(const json& summary) {
    const auto& ranks = summary.at("ranks");
    if (summary.at("ranks_recorded") < summary.at("ranks_of_job"))
        std::printf(
            "%d of %d ranks were recorded; if the others make transfers, too, start them by causeway run, or by "
            "mpirun -x CAUSEWAY_TRACE -x LD_PRELOAD, so that other nodes know of it\n",
            summary.at("ranks_recorded").get<int>(), summary.at("ranks_of_job").get<int>());
    for (const auto& each : ranks) {
        const auto program = each.at("shown_as") == each.at("rank") ? "" : ", process " + each.at("process").dump();
        std::printf(
            "rank %d%s on %s: %zu transfers, under way %.2f ms; %zu commands of the program, %.2f ms; hidden %s\n",
            each.at("rank").get<int>(), program.c_str(), name_in(each, "host").c_str(),
            each.at("transfers").get<std::size_t>(), each.at("moving_us").get<double>() / 1e3,
            each.at("commands").get<std::size_t>(), each.at("computing_us").get<double>() / 1e3,
            number_text(each.at("hidden"), "%.0f %%", 100).c_str());
        if (!each.at("ended").get<bool>()) std::printf("  it did not end by itself: the last moments may be missing\n");
        if (each.at("direct_links") != "")
            std::printf("  direct links between devices: %s\n", name_in(each, "direct_links").c_str());
        if (each.at("cut").get<bool>()) std::printf("  there was no room for all of it (CAUSEWAY_TRACE_SIZE)\n");
        if (each.at("commands_without_times").get<std::size_t>() > 0)
            std::printf("  %zu commands that transfers waited for are not shown: their queues do not profile "
                        "(causeway trace makes them)\n",
                        each.at("commands_without_times").get<std::size_t>());
        if (each.at("clock") != "reference" && each.at("clock") != "of one node")
            std::printf("  its clock was compared %s, to %.0f us\n", name_in(each, "clock").c_str(),
                        each.at("clock_uncertainty_us").get<double>());
        if (each.at("routes").empty()) continue;
        std::printf("  %-36s %9s %6s %10s %10s %9s %8s  %s\n", "route", "transfers", "failed", "waits us", "takes us",
                    "GB/s", "of limit", "strategy");
        for (const auto& one : each.at("routes"))
            std::printf("  %-36s %9zu %6zu %10s %10s %9s %8s  %s\n", name_in(one, "route").c_str(),
                        one.at("transfers").get<std::size_t>(), one.at("failed").get<std::size_t>(),
                        number_text(one.at("median_wait_us"), "%.1f").c_str(),
                        number_text(one.at("median_us"), "%.1f").c_str(),
                        number_text(one.at("bytes_per_second"), "%.3f", 1e-9).c_str(),
                        number_text(one.at("percent_of_limit"), "%.0f %%").c_str(), name_in(one, "strategy").c_str());
    }
    std::printf("\nhidden: the share of the time of transfers in which commands of the program ran, too\n"
                "waits, takes: medians; of limit: what the slowest stage alone would take, by the tuner's figures\n");
}

} // namespace trace
