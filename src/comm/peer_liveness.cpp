// SPDX-License-Identifier: Apache-2.0
// Sockets that are only there to be closed by the kernel.
#include "comm/peer_liveness.hpp"

#include "base/launch.hpp"
#include "comm/abstract_address.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>

namespace causeway::comm {

namespace {

std::string name_of_machine() {
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    // Two copies of one virtual machine have the same boot, but hardly the same name.
    utsname host{};
    (void)::uname(&host);
    return boot + "/" + host.nodename;
}

descriptor new_socket() { return descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

} // namespace

std::uint64_t peer_liveness::node() {
    struct stat network {};
    if (::stat("/proc/self/ns/net", &network) != 0) network.st_ino = 0;
    auto seen = name_of_machine();
    for (const auto& part : {std::to_string(network.st_ino), std::to_string(::getuid()), launch::job()}) seen += "/" + part;
    return std::hash<std::string>{}(seen);
}

std::uint64_t peer_liveness::machine() { return std::hash<std::string>{}(name_of_machine()); }

peer_liveness::peer_liveness(std::string job, int own_rank) : m_job(std::move(job)) {
    const abstract_address own("causeway", m_job, own_rank);
    auto made = new_socket();
    if (made.get() >= 0 && ::bind(made.get(), own.get(), own.length) == 0 && ::listen(made.get(), SOMAXCONN) == 0)
        m_listener = std::move(made);
}

bool peer_liveness::connect_to(int rank) {
    auto connection = new_socket();
    if (connection.get() < 0) return false;
    const abstract_address other("causeway", m_job, rank);
    if (::connect(connection.get(), other.get(), other.length) == 0) {
        m_connections.emplace(rank, std::move(connection));
        return true;
    }
    const bool refused = errno == ECONNREFUSED;
    // Nobody listens: not yet, on another node, or no longer; only for a rank that we have met it is the last.
    if (refused && m_met.count(rank) != 0) m_gone.insert(rank);
    return false;
}

bool peer_liveness::is_gone(int rank) {
    if (m_gone.count(rank) != 0) return true;
    const auto known = m_connections.find(rank);
    if (known == m_connections.end()) {
        (void)connect_to(rank);
        return m_gone.count(rank) != 0;
    }
    pollfd end{known->second.get(), POLLIN, 0};
    if (::poll(&end, 1, 0) <= 0 || (end.revents & (POLLHUP | POLLERR | POLLIN)) == 0) return false;
    m_connections.erase(known);
    m_gone.insert(rank);
    return true;
}

} // namespace causeway::comm
