// SPDX-License-Identifier: Apache-2.0
// Names of sockets in Linux's abstract namespace: in no file system, gone with the process (unix(7)).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>

namespace causeway::comm {

/// Of the socket that `rank` of `job` has for `use`; other users' are different.
struct abstract_address {
    sockaddr_un name{};
    socklen_t length = 0;

    abstract_address(const char* use, const std::string& job, int rank) {
        // A name has 107 letters: those of a longer job are as good as its hash.
        const auto known = job.size() <= longest_job ? job : std::to_string(std::hash<std::string>{}(job));
        const auto text = std::string(use) + "-" + std::to_string(getuid()) + "-" + known + "-" + std::to_string(rank);
        name.sun_family = AF_UNIX;
        std::memcpy(name.sun_path + 1, text.data(), text.size()); // behind a first byte of zero
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    }
    static constexpr std::size_t longest_job = 48;
    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

} // namespace causeway::comm
