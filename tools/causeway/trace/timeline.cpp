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

/// Between the two values beside it, if `share` lies between two.
double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double position = share * double(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - double(below)) * (values[above] - values[below]);
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

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
    const bool is_transfer = category == "transfer" || category == "pending" ||
                             (category == "failure" && event.at("args").contains("waited_us"));
    if (!is_transfer) return;
    const auto& told = event.at("args");
    to.transfers.push_back({event.at("name"), when, told.at("waited_us"), told.at("moved"), told.value("limit_us", 0.0),
                            told.value("strategy", ""), told.value("error", ""), told.value("waits_for", "")});
}

std::vector<span> spans_of(const std::vector<transfer>& transfers) {
    std::vector<span> spans;
    for (const auto& each : transfers) spans.push_back(each.when);
    return spans;
}

json summary_of_route(const std::string& name, const std::vector<const transfer*>& transfers) {
    std::vector<double> times, waits, shares;
    double bytes = 0, moving = 0;
    std::size_t failed = 0, pending = 0;
    std::string strategy;
    for (const auto* const each : transfers) {
        if (!each->error.empty()) ++failed;
        if (!each->waits_for.empty()) ++pending;
        if (!each->error.empty() || !each->waits_for.empty()) continue;
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
    json told{{"route", name},
              {"transfers", transfers.size()},
              {"failed", failed},
              {"pending", pending},
              {"bytes", bytes},
              {"median_us", median(times)},
              {"upper_us", quantile(times, 0.9)},
              {"median_wait_us", median(waits)},
              {"strategy", strategy}};
    told["bytes_per_second"] = moving > 0 ? json(bytes / moving * 1e6) : json(nullptr);
    told["percent_of_limit"] = shares.empty() ? json(nullptr) : json(median(shares));
    return told;
}

std::string formatted(const char* format, double number) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), format, number);
    return text.data();
}

/// Three figures that count, in the unit that fits.
std::string figures_text(double value, const char* unit) {
    return formatted(value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value) + " " + unit;
}

std::string time_text(double microseconds) {
    if (microseconds == 0) return "0";
    if (microseconds >= 1e6) return figures_text(microseconds / 1e6, "s");
    if (microseconds >= 1e3) return figures_text(microseconds / 1e3, "ms");
    return figures_text(microseconds, "us");
}

std::string rate_text(const json& bytes_per_second) {
    if (bytes_per_second.is_null()) return "-";
    const double rate = bytes_per_second;
    if (rate >= 1e9) return figures_text(rate / 1e9, "GB/s");
    if (rate >= 1e6) return figures_text(rate / 1e6, "MB/s");
    return figures_text(rate / 1e3, "kB/s");
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
    json ranks = json::array(), pending = json::array();
    std::set<int> recorded;
    int expected = 1;
    std::map<std::string, std::vector<const transfer*>> by_route_of_all;
    std::map<std::string, std::set<int>> ranks_of_route;
    for (const auto& [process, each] : shown.ranks) {
        recorded.insert(each.number);
        expected = std::max(expected, each.ranks);
        const auto moving = joined(spans_of(each.transfers)), computing = joined(each.commands);
        const auto hidden = hidden_share(each);
        json routes = json::array();
        std::map<std::string, std::vector<const transfer*>> by_route;
        for (const auto& one : each.transfers) {
            by_route[one.name].push_back(&one);
            by_route_of_all[one.name].push_back(&one);
            ranks_of_route[one.name].insert(each.number);
            if (one.waits_for.empty()) continue;
            pending.push_back({{"rank", each.number},
                               {"transfer", one.name},
                               {"waits_for", one.waits_for},
                               {"for_us", one.waited + one.when.end - one.when.begin}});
        }
        for (const auto& [name, transfers] : by_route) routes.push_back(summary_of_route(name, transfers));
        ranks.push_back({{"rank", each.number},
                         {"shown_as", process},
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
    json routes = json::array();
    for (const auto& [name, transfers] : by_route_of_all) {
        routes.push_back(summary_of_route(name, transfers));
        routes.back()["ranks"] = ranks_of_route.at(name).size();
    }
    return {{"job", shown.job}, {"ranks_of_job", expected}, {"ranks_recorded", recorded.size()},
            {"ranks", ranks},   {"routes", routes},         {"pending", pending}};
}

namespace {

std::string name_of_rank(const json& each) {
    const auto program = each.at("shown_as") == each.at("rank") ? "" : ", process " + each.at("process").dump();
    return "rank " + each.at("rank").dump() + program;
}

/// What holds of few ranks.
void print_remarks(const json& each) {
    const auto say = [&](const std::string& what) {
        std::printf("%s: %s\n", name_of_rank(each).c_str(), what.c_str());
    };
    if (!each.at("ended").get<bool>()) say("did not end by itself: the last moments may be missing");
    if (each.at("cut").get<bool>()) say("there was no room for all of it (CAUSEWAY_TRACE_SIZE)");
    if (each.at("commands_without_times").get<std::size_t>() > 0)
        say(each.at("commands_without_times").dump() + " commands that transfers waited for are not shown: their "
                                                       "queues do not profile (causeway trace makes them)");
    if (each.at("clock") != "reference" && each.at("clock") != "of one node")
        say("its clock was compared " + name_in(each, "clock") + ", to " +
            time_text(each.at("clock_uncertainty_us").get<double>()));
}

/// Of ranks that say the same once.
void print_links(const json& ranks) {
    std::map<std::string, std::vector<std::string>> who;
    for (const auto& each : ranks)
        if (each.at("direct_links") != "") who[name_in(each, "direct_links")].push_back(name_of_rank(each));
    for (const auto& [links, of] : who)
        std::printf("direct links between devices%s: %s\n",
                    of.size() == ranks.size() ? "" : (" (" + of.front() + (of.size() > 1 ? ", ...)" : ")")).c_str(),
                    links.c_str());
}

struct quantity {
    const char* name;
    const char* key;
    std::string (*text)(double);
};

std::string count_text(double count) { return formatted("%.0f", count); }
std::string percent_text(double share) { return formatted("%.0f %%", 100 * share); }

/// One line for each quantity: a rank's own value, or median, least and most, and whose they are.
void print_ranks(const json& ranks) {
    static constexpr std::array quantities = {
        quantity{"transfers", "transfers", count_text}, quantity{"under way for", "moving_us", time_text},
        quantity{"commands", "commands", count_text}, quantity{"computing for", "computing_us", time_text},
        quantity{"hidden", "hidden", percent_text}};
    const bool is_one = ranks.size() == 1;
    std::printf("%-14s %10s", "", is_one ? "" : "median");
    if (!is_one) std::printf("  %-28s  %s", "least", "most");
    std::printf("\n");
    for (const auto& what : quantities) {
        std::vector<double> values;
        const json *least = nullptr, *most = nullptr;
        for (const auto& each : ranks) {
            if (each.at(what.key).is_null()) continue;
            values.push_back(each.at(what.key));
            if (least == nullptr || each.at(what.key) < least->at(what.key)) least = &each;
            if (most == nullptr || each.at(what.key) > most->at(what.key)) most = &each;
        }
        if (values.empty()) continue;
        std::printf("%-14s %10s", what.name, what.text(median(values)).c_str());
        const auto of = [&](const json& one) { return what.text(one.at(what.key)) + " (" + name_of_rank(one) + ")"; };
        if (!is_one && least->at(what.key) != most->at(what.key))
            std::printf("  %-28s  %s", of(*least).c_str(), of(*most).c_str());
        std::printf("\n");
    }
}

/// Columns that say nothing of any route are left out.
void print_routes(const json& routes, bool of_several_ranks) {
    const auto any = [&](const char* key) {
        return std::any_of(routes.begin(), routes.end(),
                           [&](const json& each) { return !each.at(key).is_null() && each.at(key) != 0; });
    };
    const bool failed = any("failed"), pending = any("pending"), limit = any("percent_of_limit");
    std::printf("\n%-36s %9s", "route", "transfers");
    if (of_several_ranks) std::printf(" %5s", "ranks");
    if (failed) std::printf(" %6s", "failed");
    if (pending) std::printf(" %7s", "pending");
    std::printf(" %9s %9s %9s %10s", "waits", "takes", "9 of 10", "rate");
    if (limit) std::printf(" %8s", "of limit");
    std::printf("  strategy\n");
    for (const auto& one : routes) {
        std::printf("%-36s %9zu", name_in(one, "route").c_str(), one.at("transfers").get<std::size_t>());
        if (of_several_ranks) std::printf(" %5zu", one.at("ranks").get<std::size_t>());
        if (failed) std::printf(" %6zu", one.at("failed").get<std::size_t>());
        if (pending) std::printf(" %7zu", one.at("pending").get<std::size_t>());
        const bool none = one.at("median_us") == 0;
        const auto shown = [&](const char* key) { return none ? "-" : time_text(one.at(key).get<double>()); };
        std::printf(" %9s %9s %9s %10s", shown("median_wait_us").c_str(), shown("median_us").c_str(),
                    shown("upper_us").c_str(), rate_text(one.at("bytes_per_second")).c_str());
        const auto& share = one.at("percent_of_limit");
        if (limit) std::printf(" %8s", share.is_null() ? "" : formatted("%.0f %%", share.get<double>()).c_str());
        std::printf("  %s\n", name_in(one, "strategy").c_str());
    }
    std::printf("\nhidden: the share of the time of transfers in which commands of the program ran, too\n"
                "waits, takes: medians; 9 of 10 take at most as long as that column says\n");
    if (limit) std::printf("of limit: what the slowest stage alone would take, by the tuner's figures\n");
}

void print_pending(const json& pending) {
    constexpr std::size_t most = 10;
    if (pending.empty()) return;
    std::printf("\npending at the end: %zu transfers\n", pending.size());
    for (std::size_t i = 0; i < std::min(most, pending.size()); ++i)
        std::printf("  rank %d: %s, for %s, waits for %s\n", pending[i].at("rank").get<int>(),
                    name_in(pending[i], "transfer").c_str(), time_text(pending[i].at("for_us")).c_str(),
                    name_in(pending[i], "waits_for").c_str());
    if (pending.size() > most) std::printf("  and %zu more\n", pending.size() - most);
}

} // namespace

void print_summary(const json& summary) {
    const auto& ranks = summary.at("ranks");
    if (summary.at("ranks_recorded") < summary.at("ranks_of_job"))
        std::printf(
            "%d of %d ranks were recorded; if the others make transfers, too, start them by causeway run, or by "
            "mpirun -x CAUSEWAY_TRACE -x LD_PRELOAD, so that other nodes know of it\n",
            summary.at("ranks_recorded").get<int>(), summary.at("ranks_of_job").get<int>());
    std::map<std::string, std::size_t> hosts;
    std::set<int> numbers;
    for (const auto& each : ranks) {
        ++hosts[name_in(each, "host")];
        numbers.insert(each.at("rank").get<int>());
    }
    const auto all = std::to_string(numbers.size()) + (numbers.size() == 1 ? " rank" : " ranks");
    const auto who = ranks.size() == 1                ? name_of_rank(ranks[0])
                     : ranks.size() == numbers.size() ? all
                                                      : std::to_string(ranks.size()) + " programs of " + all;
    std::printf("%s on %s%s\n", who.c_str(), hosts.begin()->first.c_str(),
                hosts.size() > 1 ? (" and " + std::to_string(hosts.size() - 1) + " more hosts").c_str() : "");
    for (const auto& each : ranks) print_remarks(each);
    print_links(ranks);
    print_ranks(ranks);
    if (!summary.at("routes").empty()) print_routes(summary.at("routes"), ranks.size() > 1);
    print_pending(summary.at("pending"));
}

} // namespace trace
