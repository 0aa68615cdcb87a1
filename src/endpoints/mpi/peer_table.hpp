// SPDX-License-Identifier: Apache-2.0
// What a rank knows of the others: where they are, which memory their messages come from, and who cannot share memory.
#pragma once

#include "base/options.hpp"
#include "comm/port.hpp"
#include "endpoints/mpi/network_pace.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace causeway::endpoints {

/// What an end of a message is. The rank that plans the blocks of the message needs it.
enum class end_kind : std::uint8_t { host, device, device_that_maps_at_once };

/// One for each messenger; engine's thread only.
class peer_table {
  public:
    /// A rank of a space that has sent a header.
    struct peer {
        bool on_node = true, is_met = false;
        /// Its end of the last message from it, and of the last to it.
        end_kind sends = end_kind::host, receives = end_kind::host;
        network_pace pace;
    };

    /// The options and the port outlive it.
    peer_table(const options& settings, comm::port& port) : m_options(settings), m_port(port) {}

    [[nodiscard]] peer& heard_from(int space, int rank) { return m_peers[{space, rank}]; }
    /// The communicator is freed: forgets its ranks.
    void close(int space);

    /// The tuner's resource for messages with `peer`; empty until it has sent a header. Lives as long as this.
    [[nodiscard]] std::string_view resource_of(int space, int peer) const;
    /// The kind of `peer`'s end of the last message to it or from it, if `peer` is on this node and can share memory;
    /// else host. For any_source: the least able end of all ranks known.
    [[nodiscard]] end_kind near_receiver(int space, int peer) { return near(space, peer, &peer::receives); }
    [[nodiscard]] end_kind near_sender(int space, int peer) { return near(space, peer, &peer::sends); }
    /// Tell the network_pace of `peer` that a block has come from it (came()), or all blocks of one message (saw()).
    [[nodiscard]] std::uint64_t block_came(int space, int peer, std::size_t bytes);
    void blocks_came(int space, int peer, std::uint64_t bytes, std::chrono::nanoseconds took);

    /// `peer` cannot map this process's memory: its next 16 messages go without windows. Each further call doubles that
    /// number.
    void cannot_share(int space, int peer);
    /// This rank cannot map the memory of `peer`: messages of devices that use host memory are planned without windows
    /// for a while.
    void cannot_reach(int space, int peer);
    /// Whether a message from a rank of the job may come by a window. Counts that message.
    [[nodiscard]] bool may_share(int job_rank);

  private:
    /// Counts messages that go without windows.
    struct out_of_reach {
        unsigned left = 0, next = 16;
        void begin(); // twice as many as the last time
    };
    [[nodiscard]] end_kind near(int space, int peer, end_kind peer::* which);

    const options& m_options;
    comm::port& m_port;
    std::map<std::pair<int, int>, peer> m_peers; // by space and rank
    std::map<int, out_of_reach> m_unshared; // ranks of the job that cannot map our memory
    std::map<int, out_of_reach> m_apart; // ranks of the job whose messages are planned without windows, because one of
                                         // the two cannot map
    std::string m_node_resource = "ranks of a node, " + std::string(m_port.library());
    std::string m_network_resource = "ranks of other nodes, " + std::string(m_port.library());
};

} // namespace causeway::endpoints
