// SPDX-License-Identifier: Apache-2.0
// Whether processes of other nodes are alive, without their help.
#pragma once

#include "base/descriptor.hpp"
#include "comm/local_socket.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace causeway::comm {

/// Where a process listens in the network, and a key that proves that it is the process meant.
struct network_address {
    static constexpr std::size_t most = 8;
    socket_key key; ///< who connects says the upper half and hears the lower one
    std::uint16_t port = 0; ///< 0 if it does not listen
    std::uint32_t count = 0;
    std::array<std::uint32_t, most> addresses{}; ///< IPv4, in the order of the network
};

/// Each process connects to each other one that it watches, over TCP, and keeps the connection. The kernel closes it
/// when the process at its other end is gone, and asks a node that is silent for a sign of life (SO_KEEPALIVE), so that
/// one without power is found, too, and a process that is busy or stopped is not taken for dead.
class distant_watch {
  public:
    /// Listens. Without a network nobody is ever gone.
    distant_watch();

    [[nodiscard]] const network_address& address() const { return m_address; }
    /// Connects to those of `all`, by rank, that `far` names, while each of them does so, too. Warns of those that it
    /// does not reach within `limit`: they are never gone.
    void connect(const std::vector<network_address>& all, int own, const std::vector<bool>& far,
                 std::chrono::milliseconds limit = std::chrono::seconds(10));
    /// True once that rank has ended, or its node has been silent for a minute, unless it called leave() before. Never
    /// blocks. One thread at a time.
    [[nodiscard]] bool is_gone(int rank);
    /// Tells the others that this process may end from now on. May run at the same time as is_gone().
    void leave();

  private:
    struct attempt;
    void greet(std::vector<descriptor>& strangers, std::vector<bool>& has_come);

    network_address m_address;
    descriptor m_listener;
    std::vector<descriptor> m_watching; // by rank; none for those that are near, not reached, or have left
    std::vector<bool> m_gone; // by rank
    std::vector<descriptor> m_watched_by;
};

} // namespace causeway::comm
