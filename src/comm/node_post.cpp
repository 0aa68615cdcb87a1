// SPDX-License-Identifier: Apache-2.0
// Connects, sends and takes packets.
#include "comm/node_post.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace causeway::comm {

namespace {

constexpr const char* use = "causeway-post";
/// Strangers who connect again and again hold up nothing else.
constexpr int accepted_at_once = 64;

/// A packet: the sender's rank, a text, and the ancillary data around a descriptor.
struct packet {
    std::int32_t rank = -1;
    std::array<iovec, 2> parts{};
    // Room for more than the one that is sent: what comes along is closed by us, not left.
    alignas(cmsghdr) char ancillary[CMSG_SPACE(4 * sizeof(int))] = {};
    msghdr header{};

    packet(int from, void* text, std::size_t bytes) : rank(from), parts{iovec{&rank, sizeof rank}, iovec{text, bytes}} {
        header.msg_iov = parts.data();
        header.msg_iovlen = parts.size();
        header.msg_control = ancillary;
        header.msg_controllen = sizeof ancillary;
    }
    packet(const packet&) = delete;
    packet& operator=(const packet&) = delete;
};

/// All descriptors that have come with a packet, each with an owner.
std::vector<descriptor> received_with(packet& got) {
    std::vector<descriptor> all;
    for (auto* part = CMSG_FIRSTHDR(&got.header); part != nullptr; part = CMSG_NXTHDR(&got.header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const auto count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
            all.emplace_back(number);
        }
    }
    return all;
}

bool is_full(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ETOOMANYREFS || error == EINTR;
}

} // namespace

node_post::node_post(const socket_key& key, int own_rank)
    : m_own_rank(own_rank), m_listener(listen_at(abstract_address(use, key), SOCK_SEQPACKET)) {}

node_post::lines::iterator node_post::line_to(int rank) {
    return std::find_if(m_lines.begin(), m_lines.end(),
                        [&](const line& each) { return each.rank == rank && each.takes_ours; });
}

node_post::delivery node_post::open_line(int rank) {
    const auto known = m_keys.find(rank);
    if (known == m_keys.end()) return delivery::never;
    auto made = connect_to(abstract_address(use, known->second), SOCK_SEQPACKET);
    if (made.from == answer::not_now) return delivery::later;
    if (made.from != answer::own_user) return delivery::never;
    m_lines.push_back({std::move(made.socket), rank});
    return delivery::done;
}

node_post::delivery node_post::send(int rank, std::span<const std::byte> text, int enclosed) {
    auto to = line_to(rank);
    if (to == m_lines.end()) {
        if (const auto result = open_line(rank); result != delivery::done) return result;
        to = std::prev(m_lines.end());
    }
    packet sent(m_own_rank, const_cast<std::byte*>(text.data()), text.size()); // sendmsg(2) only reads it
    sent.header.msg_controllen = enclosed < 0 ? 0 : CMSG_SPACE(sizeof(int));
    if (enclosed >= 0) {
        auto* const rights = CMSG_FIRSTHDR(&sent.header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &enclosed, sizeof enclosed);
    }
    if (::sendmsg(to->socket.get(), &sent.header, MSG_NOSIGNAL) >= 0) return delivery::done;
    if (is_full(errno)) return delivery::later;
    if (errno == EPIPE || errno == ECONNRESET) m_lines.erase(to);
    return delivery::never;
}

void node_post::accept_lines() {
    for (int i = 0; i < accepted_at_once; ++i) {
        descriptor made(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (made.get() < 0) return;
        if (is_of_own_user(made)) m_lines.push_back({std::move(made)});
    }
}

std::optional<node_post::note> node_post::take_from(lines::iterator which) {
    std::array<std::byte, largest_text> text;
    packet got(-1, text.data(), text.size());
    const auto bytes = ::recvmsg(which->socket.get(), &got.header, MSG_CMSG_CLOEXEC);
    if (bytes < 0 && is_full(errno)) return {};
    auto enclosed = bytes > 0 ? received_with(got) : std::vector<descriptor>();
    const bool is_whole = (got.header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && enclosed.size() <= 1;
    const bool is_of_rank = bytes >= static_cast<ssize_t>(sizeof got.rank) && got.rank >= 0 &&
                            (which->rank < 0 || which->rank == got.rank);
    if (!is_whole || !is_of_rank) { // or it is closed
        m_lines.erase(which);
        return {};
    }
    if (which->rank < 0) {
        which->takes_ours = line_to(got.rank) == m_lines.end();
        which->rank = got.rank;
    }
    note taken{got.rank, {text.data(), text.data() + (bytes - static_cast<ssize_t>(sizeof got.rank))}};
    if (!enclosed.empty()) taken.enclosed = std::move(enclosed.front());
    return taken;
}

std::optional<node_post::note> node_post::take() {
    if (m_listener.get() < 0) return {};
    m_asked.assign({{m_listener.get(), POLLIN, 0}});
    for (const auto& each : m_lines) m_asked.push_back({each.socket.get(), POLLIN, 0});
    if (::poll(m_asked.data(), m_asked.size(), 0) <= 0) return {};
    // A line that is new is read in this call, too.
    if (m_asked.front().revents != 0) accept_lines();
    auto state = std::next(m_asked.begin());
    for (auto each = m_lines.begin(); each != m_lines.end();) {
        const auto which = each++;
        const bool is_new = state == m_asked.end();
        if (!is_new && (state++)->revents == 0) continue;
        if (auto taken = take_from(which)) return taken;
    }
    return {};
}

} // namespace causeway::comm
