// SPDX-License-Identifier: Apache-2.0
// poll(2) on descriptors of processes.
#include "oshmem/death_alarm.hpp"

#include "base/error.hpp"
#include "oshmem/job.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

namespace causeway::oshmem {

namespace {
constexpr int milliseconds_of_launcher = 5000;
} // namespace

death_alarm::death_alarm(const std::vector<comm::process_watch>& watched, std::function<bool(std::size_t)> counts)
    : m_counts(std::move(counts)) {
    if (std::none_of(watched.begin(), watched.end(), [](const auto& each) { return each.watches(); })) return;
    m_end = descriptor(::eventfd(0, EFD_CLOEXEC));
    if (m_end.get() < 0) throw transfer_error(status::out_of_host_memory, "eventfd: " + errno_text(errno), errno);
    // The program's signals are its own threads'.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    m_thread = std::thread([this, &watched] { watch(watched); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

death_alarm::~death_alarm() {
    if (!m_thread.joinable()) return;
    ::eventfd_write(m_end.get(), 1);
    m_thread.join();
}

void death_alarm::watch(const std::vector<comm::process_watch>& watched) const {
    std::vector<pollfd> ends;
    for (const auto& each : watched) ends.push_back({each.readable_when_gone(), POLLIN, 0}); // -1 is left out
    ends.push_back({m_end.get(), POLLIN, 0});
    const auto own_end = ends.size() - 1;
    for (;;) {
        (void)::poll(ends.data(), ends.size(), -1);
        if (ends[own_end].revents != 0) return;
        for (std::size_t pe = 0; pe < own_end; ++pe) {
            if (ends[pe].revents == 0) continue;
            ends[pe] = {-1, 0, 0};
            if (!m_counts(pe)) continue;
            if (::poll(&ends[own_end], 1, milliseconds_of_launcher) > 0) return;
            give_up("watching PEs", "PE " + std::to_string(pe) + " is gone: its process ended without shmem_finalize");
        }
    }
}

} // namespace causeway::oshmem
