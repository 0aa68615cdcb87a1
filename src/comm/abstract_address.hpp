// SPDX-License-Identifier: Apache-2.0
// Names of sockets in Linux's abstract namespace: in no file system, gone with the process (unix(7)).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace causeway::comm {

/// Of the socket that `rank` of `job` has for `use`; other users' are different.
struct abstract_address {
    sockaddr_un name{};
    socklen_t length = 0;

    abstract_address(const char* use, const std::string& job, int rank) {
        const auto text = std::string(use) + "-" + std::to_string(getuid()) + "-" + job + "-" + std::to_string(rank);
        name.sun_family = AF_UNIX;
        const auto count = std::min(text.size(), sizeof name.sun_path - 1);
        std::memcpy(name.sun_path + 1, text.data(), count); // behind a first byte of zero
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + count);
    }
    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

} // namespace causeway::comm
