// SPDX-License-Identifier: Apache-2.0
// Keeps the quickest header of each direction for a while.
#include "endpoints/mpi/peer_clocks.hpp"

#include <chrono>

namespace causeway::endpoints {

namespace {

/// Two clocks part by some 20 microseconds in each second.
constexpr std::int64_t while_it_holds = 2'000'000'000;

/// 73 years in nanoseconds; sums of a few such times do not overflow.
constexpr std::int64_t longest = std::int64_t{1} << 61;

bool is_less(std::int64_t candidate, std::int64_t known) { return known == 0 || candidate < known; }

} // namespace

std::int64_t peer_clocks::now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(m_to.now().time_since_epoch()).count();
}

bool peer_clocks::holds(const estimate& known, std::int64_t now) {
    return known.begun != 0 && now - known.begun <= while_it_holds;
}

std::int64_t peer_clocks::least_transit(int job_rank) const {
    const auto found = m_peers.find(job_rank);
    return found != m_peers.end() && holds(found->second, now()) ? found->second.from : 0;
}

void peer_clocks::add(int job_rank, std::int64_t sent_at, std::int64_t least_transit) {
    if (sent_at == 0) return; // the other rank records nothing
    const auto is_time = [](std::int64_t told) { return told > -longest && told < longest; };
    if (!is_time(sent_at) || !is_time(least_transit)) return;
    const auto now = this->now();
    auto& known = m_peers[job_rank];
    if (!holds(known, now)) known = {.begun = now};
    bool is_better = false;
    if (const auto took = now - sent_at; took != 0 && is_less(took, known.from)) {
        known.from = took;
        is_better = true;
    }
    if (least_transit != 0 && is_less(least_transit, known.to)) {
        known.to = least_transit;
        is_better = true;
    }
    if (!is_better || known.from == 0 || known.to == 0) return;
    // No header has come before it was sent.
    m_to.peer_seen({job_rank, -known.from, known.to, m_to.now()});
}

} // namespace causeway::endpoints
