// SPDX-License-Identifier: Apache-2.0
// Notices that processes of other nodes have died.
#pragma once

#include "base/descriptor.hpp"
#include "comm/local_socket.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace causeway::comm {

/// Where a process listens, and a key that proves who connects and who answers.
struct network_address {
    static constexpr std::size_t most = 8;
    socket_key key; ///< the connecting process sends the upper half and gets the lower one back
    std::uint16_t port = 0; ///< 0 if it does not listen
    std::uint32_t count = 0;
    std::array<std::uint32_t, most> addresses{}; ///< IPv4, in the order of the network
};

/// Keeps a TCP connection to each process that it watches. The kernel closes it when the other process ends, and probes
/// a silent node (SO_KEEPALIVE). So a node without power is found, too, and a busy or stopped process is not taken for
/// dead.
class distant_watch {
  public:
    /// Begins to listen. Without a network no process is ever found gone.
    distant_watch();

    [[nodiscard]] const network_address& address() const { return m_address; }
    /// Connects to the ranks of `all` that `far` names; all of them call this at the same time. Warns of those that it
    /// does not reach within `limit`: they are never found gone.
    void connect(const std::vector<network_address>& all, int own, const std::vector<bool>& far,
                 std::chrono::milliseconds limit = std::chrono::seconds(10));
    /// True once that rank has ended, or its node has been silent for a minute, unless it called leave() before. Never
    /// blocks. One thread at a time.
    [[nodiscard]] bool is_gone(int rank);
    /// As is_gone(), but true also for a rank that called leave() before it ended.
    [[nodiscard]] bool has_ended(int rank);
    /// Tells the others that this process may end from now on. May run at the same time as is_gone().
    void leave();
    /// Closes the connections: the others then find this process ended. May run at the same time as is_gone().
    void sever();

  private:
    struct attempt;
    void greet(std::vector<descriptor>& strangers, std::vector<bool>& has_come);

    network_address m_address;
    descriptor m_listener;
    std::vector<descriptor> m_watching; // by rank; none for those that are near, not reached, or have ended
    std::vector<bool> m_ended, m_left; // by rank: its connection has ended; it has called leave()
    std::vector<descriptor> m_watched_by;
};

} // namespace causeway::comm
