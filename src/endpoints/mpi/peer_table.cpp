// SPDX-License-Identifier: Apache-2.0
// Goes by the last header of each rank.
#include "endpoints/mpi/peer_table.hpp"

#include "base/error.hpp"
#include "transfer/tuner/tuner.hpp"

#include <algorithm>

namespace causeway::endpoints {

void peer_table::close(int space) {
    std::erase_if(m_peers, [&](const auto& each) { return each.first.first == space; });
}

std::string_view peer_table::resource_of(int space, int peer) const {
    const auto known = m_peers.find({space, peer});
    if (known == m_peers.end() || m_port.library().empty()) return {};
    return known->second.on_node ? m_node_resource : m_network_resource;
}

end_kind peer_table::near(int space, int rank, end_kind peer::* which) {
    const auto apart = [&](int other) { return m_apart.find(m_port.job_rank(space, other)); };
    const auto kind_of = [which](const peer& one) { return one.on_node ? one.*which : end_kind::host; };
    if (rank == comm::any_source) {
        const auto first = m_peers.lower_bound({space, 0}), end = m_peers.lower_bound({space + 1, 0});
        if (first == end) return end_kind::host;
        auto least = kind_of(first->second);
        for (auto each = first; each != end; ++each) {
            const auto found = apart(each->first.second);
            const bool is_apart = found != m_apart.end() && found->second.left != 0;
            least = std::min(least, is_apart ? end_kind::host : kind_of(each->second));
        }
        return least;
    }
    const auto known = m_peers.find({space, rank});
    if (known == m_peers.end() || kind_of(known->second) == end_kind::host) return end_kind::host;
    const auto found = apart(rank);
    if (found == m_apart.end() || found->second.left == 0) return kind_of(known->second);
    --found->second.left;
    return end_kind::host;
}

std::uint64_t peer_table::block_came(int space, int peer, std::size_t bytes) {
    const auto known = m_peers.find({space, peer});
    return known == m_peers.end() || known->second.on_node ? 0 : known->second.pace.came(bytes);
}

void peer_table::blocks_came(int space, int peer, std::uint64_t bytes, std::chrono::nanoseconds took) {
    if (static_cast<transfer::tuner_mode>(m_options[option::tuner]) != transfer::tuner_mode::automatic) return;
    const auto known = m_peers.find({space, peer});
    if (known != m_peers.end() && !known->second.on_node) known->second.pace.saw(bytes, took);
}

void peer_table::cannot_share(int space, int peer) {
    const int who = m_port.job_rank(space, peer);
    warn_once("messages from rank " + std::to_string(who) +
              " of this node go through MPI, which is slower: it cannot map this process's memory");
    m_unshared[who].begin();
    cannot_reach(space, peer);
}

void peer_table::cannot_reach(int space, int peer) { m_apart[m_port.job_rank(space, peer)].begin(); }

void peer_table::out_of_reach::begin() {
    constexpr unsigned most = 1 << 16;
    if (left > 0) return; // of several under way the first one counts
    left = next;
    next = std::min(2 * next, most);
}

bool peer_table::may_share(int job_rank) {
    const auto known = m_unshared.find(job_rank);
    if (known == m_unshared.end() || known->second.left == 0) return true;
    --known->second.left;
    return false;
}

} // namespace causeway::endpoints
