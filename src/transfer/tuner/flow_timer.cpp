// SPDX-License-Identifier: Apache-2.0
// Sums of times and bytes by company.
#include "transfer/tuner/flow_timer.hpp"

#include <utility>

namespace causeway::transfer {

namespace {

double seconds_of(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

} // namespace

void flow_timer::begin(side where, mark& one) {
    if (m_clock == nullptr) return;
    one = {m_clock->now(), ++at(where).in_flight};
}

void flow_timer::end(side where, mark& one, std::size_t bytes) {
    const auto company = std::exchange(one.company, 0u);
    if (company == 0) return;
    auto& half = at(where);
    const auto left = half.in_flight--;
    if (bytes == 0 || left != company) return;
    auto& group = company == 1 ? half.alone : half.together;
    group.operations += 1;
    group.bytes += static_cast<double>(bytes);
    group.seconds += seconds_of(m_clock->now() - one.begun);
    group.company += company;
}

void flow_timer::begin_map(side where) {
    if (m_clock != nullptr) at(where).map_begun = m_clock->now();
}

void flow_timer::end_map(side where) {
    if (m_clock == nullptr) return;
    at(where).map_seconds += seconds_of(m_clock->now() - at(where).map_begun);
    ++at(where).maps;
}

sample_pair flow_timer::samples(side where) const {
    sample_pair found;
    for (const auto* const group : {&at(where).alone, &at(where).together})
        if (group->operations > 0)
            found.add({group->bytes / group->operations, group->seconds / group->operations,
                       group->company / group->operations});
    return found;
}

sample_pair flow_timer::map_sample(side where, std::size_t map_bytes) const {
    sample_pair found;
    if (at(where).maps == 2) found.add({static_cast<double>(map_bytes), at(where).map_seconds});
    return found;
}

} // namespace causeway::transfer
