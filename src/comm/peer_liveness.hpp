// SPDX-License-Identifier: Apache-2.0
// Whether other ranks of this node are alive, without their help.
#pragma once

#include "comm/local_socket.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace causeway::comm {

/// Every process listens on a socket in Linux's abstract namespace, whose name has its key. Ranks tell each other their
/// keys, connect and keep the connection. Nobody sends: when a process is gone, the kernel closes the socket and the
/// peers see it. A rank accepts connections whenever it looks for others, and closes those of other users, so that
/// these do not fill the queue. Nothing is left behind, as no name is in a file system.
///
/// A second socket has a name that ranks know before they have heard of each other; another user can take it first. So
/// nothing follows if no socket of this user answers there. Engine's thread only.
class peer_liveness {
  public:
    /// Warns if another user has taken the second name.
    peer_liveness(std::string job, int own_rank, const socket_key& key);

    /// False if this process could not open its socket: others must not conclude that it is gone.
    [[nodiscard]] bool listens() const { return m_listener.get() >= 0; }
    [[nodiscard]] const socket_key& key() const { return m_key; }
    /// True if the rank was seen on this node and is gone. Never blocks.
    [[nodiscard]] bool is_gone(int rank);
    /// A message of the rank, with its key, came from this node. The first key counts.
    void met(int rank, const socket_key& key) {
        if (key) m_keys.emplace(rank, key);
    }

    /// A hash of machine, network namespace, user and job: equal only for ranks that reach each other's abstract
    /// sockets. A rank that was met there and no longer listens is gone.
    [[nodiscard]] static std::uint64_t node();

  private:
    void look_for(int rank);
    void take_connections(const descriptor& listener);

    std::string m_job;
    socket_key m_key;
    descriptor m_listener, m_first_listener; // the second has the name that can be guessed
    std::map<int, socket_key> m_keys; // of ranks that were met
    std::map<int, descriptor> m_connections; // by rank
    std::vector<descriptor> m_taken; // connections of the ranks that watch this one
    std::set<int> m_gone;
};

} // namespace causeway::comm
