// SPDX-License-Identifier: Apache-2.0
// Sends and collects descriptors.
#include "comm/descriptor_post.hpp"

#include "comm/abstract_address.hpp"

#include <utility>

namespace causeway::comm {

namespace {

constexpr const char* use = "causeway-post";

/// A number and the ancillary data around a descriptor and its sender.
struct letter {
    std::uint64_t key = 0;
    iovec text{&key, sizeof key};
    alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))] = {};
    msghdr header{};

    letter() {
        header.msg_iov = &text;
        header.msg_iovlen = 1;
        header.msg_control = ancillary;
        header.msg_controllen = sizeof ancillary;
    }
    letter(const letter&) = delete;
    letter& operator=(const letter&) = delete;
};

} // namespace

descriptor_post::descriptor_post(const std::string& job, int own_rank) : m_job(job) {
    m_socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (m_socket < 0) return;
    const abstract_address own(use, m_job, own_rank);
    const int on = 1;
    if (::setsockopt(m_socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        ::bind(m_socket, own.get(), own.length) != 0)
        ::close(std::exchange(m_socket, -1));
}

descriptor_post::~descriptor_post() {
    for (const auto& [key, descriptor] : m_arrived) ::close(descriptor);
    if (m_socket >= 0) ::close(m_socket);
}

bool descriptor_post::send(int rank, std::uint64_t key, int descriptor) {
    if (m_socket < 0) return false;
    abstract_address other(use, m_job, rank);
    letter sent;
    sent.key = key;
    sent.header.msg_name = &other.name;
    sent.header.msg_namelen = other.length;
    sent.header.msg_controllen = CMSG_SPACE(sizeof(int));
    auto* const rights = CMSG_FIRSTHDR(&sent.header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    return ::sendmsg(m_socket, &sent.header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof key);
}

int descriptor_post::take(std::uint64_t key) {
    collect();
    const auto found = m_arrived.find(key);
    if (found == m_arrived.end()) return -1;
    const int descriptor = found->second;
    m_arrived.erase(found);
    return descriptor;
}

void descriptor_post::collect() {
    while (m_socket >= 0) {
        letter got;
        const auto bytes = ::recvmsg(m_socket, &got.header, MSG_CMSG_CLOEXEC);
        if (bytes < 0) return;
        int descriptor = -1;
        bool own_user = false;
        for (auto* part = CMSG_FIRSTHDR(&got.header); part != nullptr; part = CMSG_NXTHDR(&got.header, part)) {
            if (part->cmsg_level != SOL_SOCKET) continue;
            if (part->cmsg_type == SCM_RIGHTS) std::memcpy(&descriptor, CMSG_DATA(part), sizeof descriptor);
            ucred sender{};
            if (part->cmsg_type == SCM_CREDENTIALS) {
                std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
                own_user = sender.uid == ::getuid();
            }
        }
        const bool is_good = own_user && descriptor >= 0 && bytes == static_cast<ssize_t>(sizeof got.key);
        if (is_good && m_arrived.emplace(got.key, descriptor).second) continue;
        if (descriptor >= 0) ::close(descriptor);
    }
}

} // namespace causeway::comm
