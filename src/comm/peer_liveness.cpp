// SPDX-License-Identifier: Apache-2.0
// Sockets that are only there to be closed by the kernel.
#include "comm/peer_liveness.hpp"

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/launch.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <utility>

namespace causeway::comm {

namespace {

constexpr const char* use = "causeway";

} // namespace

std::uint64_t peer_liveness::node() {
    struct stat network{};
    if (::stat("/proc/self/ns/net", &network) != 0) network.st_ino = 0;
    auto seen = host_identity();
    for (const auto& part : {std::to_string(network.st_ino), std::to_string(::getuid()), launch::job()})
        seen += "/" + part;
    return std::hash<std::string>{}(seen);
}

peer_liveness::peer_liveness(std::string job, int own_rank, const socket_key& key) : m_job(std::move(job)), m_key(key) {
    m_listener = listen_at(abstract_address(use, m_key), SOCK_STREAM);
    const abstract_address guessed(use, m_job, own_rank);
    m_first_listener = listen_at(guessed, SOCK_STREAM);
    if (m_first_listener.get() < 0 && connect_to(guessed, SOCK_STREAM).from == answer::stranger)
        warn_once(
            "another user holds the name of the socket by which ranks of this node that have not heard from rank " +
            std::to_string(own_rank) +
            " yet would notice its end: they wait on if it dies before it has sent them anything");
}

void peer_liveness::look_for(int rank) {
    const auto known = m_keys.find(rank);
    const bool is_met = known != m_keys.end();
    auto found = connect_to(is_met ? abstract_address(use, known->second) : abstract_address(use, m_job, rank),
                            SOCK_STREAM);
    if (found.from == answer::own_user) {
        m_connections.emplace(rank, std::move(found.socket));
    } else if (is_met && found.from != answer::not_now) {
        // It had the name when it told it. A name that can be guessed says nothing: the rank may not have come to it
        // yet, be on another node, or have found it taken.
        m_gone.insert(rank);
    }
}

void peer_liveness::take_connections(const descriptor& listener) {
    // Somebody may connect again and again: he does not get more of this thread.
    constexpr int most = 64;
    for (int i = 0; i < most && listener.get() >= 0; ++i) {
        descriptor taken(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (taken.get() < 0) return;
        if (is_of_own_user(taken)) m_taken.push_back(std::move(taken));
    }
}

bool peer_liveness::is_gone(int rank) {
    take_connections(m_listener);
    take_connections(m_first_listener);
    if (m_gone.count(rank) != 0) return true;
    const auto known = m_connections.find(rank);
    if (known == m_connections.end()) {
        look_for(rank);
        return m_gone.count(rank) != 0;
    }
    pollfd end{known->second.get(), POLLIN, 0};
    if (::poll(&end, 1, 0) <= 0 || (end.revents & (POLLHUP | POLLERR | POLLIN)) == 0) return false;
    m_connections.erase(known);
    m_gone.insert(rank);
    return true;
}

} // namespace causeway::comm
