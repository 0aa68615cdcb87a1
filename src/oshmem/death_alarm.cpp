// SPDX-License-Identifier: Apache-2.0
// poll(2) on descriptors of processes.
#include "oshmem/death_alarm.hpp"

#include "base/error.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace causeway::oshmem {

namespace {
constexpr int milliseconds_of_launcher = 5000;
} // namespace

death_alarm::death_alarm(const std::vector<comm::process_watch>& watched, std::function<bool(std::size_t)> counts,
                         std::function<void(std::size_t)> end_job)
    : m_counts(std::move(counts)), m_end_job(std::move(end_job)) {
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
    std::vector<pollfd> ends{{m_end.get(), POLLIN, 0}};
    std::vector<std::size_t> pes{0}; // of each descriptor behind the first one
    // poll(2) refuses more entries than descriptors that a process may have, also those that it would leave out.
    for (std::size_t pe = 0; pe < watched.size(); ++pe)
        if (watched[pe].watches()) {
            ends.push_back({watched[pe].readable_when_gone(), POLLIN, 0});
            pes.push_back(pe);
        }
    for (;;) {
        if (::poll(ends.data(), ends.size(), -1) < 0) {
            if (errno == EINTR) continue;
            return;
        }
        if (ends[0].revents != 0) return;
        for (std::size_t i = 1; i < ends.size(); ++i) {
            if (ends[i].revents == 0) continue;
            ends[i] = {-1, 0, 0};
            if (!m_counts(pes[i])) continue;
            if (::poll(ends.data(), 1, milliseconds_of_launcher) > 0) return;
            m_end_job(pes[i]);
        }
    }
}

} // namespace causeway::oshmem
