// SPDX-License-Identifier: Apache-2.0
// Two watches of one process, which take each other for far; and what a network does to them.
#pragma once

#include "comm/distant_watch.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace unit {

struct two_watches {
    std::unique_ptr<causeway::comm::distant_watch> first = std::make_unique<causeway::comm::distant_watch>();
    std::unique_ptr<causeway::comm::distant_watch> second = std::make_unique<causeway::comm::distant_watch>();

    two_watches() {
        using namespace std::chrono_literals;
        const std::vector<causeway::comm::network_address> all{first->address(), second->address()};
        std::thread other([&] { second->connect(all, 1, {true, false}, 60s); });
        first->connect(all, 0, {false, true}, 60s);
        other.join();
    }

    /// The network ends the connections by which `which` is watched, as if its node did not know them any more.
    static void break_connections_to(const causeway::comm::distant_watch& which) {
        const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        std::vector<int> found;
        for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
            found.push_back(std::stoi(each.path().filename()));
        for (const int each : found) {
            sockaddr_in own{}, other{};
            socklen_t size = sizeof own, others_size = sizeof other;
            if (::getsockname(each, reinterpret_cast<sockaddr*>(&own), &size) != 0 || own.sin_family != AF_INET ||
                ntohs(own.sin_port) != which.address().port ||
                ::getpeername(each, reinterpret_cast<sockaddr*>(&other), &others_size) != 0)
                continue;
            const linger at_once{1, 0};
            (void)::setsockopt(each, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            ::dup2(nothing, each); // which closes it, and leaves something to close
        }
        ::close(nothing);
    }
};

} // namespace unit
