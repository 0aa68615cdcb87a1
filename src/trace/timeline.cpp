// SPDX-License-Identifier: Apache-2.0
// Slices in lanes, arrows between them, and levels.
#include "trace/timeline.hpp"

#include "trace/json_text.hpp"
#include "transfer/plan.hpp"
#include "transfer/recorder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace causeway::trace {

namespace {

using nlohmann::json;
using transfer::activity;

constexpr std::array<std::string_view, transfer::activity_count> activity_names = {
    "copy in", "copy out", "map in", "map out", "read", "write", "send", "receive", "copy", "wait for the other rank"};
constexpr std::array<std::string_view, transfer::level_count> level_names = {"transfers running", "staging memory",
                                                                             "MPI requests"};
constexpr std::array<std::string_view, 3> reason_names = {"rules", "figures", "options"};

/// Microseconds, as the format wants them, to the nanosecond.
std::string time_text(std::int64_t nanoseconds) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%s%lld.%03lld", nanoseconds < 0 ? "-" : "",
                  std::abs(static_cast<long long>(nanoseconds)) / 1000,
                  std::abs(static_cast<long long>(nanoseconds)) % 1000);
    return text.data();
}

/// Where an arrow may begin or end.
struct slice_position {
    std::size_t lane = 0;
    std::int64_t begin = 0, end = 0;
};

class event_writer {
  public:
    event_writer(const part_content& part, const clock_line& to_reference, timeline_process process)
        : m_part(part), m_reference(to_reference), m_process(process) {
        for (const auto& each : part.clocks) {
            auto& line = m_devices[each.resource];
            const auto device = static_cast<std::int64_t>(each.device);
            line.add(device, each.before - device, each.after - device);
        }
        for (const auto* const commands : {&part.commands, &part.waits_for_commands})
            for (const auto& each : *commands) learn_clock(each);
    }

    std::string all() {
        add_transfers();
        add_blocks();
        add_commands();
        add_firings();
        add_calls();
        add_lanes();
        add_arrows();
        add_levels();
        return std::move(m_text);
    }

  private:
    struct slice {
        std::int64_t begin, end;
        std::string name;
        const char* category;
        json details;
        std::size_t* lane = nullptr;      ///< told where it is
        std::int64_t waits_since = INT64_MAX;
    };
    /// In this order on the page: kind, then what it is of.
    using track = std::tuple<int, std::string>;

    void put(std::string_view phase, std::string_view name, std::size_t lane, std::string_view rest) {
        if (!m_text.empty()) m_text += ",\n";
        m_text += R"({"ph":")";
        m_text += phase;
        m_text += R"(","name":)" + json_text(name) + R"(,"pid":)" + std::to_string(m_process.number) + R"(,"tid":)" +
                  std::to_string(lane);
        m_text += rest;
        m_text += '}';
    }

    void put_slice(const slice& what, std::size_t lane) {
        const auto begin = m_reference.of(what.begin), end = std::max(m_reference.of(what.end), begin);
        put("X", what.name, lane,
            std::string(R"(,"cat":")") + what.category + R"(","ts":)" + time_text(begin) + R"(,"dur":)" +
                time_text(end - begin) + (what.details.empty() ? "" : R"(,"args":)" + json_text(what.details)));
    }

    void put_arrow(const char* category, const std::string& id, const slice_position& from, std::int64_t leaves,
                   const slice_position& to, std::int64_t arrives) {
        put_arrow_end("s", category, id, from.lane, m_reference.of(leaves));
        // One that would fly back in time, by the errors of clocks, is not drawn by anybody.
        put_arrow_end("f", category, id, to.lane, std::max(m_reference.of(arrives), m_reference.of(leaves)));
    }

    void put_arrow_end(const char* phase, const char* category, const std::string& id, std::size_t lane,
                       std::int64_t when) {
        put(phase, category, lane,
            std::string(R"(,"cat":")") + category + R"(","id":)" + json_text(id) + R"(,"ts":)" + time_text(when) +
                (*phase == 'f' ? R"(,"bp":"e")" : ""));
    }

    /// The other end is in the part of another rank.
    void put_message(const record::transfer& told, const slice_position& at) {
        const bool sends = told.message_rank == m_part.header.rank && m_part.text(told.target).starts_with("rank ");
        auto id = std::to_string(told.message_rank) + "." + std::to_string(told.message);
        if (m_process.programs_before > 0) id += "." + std::to_string(m_process.programs_before);
        sends ? put_arrow_end("s", "message", id, at.lane, m_reference.of(at.begin))
              : put_arrow_end("f", "message", id, at.lane, m_reference.of(std::max(at.begin, at.end - 1)));
    }

    std::string own_id(std::uint64_t number) { return std::to_string(m_process.number) + "." + std::to_string(number); }

    /// What the process is known to have lived until.
    [[nodiscard]] std::int64_t last_moment() const {
        auto last = m_part.header.ended;
        for (const auto& each : m_part.levels) last = std::max(last, each.when);
        for (const auto& each : m_part.transfers) last = std::max({last, each.queued, each.ended});
        for (const auto& each : m_part.blocks) last = std::max(last, each.end);
        return last;
    }

    void add_transfers() {
        std::map<std::pair<std::uint64_t, std::uint32_t>, const record::transfer*> waiting;
        for (const auto& each : m_part.transfers) {
            const std::pair key(each.transfer, each.flow);
            if (each.ended == 0) {
                waiting[key] = &each;
            } else {
                waiting.erase(key);
                add_transfer(each);
            }
        }
        for (const auto& [key, each] : waiting) add_transfer(*each);
    }

    void add_transfer(const record::transfer& told) {
        auto each = told;
        const bool is_pending = each.ended == 0;
        if (is_pending) each.ended = last_moment();
        auto& position = m_transfers[{each.transfer, each.flow}];
        const bool ran = each.started != 0;
        position = {0, ran ? each.started : is_pending ? each.queued : each.ended, each.ended};
        json details{{"transfer", each.transfer},
                     {"flow", each.flow},
                     {"bytes", each.bytes},
                     {"moved", each.moved},
                     {"waited_us", static_cast<double>(position.begin - each.queued) / 1e3}};
        if (each.strategy != 0) {
            details["strategy"] = m_part.text(each.strategy);
            details["block"] = each.block_bytes;
            details["depth"] = each.depth;
            details["io_threads"] = each.io_threads;
            details["chosen_by"] = reason_names.at(each.reason);
        }
        if (each.expected_seconds > 0) details["expected_us"] = each.expected_seconds * 1e6;
        if (each.limit_seconds > 0) details["limit_us"] = each.limit_seconds * 1e6;
        if (is_pending) {
            details["pending"] = true;
            details["waits_for"] = each.error != 0 ? m_part.text(each.error) : "what was enqueued before";
        }
        if (each.status != 0) {
            details["status"] = each.status;
            details["error"] = m_part.text(each.error);
        }
        auto name = m_part.text(each.source);
        const bool is_meeting = each.target == each.source && each.bytes == 0;
        if (!is_meeting) name += " -> " + m_part.text(each.target);
        const bool is_own = m_part.text(each.strategy) == transfer::measuring_strategy;
        auto& lane = m_tracks[{0, is_own ? "what the tuner measures" : "transfers"}];
        lane.push_back({position.begin, position.end, is_own ? "measuring: " + name : name,
                        is_own             ? "measuring"
                        : is_pending       ? "pending"
                        : each.status != 0 ? "failure"
                                           : "transfer",
                        std::move(details), &position.lane, each.queued});
    }

    void add_blocks() {
        for (const auto& each : m_part.blocks) {
            if (each.what >= activity_names.size()) continue;
            const std::string what(activity_names[each.what]);
            const auto& resource = m_part.text(each.resource);
            json details{{"transfer", each.transfer}, {"flow", each.flow}};
            if (static_cast<activity>(each.what) != activity::meet) {
                details["offset"] = each.offset;
                details["bytes"] = each.bytes;
            }
            if (each.failed != 0) details["failed"] = true;
            m_tracks[{3, (resource.empty() ? "" : resource + ": ") + what}].push_back(
                {each.begin, each.end, what, each.failed != 0 ? "failure" : "block", std::move(details)});
        }
    }

    /// A device whose clock nobody has compared with ours: nothing has ended after it was seen to have.
    void learn_clock(const record::command& told) {
        if (told.ended == 0 || m_devices.count(told.resource) != 0) return;
        auto& least = m_guessed.try_emplace(told.resource, INT64_MAX).first->second;
        least = std::min(least, told.seen - static_cast<std::int64_t>(told.ended));
    }

    [[nodiscard]] std::int64_t host_time(std::uint32_t resource, std::uint64_t device_time) const {
        const auto time = static_cast<std::int64_t>(device_time);
        const auto known = m_devices.find(resource);
        if (known != m_devices.end()) return known->second.of(time);
        const auto guessed = m_guessed.find(resource);
        return time + (guessed != m_guessed.end() ? guessed->second : 0);
    }

    [[nodiscard]] std::size_t number_of_queue(std::uint64_t queue) {
        return m_queues.try_emplace(queue, m_queues.size() + 1).first->second;
    }

    /// The program's command, once, whoever has told of it.
    std::optional<std::size_t> slice_of(const record::command& told) {
        if (told.ended == 0) return {};
        const auto key = std::make_tuple(told.queue, told.started, told.ended);
        const auto [known, is_new] = m_command_of.try_emplace(key, m_commands.size());
        if (!is_new) return known->second;
        auto end = host_time(told.resource, told.ended), begin = host_time(told.resource, told.started);
        const auto late = std::max<std::int64_t>(0, end - told.seen);
        begin -= late;
        end -= late;
        m_commands.push_back({0, begin, end});
        m_ends_of_queue[told.queue].emplace(host_time(told.resource, told.ended), known->second);
        const auto& name = m_part.text(told.name);
        m_named.push_back({told, name.empty() ? "command" : name, begin, end});
        return known->second;
    }

    void add_commands() {
        for (const auto& each : m_part.commands)
            if (const auto found = slice_of(each)) m_by_number.emplace(each.number, *found);
        for (const auto& each : m_part.waits_for_commands)
            if (m_part.text(each.name) != "marker") (void)slice_of(each);
        for (std::size_t i = 0; i < m_named.size(); ++i) {
            const auto& [told, name, begin, end] = m_named[i];
            const auto track_name = m_part.text(told.resource) + ": queue " +
                                    std::to_string(number_of_queue(told.queue));
            json details;
            if (told.queued != 0 && told.started >= told.queued)
                details["in_queue_us"] = static_cast<double>(told.started - told.queued) / 1e3;
            m_tracks[{1, track_name}].push_back({begin, end, name, "command", std::move(details), &m_commands[i].lane});
        }
    }

    void add_firings() {
        for (const auto& each : m_part.firings) {
            const bool on_device = each.resource != 0;
            const auto begin = on_device ? host_time(each.resource, each.started)
                                         : static_cast<std::int64_t>(each.started);
            const auto end = on_device ? host_time(each.resource, each.ended) : static_cast<std::int64_t>(each.ended);
            const auto& graph = m_part.text(each.graph);
            m_tracks[{2, graph + ": " + m_part.text(each.actor)}].push_back(
                {begin, end, m_part.text(each.actor), "firing", json{{"number", each.number}}});
        }
    }

    void add_calls() {
        for (const auto& each : m_part.calls) {
            const auto& kind = m_part.text(each.kind);
            const char* const category = kind == "MPI" ? "mpi" : kind == "files" ? "file" : "call";
            json details;
            if (each.bytes != 0) details["bytes"] = each.bytes;
            m_tracks[{1, "the program's " + kind}].push_back(
                {each.begin, each.end, m_part.text(each.name), category, std::move(details)});
        }
    }

    /// Slices of one lane must not overlap: each goes into the first lane of its track that is free. What waits is
    /// shown before it as far as the lane has room: of a program that is far ahead, hundreds wait at once.
    void add_lanes() {
        const auto& who = m_part.header;
        const auto program = m_process.number == who.rank ? "" : ", process " + std::to_string(who.process);
        put("M", "process_name", 0,
            R"(,"args":{"name":)" + json_text("rank " + std::to_string(who.rank) + program + " on " + who.host) + "}");
        put("M", "process_sort_index", 0, R"(,"args":{"sort_index":)" + std::to_string(m_process.number) + "}");
        std::size_t next_lane = 1;
        for (auto& [name, slices] : m_tracks) {
            std::stable_sort(slices.begin(), slices.end(),
                             [](const slice& a, const slice& b) { return a.begin < b.begin; });
            std::vector<std::int64_t> free_from;
            for (auto& each : slices) {
                auto found = std::find_if(free_from.begin(), free_from.end(),
                                          [&](std::int64_t when) { return when <= each.begin; });
                if (found == free_from.end()) found = free_from.insert(found, INT64_MIN);
                const auto waits_from = std::max(*found, each.waits_since);
                *found = each.end;
                const auto lane = next_lane + static_cast<std::size_t>(found - free_from.begin());
                if (each.lane != nullptr) *each.lane = lane;
                if (waits_from < each.begin)
                    put_slice({waits_from, each.begin, "waits: " + each.name, "wait",
                               json{{"transfer", each.details["transfer"]}, {"flow", each.details["flow"]}}},
                              lane);
                put_slice(each, lane);
            }
            for (std::size_t i = 0; i < free_from.size(); ++i) {
                const auto lane = next_lane + i;
                put("M", "thread_name", lane, R"(,"args":{"name":)" + json_text(std::get<1>(name)) + "}");
                put("M", "thread_sort_index", lane, R"(,"args":{"sort_index":)" + std::to_string(lane) + "}");
            }
            next_lane += free_from.size();
        }
    }

    /// Of a marker the last command before it in its queue, if that was seen. NVIDIA's driver gives barriers no times:
    /// before it was seen.
    [[nodiscard]] std::optional<std::size_t> awaited(const record::command& told) {
        if (m_part.text(told.name) != "marker") return slice_of(told);
        const auto queue = m_ends_of_queue.find(told.queue);
        if (queue == m_ends_of_queue.end()) return {};
        const auto behind = queue->second.upper_bound(told.ended != 0 ? host_time(told.resource, told.ended)
                                                                      : told.seen);
        if (behind == queue->second.begin()) return {};
        return std::prev(behind)->second;
    }

    void add_arrows() {
        std::uint64_t number = 0;
        const auto last_of = [](const slice_position& from) { return std::max(from.begin, from.end - 1); };
        const auto each_flow = [&](std::uint64_t transfer, auto&& act) {
            for (auto at = m_transfers.lower_bound({transfer, 0});
                 at != m_transfers.end() && at->first.first == transfer; ++at)
                act(at->second);
        };
        for (const auto& each : m_part.waits_for_commands) {
            const auto found = awaited(each);
            if (!found) continue;
            const auto& from = m_commands[*found];
            each_flow(each.transfer, [&](const slice_position& to) {
                put_arrow("waits for", own_id(++number), from, last_of(from), to, to.begin);
            });
        }
        for (const auto& each : m_part.waits_for_transfers)
            each_flow(each.other, [&](const slice_position& from) {
                each_flow(each.transfer, [&](const slice_position& to) {
                    put_arrow("waits for", own_id(++number), from, last_of(from), to, to.begin);
                });
            });
        for (const auto& each : m_part.command_waits) {
            const auto found = m_by_number.find(each.number);
            if (found == m_by_number.end()) continue;
            const auto& to = m_commands[found->second];
            each_flow(each.transfer, [&](const slice_position& from) {
                put_arrow("waits for", own_id(++number), from, last_of(from), to, to.begin);
            });
        }
        for (const auto& each : m_part.transfers)
            if (each.message != 0 && each.ended != 0) put_message(each, m_transfers.at({each.transfer, each.flow}));
    }

    void add_levels() {
        for (const auto& each : m_part.levels) {
            if (each.what >= level_names.size()) continue;
            put("C", level_names[each.what], 0,
                R"(,"ts":)" + time_text(m_reference.of(each.when)) + R"(,"args":{"value":)" +
                    std::to_string(each.value) + "}");
        }
    }

    const part_content& m_part;
    const clock_line& m_reference;
    timeline_process m_process;
    std::string m_text;
    std::map<track, std::vector<slice>> m_tracks;
    std::map<std::pair<std::uint64_t, std::uint32_t>, slice_position> m_transfers;
    std::map<std::uint32_t, clock_line> m_devices; // by resource
    std::map<std::uint32_t, std::int64_t> m_guessed; // by resource, for those without samples
    std::map<std::uint64_t, std::size_t> m_queues; // their numbers
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::size_t> m_command_of; // queue and times
    std::map<std::uint64_t, std::map<std::int64_t, std::size_t>> m_ends_of_queue; // by the host's time
    std::map<std::uint64_t, std::size_t> m_by_number;
    struct named_command {
        record::command told;
        std::string name;
        std::int64_t begin, end;
    };
    std::vector<named_command> m_named; // beside m_commands
    std::vector<slice_position> m_commands;
};

} // namespace

std::string trace_events(const part_content& part, const clock_line& to_reference, timeline_process process) {
    return event_writer(part, to_reference, process).all();
}

} // namespace causeway::trace
