// SPDX-License-Identifier: Apache-2.0
// Keeps records as long as somebody could ask for them.
#include "runtime/registry.hpp"

#include "cl/calls.hpp"

#include <limits>
#include <vector>

namespace causeway::core {

void event_registry::add(cl::event event, transfer_record record) {
    // A few old entries for each new one keeps the table as small as the program's own set of events.
    sweep(2);
    const std::lock_guard lock(m_mutex);
    const auto key = event.get();
    m_entries.insert_or_assign(key, entry{std::move(event), std::move(record)});
}

transfer_record event_registry::find(cl_event event) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_entries.find(event);
    return found == m_entries.end() ? transfer_record{} : found->second.record;
}

void event_registry::hold(cl::event event) {
    release_ended(2);
    const std::lock_guard lock(m_mutex);
    m_held.push_back(std::move(event));
}

void event_registry::release_ended(std::size_t count) {
    std::list<cl::event> ended;
    const std::lock_guard lock(m_mutex);
    // Those that have not ended go to the end of the list, so that one of them does not keep the others.
    for (auto left = std::min(count, m_held.size()); left > 0; --left) {
        auto& to = cl::status_of(m_held.front().get()) <= CL_COMPLETE ? ended : m_held;
        to.splice(to.end(), m_held, m_held.begin());
    }
}

std::size_t event_registry::sweep(std::size_t count) {
    std::vector<entry> gone;
    const std::lock_guard lock(m_mutex);
    for (auto left = std::min(count, m_entries.size()); left > 0 && !m_entries.empty(); --left) {
        auto next = m_entries.upper_bound(m_swept);
        if (next == m_entries.end()) next = m_entries.begin();
        m_swept = next->first;
        if (!next->second.record.command->complete() || cl::references_of(next->first) != 1) continue;
        gone.push_back(std::move(next->second));
        m_entries.erase(next);
    }
    return gone.size();
}

bool event_registry::trim(time_point now) {
    constexpr std::chrono::milliseconds longest{10000}, shortest{100};
    release_ended(std::numeric_limits<std::size_t>::max());
    if (now >= m_next_sweep) {
        const bool found = sweep(std::numeric_limits<std::size_t>::max()) > 0;
        m_interval = found ? shortest : std::min(2 * m_interval, longest);
        m_next_sweep = now + m_interval;
    }
    const std::lock_guard lock(m_mutex);
    return !m_entries.empty() || !m_held.empty();
}

} // namespace causeway::core
