// SPDX-License-Identifier: Apache-2.0
// Sends and takes datagrams.
#include "comm/node_post.hpp"

#include "comm/abstract_address.hpp"

#include <array>
#include <cerrno>
#include <utility>

namespace causeway::comm {

namespace {

constexpr const char* use = "causeway-post";

/// A datagram, and the ancillary data around a descriptor and its sender.
struct datagram {
    iovec text{};
    alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))] = {};
    msghdr header{};

    datagram(void* first, std::size_t bytes) : text{first, bytes} {
        header.msg_iov = &text;
        header.msg_iovlen = 1;
        header.msg_control = ancillary;
        header.msg_controllen = sizeof ancillary;
    }
    datagram(const datagram&) = delete;
    datagram& operator=(const datagram&) = delete;
};

} // namespace

node_post::node_post(const std::string& job, int own_rank) : m_job(job) {
    descriptor made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (made.get() < 0) return;
    const abstract_address own(use, m_job, own_rank);
    const int on = 1;
    if (::setsockopt(made.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
        ::bind(made.get(), own.get(), own.length) == 0)
        m_socket = std::move(made);
}

node_post::delivery node_post::send(int rank, std::span<const std::byte> text, int enclosed) {
    if (m_socket.get() < 0) return delivery::never;
    abstract_address other(use, m_job, rank);
    datagram sent(const_cast<std::byte*>(text.data()), text.size()); // sendmsg(2) only reads it
    sent.header.msg_name = &other.name;
    sent.header.msg_namelen = other.length;
    sent.header.msg_controllen = enclosed < 0 ? 0 : CMSG_SPACE(sizeof(int));
    if (enclosed >= 0) {
        auto* const rights = CMSG_FIRSTHDR(&sent.header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &enclosed, sizeof enclosed);
    }
    if (::sendmsg(m_socket.get(), &sent.header, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size())) return delivery::done;
    const bool is_full = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ETOOMANYREFS || errno == EINTR;
    return is_full ? delivery::later : delivery::never;
}

std::optional<node_post::note> node_post::take() {
    while (m_socket.get() >= 0) {
        std::array<std::byte, largest_text> text;
        datagram got(text.data(), text.size());
        const auto bytes = ::recvmsg(m_socket.get(), &got.header, MSG_CMSG_CLOEXEC);
        if (bytes < 0) return {};
        note taken{{text.data(), text.data() + bytes}};
        bool own_user = false;
        for (auto* part = CMSG_FIRSTHDR(&got.header); part != nullptr; part = CMSG_NXTHDR(&got.header, part)) {
            if (part->cmsg_level != SOL_SOCKET) continue;
            if (part->cmsg_type == SCM_RIGHTS) {
                int number = -1;
                std::memcpy(&number, CMSG_DATA(part), sizeof number);
                taken.enclosed = descriptor(number);
            }
            ucred sender{};
            if (part->cmsg_type == SCM_CREDENTIALS) {
                std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
                own_user = sender.uid == ::getuid();
            }
        }
        if (own_user && (got.header.msg_flags & MSG_TRUNC) == 0) return taken;
    }
    return {};
}

} // namespace causeway::comm
