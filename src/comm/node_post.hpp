// SPDX-License-Identifier: Apache-2.0
// Notes to other ranks of the node, with file descriptors if need be.
#pragma once

#include "base/descriptor.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace causeway::comm {

/// Every process has a socket of datagrams in Linux's abstract namespace, under a name that its peers can tell; a note is
/// sent there (unix(7), SCM_RIGHTS), and the kernel keeps it until it is taken. So nobody waits for anybody, no communicator
/// has to last until a note is read, and nothing is left behind. Only processes of the same user are heard. Engine's thread
/// only.
class node_post {
  public:
    static constexpr std::size_t largest_text = 128;
    struct note {
        std::vector<std::byte> text;
        descriptor enclosed;
    };
    /// `later`: the other has not taken the ones before.
    enum class delivery { done, later, never };

    node_post(const std::string& job, int own_rank);

    /// Sends `text`, of at most largest_text, and a copy of `enclosed`, if that is a descriptor, to a rank of the job.
    [[nodiscard]] delivery send(int rank, std::span<const std::byte> text, int enclosed = -1);
    /// The next note, in the order in which each rank has sent them.
    [[nodiscard]] std::optional<note> take();

  private:
    std::string m_job;
    descriptor m_socket;
};

} // namespace causeway::comm
