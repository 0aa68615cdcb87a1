// SPDX-License-Identifier: Apache-2.0
// Notes to other ranks of the node, with file descriptors if need be.
#pragma once

#include "comm/local_socket.hpp"

#include <poll.h>

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace causeway::comm {

/// A note goes over a packet socket of the other rank (unix(7), SCM_RIGHTS), and the kernel keeps it until it is read.
/// So nobody waits, no communicator has to last until then, and nothing is left behind. Both ends check that the other
/// belongs to their own user first. Engine's thread only.
class node_post {
  public:
    static constexpr std::size_t largest_text = 128;
    struct note {
        int from = -1; ///< rank, as it says itself
        std::vector<std::byte> text;
        descriptor enclosed;
    };
    /// `later`: the other rank has not taken earlier notes yet. `never`: it cannot be reached.
    enum class delivery { done, later, never };

    /// Listens under `key`, as rank `own_rank`.
    node_post(const socket_key& key, int own_rank);

    /// The key of another rank, which it has told through MPI. The first one counts.
    void know(int rank, const socket_key& key) { m_keys.emplace(rank, key); }

    /// Sends `text`, of at most largest_text, and a copy of `enclosed`, if that is a descriptor, to a rank whose key is
    /// known or that has sent notes itself.
    [[nodiscard]] delivery send(int rank, std::span<const std::byte> text, int enclosed = -1);
    /// The next note, in the order in which each rank has sent them.
    [[nodiscard]] std::optional<note> take();

  private:
    struct line {
        descriptor socket;
        int rank = -1; // -1: has not said
        bool takes_ours = true; // we send over it; false for a second line to one rank, so that notes keep their order
    };
    using lines = std::list<line>;

    void accept_lines();
    [[nodiscard]] lines::iterator line_to(int rank);
    [[nodiscard]] delivery open_line(int rank);
    /// The next note of a line. A malformed note closes the line.
    [[nodiscard]] std::optional<note> take_from(lines::iterator which);

    int m_own_rank;
    descriptor m_listener;
    std::map<int, socket_key> m_keys; // by rank
    lines m_lines;
    std::vector<pollfd> m_asked; // kept for its memory
};

} // namespace causeway::comm
