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

/// Keeps a TCP connection to each process that it watches. The kernel alone closes it, when the other process ends, and
/// probes a silent node (SO_KEEPALIVE). So a node without power is found, too, and a busy or stopped process is not
/// taken for dead.
class distant_watch {
  public:
    /// Begins to listen. Without a network no process is ever found gone.
    distant_watch();
    /// The others do not take this for the end of the process.
    ~distant_watch();
    distant_watch(const distant_watch&) = delete;
    distant_watch& operator=(const distant_watch&) = delete;

    [[nodiscard]] const network_address& address() const { return m_address; }
    /// Connects to the ranks of `all` that `far` names; all of them call this at the same time. Warns of those that it
    /// does not reach within `limit`: they are never found gone.
    void connect(const std::vector<network_address>& all, int own, const std::vector<bool>& far,
                 std::chrono::milliseconds limit = std::chrono::seconds(10));
    // Of another rank. They never block. One thread at a time.
    /// True once it has ended or is out of reach, unless it called leave() or give_up() before.
    [[nodiscard]] bool is_gone(int rank);
    /// True once its process has ended, whatever it called before.
    [[nodiscard]] bool has_ended(int rank);
    /// True once its connection is broken, or its node has been silent for a minute. It may be dead or alive.
    [[nodiscard]] bool is_out_of_reach(int rank);
    /// True once it has called give_up().
    [[nodiscard]] bool has_given_up(int rank);

    // These tell the others. They may run at the same time as those above.
    /// This process may end from now on.
    void leave() { say(word::leaves); }
    /// Nothing more is to be expected of this process, which may live on.
    void give_up() { say(word::gives_up); }

  private:
    struct attempt;
    enum class word : std::uint8_t { leaves = 1, gives_up = 2 };
    void greet(std::vector<descriptor>& strangers, std::vector<bool>& has_come);
    void say(word what);
    void hear(std::size_t rank);
    struct known {
        bool has_ended = false, is_out_of_reach = false, has_left = false, has_given_up = false;
    };
    /// What is known of a rank now; nothing if it is not watched.
    [[nodiscard]] known known_of(int rank);

    network_address m_address;
    descriptor m_listener;
    std::vector<descriptor> m_watching; // by rank; none for those that are near, not reached, or have ended
    std::vector<known> m_known; // by rank
    std::vector<descriptor> m_watched_by;
};

} // namespace causeway::comm
