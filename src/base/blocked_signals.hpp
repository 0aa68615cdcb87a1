// SPDX-License-Identifier: Apache-2.0
// Threads of the library take no signal that is meant for the program.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace causeway {

/// While it lives, the thread that made it takes no signals, and threads that it starts never do: they inherit the
/// mask.
class blocked_signals {
  public:
    blocked_signals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &m_before);
    }
    ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;

  private:
    sigset_t m_before{};
};

} // namespace causeway
