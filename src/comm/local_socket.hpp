// SPDX-License-Identifier: Apache-2.0
// Sockets between processes of one user on one node, under names of Linux's abstract namespace.
#pragma once

#include "base/descriptor.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <string>

namespace causeway::comm {

/// 128 random bits. A process puts its own into the names of its sockets, so that nobody can take a name before it
/// does; ranks tell each other theirs through MPI. Zero is no key.
struct socket_key {
    std::uint64_t high = 0, low = 0;
    explicit operator bool() const { return (high | low) != 0; }
    bool operator==(const socket_key&) const = default;
    /// Throws transfer_error.
    [[nodiscard]] static socket_key make();
};

/// Abstract names are in no file system and vanish with their process (unix(7)). Every user of the node can read and
/// use them, so the other end is checked before anything is sent or believed.
struct abstract_address {
    sockaddr_un name{};
    socklen_t length = 0;

    /// Of the process with that key.
    abstract_address(const char* use, const socket_key& key);
    /// Of `rank` of `job`. Anybody can guess it, and take it first.
    abstract_address(const char* use, const std::string& job, int rank);
    static constexpr std::size_t longest_job = 48;
    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

/// A socket that listens at `where`; empty if the name is taken or there is no socket. `type` is SOCK_STREAM or
/// SOCK_SEQPACKET. Neither it nor what connects to it ever blocks.
[[nodiscard]] descriptor listen_at(const abstract_address& where, int type);

/// Who answers at an address.
enum class answer {
    own_user,
    stranger, ///< a process of another user
    nobody,   ///< no socket has the name
    not_now,  ///< too many wait there, or no socket is to be had
};
struct connection {
    descriptor socket; ///< none unless `from` is own_user
    answer from = answer::not_now;
};
[[nodiscard]] connection connect_to(const abstract_address& where, int type);

/// Whether the other end of a connection is a process of this one's user (SO_PEERCRED: the kernel's word).
[[nodiscard]] bool is_of_own_user(const descriptor& socket);

} // namespace causeway::comm
