// SPDX-License-Identifier: Apache-2.0
// Whether other ranks of this node are alive, without their help.
#pragma once

#include "base/descriptor.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace causeway::comm {

/// Every process listens on a socket in Linux's abstract namespace, under a name that its peers can tell; they connect and
/// keep the connection. Nobody accepts or sends: when the process is gone, however it went, the kernel closes the
/// socket and the peers see it. Nothing is left behind, as no name is in a file system. Engine's thread only.
class peer_liveness {
  public:
    peer_liveness(std::string job, int own_rank);

    /// False if no socket can be had: others must not take that for a rank that is gone.
    [[nodiscard]] bool listens() const { return m_listener.get() >= 0; }
    /// True if the rank was seen on this node and is gone. Never blocks.
    [[nodiscard]] bool is_gone(int rank);
    /// A message of the rank came from this node.
    void met(int rank) { m_met.insert(rank); }

    /// Equal only for processes that see one another's sockets, under names that both can tell: one that is met there,
    /// and does not listen any more, is gone.
    [[nodiscard]] static std::uint64_t node();

    /// Equal for processes whose monotonic clock is the same, of whatever job.
    [[nodiscard]] static std::uint64_t machine();

  private:
    [[nodiscard]] bool connect_to(int rank);

    std::string m_job;
    descriptor m_listener;
    std::map<int, descriptor> m_connections; // by rank
    std::set<int> m_met;
    std::set<int> m_gone;
};

} // namespace causeway::comm
