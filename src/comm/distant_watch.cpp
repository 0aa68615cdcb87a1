// SPDX-License-Identifier: Apache-2.0
// TCP connections that are only there to be closed by the kernel.
#include "comm/distant_watch.hpp"

#include "base/error.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

namespace causeway::comm {

namespace {

struct greeting {
    std::uint64_t key;
    std::int32_t rank;
    std::int32_t unused;
};

descriptor new_socket() { return descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

sockaddr_in internet(std::uint32_t address, std::uint16_t port) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_addr.s_addr = address;
    made.sin_port = htons(port);
    return made;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// Connections by which others watch this process, of watches that are no more. Only the end of the process closes one
/// before its other side has.
class kept_connections {
  public:
    static kept_connections& of_process() {
        static auto& one = *new kept_connections; // as long as the process
        return one;
    }
    void add(std::vector<descriptor> more) {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_all, [](const descriptor& each) {
            pollfd closed{each.get(), POLLIN, 0}; // nobody says anything
            return ::poll(&closed, 1, 0) > 0;
        });
        std::move(more.begin(), more.end(), std::back_inserter(m_all));
    }

  private:
    std::mutex m_mutex; // guards m_all
    std::vector<descriptor> m_all;
};

/// A minute of silence in all.
void ask_for_signs_of_life(const descriptor& socket) {
    const auto set = [&](int level, int name, int value) {
        (void)::setsockopt(socket.get(), level, name, &value, sizeof value);
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 20);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

} // namespace

/// One way to a process, as it has several addresses.
struct distant_watch::attempt {
    int rank;
    descriptor socket;
    bool has_greeted = false;
};

distant_watch::distant_watch() {
    auto listener = new_socket();
    auto where = internet(INADDR_ANY, 0);
    socklen_t size = sizeof where;
    auto* const name = reinterpret_cast<sockaddr*>(&where);
    if (listener.get() < 0 || ::bind(listener.get(), name, size) != 0 || ::listen(listener.get(), SOMAXCONN) != 0 ||
        ::getsockname(listener.get(), name, &size) != 0)
        return;
    ifaddrs* interfaces = nullptr;
    if (::getifaddrs(&interfaces) != 0) return;
    // Those that lead to other nodes first.
    for (const unsigned loops : {0u, unsigned{IFF_LOOPBACK}})
        for (const auto* each = interfaces; each != nullptr; each = each->ifa_next) {
            if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET || (each->ifa_flags & IFF_UP) == 0 ||
                (each->ifa_flags & IFF_LOOPBACK) != loops || m_address.count == network_address::most)
                continue;
            m_address.addresses[m_address.count++] = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)
                                                         ->sin_addr.s_addr;
        }
    ::freeifaddrs(interfaces);
    m_address.key = socket_key::make();
    m_address.port = ntohs(where.sin_port);
    m_listener = std::move(listener);
}

distant_watch::~distant_watch() { kept_connections::of_process().add(std::move(m_watched_by)); }

void distant_watch::connect(const std::vector<network_address>& all, int own, const std::vector<bool>& far,
                            std::chrono::milliseconds limit) {
    m_watching.resize(all.size());
    m_known.assign(all.size(), {});
    std::vector<attempt> attempts;
    std::vector<bool> has_come(all.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (!far[rank]) has_come[rank] = true;
        for (std::uint32_t i = 0; far[rank] && i < all[rank].count; ++i) {
            auto socket = new_socket();
            const auto where = internet(all[rank].addresses[i], all[rank].port);
            if (socket.get() >= 0 &&
                (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0 ||
                 errno == EINPROGRESS))
                attempts.push_back({static_cast<int>(rank), std::move(socket)});
        }
    }
    const auto is_reached = [&](const attempt& each) {
        return m_watching[static_cast<std::size_t>(each.rank)].get() >= 0;
    };
    /// Whether it is over.
    const auto advance = [&](attempt& each) {
        const auto& key = all[static_cast<std::size_t>(each.rank)].key;
        if (is_reached(each)) return true;
        if (!each.has_greeted) {
            pollfd ready{each.socket.get(), POLLOUT, 0};
            if (::poll(&ready, 1, 0) <= 0) return false;
            const greeting said{key.high, own, 0};
            // So few bytes go in one piece, or not at all.
            if (::send(each.socket.get(), &said, sizeof said, MSG_NOSIGNAL) != sizeof said) return true;
            each.has_greeted = true;
        }
        std::uint64_t heard = 0;
        const auto got = ::recv(each.socket.get(), &heard, sizeof heard, MSG_PEEK);
        if (got < 0 && would_block()) return false;
        if (got > 0 && got < static_cast<ssize_t>(sizeof heard)) return false;
        if (got != sizeof heard || heard != key.low) return true; // another process
        (void)::recv(each.socket.get(), &heard, sizeof heard, 0);
        ask_for_signs_of_life(each.socket);
        m_watching[static_cast<std::size_t>(each.rank)] = std::move(each.socket);
        return true;
    };
    std::vector<descriptor> strangers;
    const auto end = std::chrono::steady_clock::now() + limit;
    const auto is_over = [&] {
        return attempts.empty() && std::find(has_come.begin(), has_come.end(), false) == has_come.end();
    };
    while (!is_over() && std::chrono::steady_clock::now() < end) {
        greet(strangers, has_come);
        std::erase_if(attempts, advance);
        std::vector<pollfd> all_sockets{{m_listener.get(), POLLIN, 0}};
        for (const auto& each : strangers) all_sockets.push_back({each.get(), POLLIN, 0});
        for (const auto& each : attempts)
            all_sockets.push_back({each.socket.get(), static_cast<short>(each.has_greeted ? POLLIN : POLLOUT), 0});
        if (!is_over()) (void)::poll(all_sockets.data(), all_sockets.size(), 10);
    }
    (void)m_listener.close();
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (far[rank] && m_watching[rank].get() < 0)
            warn_once("rank " + std::to_string(rank) +
                      ", on another node, is not reached over TCP: if it dies, only "
                      "the launcher notices");
}

/// Takes those who connect, and keeps who knows the key.
void distant_watch::greet(std::vector<descriptor>& strangers, std::vector<bool>& has_come) {
    while (m_listener.get() >= 0) {
        descriptor taken(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (taken.get() < 0) break;
        strangers.push_back(std::move(taken));
    }
    std::erase_if(strangers, [&](descriptor& each) {
        greeting heard{};
        const auto got = ::recv(each.get(), &heard, sizeof heard, MSG_PEEK);
        if (got < 0 ? would_block() : got > 0 && got < static_cast<ssize_t>(sizeof heard)) return false;
        const auto rank = static_cast<std::size_t>(heard.rank);
        if (got != sizeof heard || heard.key != m_address.key.high || rank >= has_come.size()) return true;
        (void)::recv(each.get(), &heard, sizeof heard, 0);
        if (::send(each.get(), &m_address.key.low, sizeof m_address.key.low, MSG_NOSIGNAL) < 0) return true;
        m_watched_by.push_back(std::move(each));
        has_come[rank] = true;
        return true;
    });
}

void distant_watch::hear(std::size_t rank) {
    auto& socket = m_watching[rank];
    auto& about = m_known[rank];
    while (socket.get() >= 0) {
        word heard{};
        const auto got = ::recv(socket.get(), &heard, sizeof heard, 0);
        if (got < 0 && would_block()) return;
        if (got > 0) {
            about.has_left = true;
            about.has_given_up |= heard == word::gives_up;
        } else {
            (got == 0 ? about.has_ended : about.is_out_of_reach) = true;
            (void)socket.close();
        }
    }
}

distant_watch::known distant_watch::known_of(int rank) {
    const auto which = static_cast<std::size_t>(rank);
    if (which >= m_watching.size()) return {};
    hear(which);
    return m_known[which];
}

bool distant_watch::has_ended(int rank) { return known_of(rank).has_ended; }

bool distant_watch::is_out_of_reach(int rank) { return known_of(rank).is_out_of_reach; }

bool distant_watch::has_given_up(int rank) { return known_of(rank).has_given_up; }

bool distant_watch::is_gone(int rank) {
    const auto about = known_of(rank);
    return (about.has_ended || about.is_out_of_reach) && !about.has_left;
}

void distant_watch::say(word what) {
    for (const auto& each : m_watched_by) (void)::send(each.get(), &what, sizeof what, MSG_NOSIGNAL);
}

} // namespace causeway::comm
