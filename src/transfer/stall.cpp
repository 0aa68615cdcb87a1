// SPDX-License-Identifier: Apache-2.0
// The times of a stall, and its text.
#include "transfer/stall.hpp"

#include <algorithm>
#include <map>

namespace causeway::transfer {

namespace {

using std::chrono::nanoseconds;

constexpr auto first_record = nanoseconds(std::chrono::seconds(1));
constexpr std::size_t most_listed = 16, most_behind = 4;

std::string name_of(const pending_command& which) {
    return "transfer " + std::to_string(which.number) + " (" + which.label.name + ")";
}

/// By number, the command at the front of what holds each one back; itself if nothing does.
std::map<std::uint64_t, std::uint64_t> fronts(const std::vector<pending_command>& pending) {
    std::map<std::uint64_t, std::uint64_t> front;
    std::map<const void*, std::uint64_t> of_queue; // of its last command
    for (const auto& each : pending) {
        auto& own = front[each.number];
        own = each.number;
        const auto stands_behind = [&](std::uint64_t other) { own = std::min(own, other); };
        for (const auto before : each.waits_for)
            if (const auto found = front.find(before); found != front.end()) stands_behind(found->second);
        for (const auto* const queue : each.label.queues)
            if (const auto found = of_queue.find(queue); found != of_queue.end() && !each.has_started)
                stands_behind(found->second);
        for (const auto* const queue : each.label.queues)
            if (queue != nullptr) of_queue[queue] = own;
    }
    return front;
}

} // namespace

std::string describe_stall(const std::vector<pending_command>& pending) {
    const auto front = fronts(pending);
    std::string text;
    std::size_t listed = 0, unlisted = 0, elsewhere = 0;
    for (const auto& each : pending) {
        if (!each.is_held_up()) {
            const auto first = front.at(each.number);
            const auto found = std::find_if(pending.begin(), pending.end(),
                                            [&](const auto& one) { return one.number == first; });
            elsewhere += found->is_held_up() ? 0 : 1;
            continue;
        }
        if (listed++ >= most_listed) {
            ++unlisted;
            continue;
        }
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(each.age).count();
        text += "\n  " + name_of(each) + " waits for " + each.partner + ", for " + std::to_string(seconds) + " s";
        std::size_t behind = 0;
        for (const auto& other : pending) {
            if (other.number == each.number || front.at(other.number) != each.number) continue;
            if (++behind > most_behind) continue;
            text += "\n    behind it: " + name_of(other) +
                    (other.partner.empty() ? "" : ", which then waits for " + other.partner);
        }
        if (behind > most_behind) text += "\n    and " + std::to_string(behind - most_behind) + " more";
    }
    if (unlisted > 0) text += "\n  " + std::to_string(unlisted) + " more wait for others";
    if (!text.empty() && elsewhere > 0) text += "\n  " + std::to_string(elsewhere) + " wait for events or for data";
    return text;
}

void stall_watch::moved(time_point now) {
    if (m_was_told) m_patience = std::max(m_patience, 2 * (now - m_moved));
    m_moved = now;
    m_recorded_after = nanoseconds(0);
    m_asked = m_was_told = false;
}

time_point stall_watch::due(nanoseconds limit) const { return m_moved + std::max(limit, m_patience); }

bool stall_watch::is_to_record(time_point now) {
    const auto stalled = now - m_moved;
    if (stalled < std::max(first_record, 2 * m_recorded_after)) return false;
    m_recorded_after = stalled;
    return true;
}

bool stall_watch::is_to_tell(time_point now, nanoseconds limit) {
    if (m_asked || limit.count() == 0 || now < due(limit)) return false;
    m_asked = true;
    return true;
}

time_point stall_watch::next(nanoseconds limit) const {
    const auto recording = m_moved + std::max(first_record, 2 * m_recorded_after);
    return m_asked || limit.count() == 0 ? recording : std::min(recording, due(limit));
}

} // namespace causeway::transfer
