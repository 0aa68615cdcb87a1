// SPDX-License-Identifier: Apache-2.0
// In the form of src/trace/collection.cpp, so that the same tools read it.
#include "study/timeline_file.hpp"

#include "system_facts.hpp"

#include <causeway/causeway.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

namespace study {

namespace {

using nlohmann::json;

constexpr int no_indent = -1;

std::string text_of(const json& value) { return value.dump(no_indent, ' ', false, json::error_handler_t::replace); }

/// One that runs from `begin` to `end`, in nanoseconds.
struct slice {
    std::int64_t begin, end;
    const json* command;
};

class event_list {
  public:
    explicit event_list(std::size_t process) : m_process(process) {}

    void put(json event) {
        event["pid"] = m_process;
        m_text += ",\n" + text_of(event);
    }
    /// Slices of one lane do not overlap: each goes into the first that is free.
    void put_track(const std::string& name, std::vector<slice> slices) {
        std::stable_sort(slices.begin(), slices.end(),
                         [](const slice& a, const slice& b) { return a.begin < b.begin; });
        std::vector<std::int64_t> free_from;
        for (const auto& each : slices) {
            auto found = std::find_if(free_from.begin(), free_from.end(),
                                      [&](std::int64_t when) { return when <= each.begin; });
            if (found == free_from.end()) found = free_from.insert(found, INT64_MIN);
            *found = each.end;
            const auto& command = *each.command;
            json details{{"function", command.at("function")}};
            for (const auto* const key : {"global", "local"})
                if (command.contains(key)) details[key] = command.at(key);
            put({{"ph", "X"},
                 {"name", command.value("kernel", command.at("function").get<std::string>())},
                 {"cat", "command"},
                 {"tid", m_next_lane + static_cast<std::size_t>(found - free_from.begin())},
                 {"ts", static_cast<double>(each.begin) / 1e3},
                 {"dur", static_cast<double>(each.end - each.begin) / 1e3},
                 {"args", std::move(details)}});
        }
        for (std::size_t i = 0; i < free_from.size(); ++i, ++m_next_lane) {
            put({{"ph", "M"}, {"name", "thread_name"}, {"tid", m_next_lane}, {"args", {{"name", name}}}});
            put({{"ph", "M"},
                 {"name", "thread_sort_index"},
                 {"tid", m_next_lane},
                 {"args", {{"sort_index", m_next_lane}}}});
        }
    }
    [[nodiscard]] const std::string& text() const { return m_text; }

  private:
    std::size_t m_process, m_next_lane = 1;
    std::string m_text;
};

/// What the process did, after its line.
std::string events_of(const json& process, std::size_t number, const std::string& host, bool alone) {
    event_list events(number);
    auto name = "rank 0 on " + host;
    if (!alone) name = "rank 0, process " + process.at("process").dump() + " on " + host;
    events.put({{"ph", "M"}, {"name", "process_name"}, {"tid", 0}, {"args", {{"name", name}}}});
    events.put({{"ph", "M"}, {"name", "process_sort_index"}, {"tid", 0}, {"args", {{"sort_index", number}}}});
    std::map<std::pair<std::size_t, bool>, std::vector<slice>> tracks; // of a device, and whether of copies
    for (const auto& span : process.at("spans")) {
        const auto& command = process.at("commands").at(span.at(0).get<std::size_t>());
        const auto begin = span.at(1).get<std::int64_t>();
        tracks[{command.at("device"), !command.contains("kernel")}].push_back(
            {begin, begin + span.at(2).get<std::int64_t>(), &command});
    }
    for (const auto& [key, slices] : tracks)
        events.put_track((key.second ? "copies on " : "kernels on ") +
                             process.at("devices").at(key.first).at("name").get<std::string>(),
                         slices);
    return events.text();
}

} // namespace

void write_timeline(const std::vector<json>& processes, const std::string& path) {
    const auto host = causeway_tool::host_name();
    const std::string job = "study";
    auto text = R"({"displayTimeUnit":"ns","otherData":{"made_by":"causeway )" + text_of(causeway_version()).substr(1) +
                R"(,"job":)" + text_of(job) + R"(},"traceEvents":[)";
    std::size_t last = 0;
    std::string pid;
    for (std::size_t i = 0; i < processes.size(); ++i) {
        const auto& process = processes[i];
        const json about{{"rank", 0},
                         {"ranks", 1},
                         {"host", host},
                         {"process", process.at("process")},
                         {"job", job},
                         {"begun", process.at("loaded")},
                         {"ended", true},
                         {"cut", process.at("spans_left_out") != 0},
                         {"clock", "reference"},
                         {"clock_uncertainty_ns", 0},
                         {"commands_without_times", process.at("still_running")},
                         {"rank_before", last}};
        text += i == 0 ? "\n" : ",\n";
        last = text.size();
        pid = R"(,"pid":)" + std::to_string(i) + R"(,"tid":0,"args":)";
        text += R"({"ph":"M","name":"causeway_rank")" + pid + text_of(about) + "}" +
                events_of(process, i, host, processes.size() == 1);
    }
    text += ",\n" + std::string(R"({"ph":"M","name":"causeway_end")") + pid + text_of({{"last_rank", last}}) +
            "}\n]}\n";
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

} // namespace study
