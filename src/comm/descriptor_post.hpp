// SPDX-License-Identifier: Apache-2.0
// Hands file descriptors to other ranks of the node.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace causeway::comm {

/// Every process has a socket of datagrams in Linux's abstract namespace, under a name that its peers can tell; who hands
/// out a descriptor sends it there (unix(7), SCM_RIGHTS), and the kernel keeps it until it is taken. So nobody waits for
/// anybody, and nothing is left behind. Only processes of the same user are heard. Engine's thread only.
class descriptor_post {
  public:
    descriptor_post(const std::string& job, int own_rank);
    ~descriptor_post();
    descriptor_post(const descriptor_post&) = delete;
    descriptor_post& operator=(const descriptor_post&) = delete;

    /// Sends a copy of `descriptor` to a rank of the job, under a number that no other has. False if it cannot be reached,
    /// or has not taken the ones before.
    [[nodiscard]] bool send(int rank, std::uint64_t key, int descriptor);
    /// What was sent under `key`, or -1; the caller closes it.
    [[nodiscard]] int take(std::uint64_t key);

  private:
    void collect();

    std::string m_job;
    int m_socket = -1;
    std::map<std::uint64_t, int> m_arrived;
};

} // namespace causeway::comm
