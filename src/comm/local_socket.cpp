// SPDX-License-Identifier: Apache-2.0
// Names, and who is behind them.
#include "comm/local_socket.hpp"

#include "base/error.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

namespace causeway::comm {

namespace {

descriptor new_socket(int type) { return descriptor(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

void set_name(abstract_address& of, const std::string& text) {
    of.name.sun_family = AF_UNIX;
    std::memcpy(of.name.sun_path + 1, text.data(), text.size()); // behind a first byte of zero
    of.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

} // namespace

socket_key socket_key::make() {
    socket_key made;
    while (!made)
        if (::getentropy(&made, sizeof made) != 0)
            throw transfer_error(status::out_of_resources,
                                 "drawing a random number for socket names: " + errno_text(errno), errno);
    return made;
}

abstract_address::abstract_address(const char* use, const socket_key& key) {
    std::array<char, 33> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx%016llx", static_cast<unsigned long long>(key.high),
                  static_cast<unsigned long long>(key.low));
    set_name(*this, std::string(use) + "-" + digits.data());
}

abstract_address::abstract_address(const char* use, const std::string& job, int rank) {
    // A name has 107 letters: those of a longer job are as good as its hash.
    const auto known = job.size() <= longest_job ? job : std::to_string(std::hash<std::string>{}(job));
    set_name(*this, std::string(use) + "-" + std::to_string(::getuid()) + "-" + known + "-" + std::to_string(rank));
}

descriptor listen_at(const abstract_address& where, int type) {
    auto made = new_socket(type);
    if (made.get() < 0 || ::bind(made.get(), where.get(), where.length) != 0 || ::listen(made.get(), SOMAXCONN) != 0)
        return descriptor();
    return made;
}

connection connect_to(const abstract_address& where, int type) {
    auto made = new_socket(type);
    if (made.get() < 0) return {};
    if (::connect(made.get(), where.get(), where.length) != 0)
        // EPROTOTYPE: the name is that of a socket of another kind, which is none of ours.
        return {{}, errno == ECONNREFUSED ? answer::nobody : errno == EPROTOTYPE ? answer::stranger : answer::not_now};
    if (!is_of_own_user(made)) return {{}, answer::stranger};
    return {std::move(made), answer::own_user};
}

bool is_of_own_user(const descriptor& socket) {
    ucred other{};
    socklen_t size = sizeof other;
    return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == ::geteuid();
}

} // namespace causeway::comm
