// SPDX-License-Identifier: Apache-2.0
// Another user of the node: a process that does what the test says, under another uid.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <functional>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace unit {

inline bool may_change_user() { return ::geteuid() == 0; }

/// Does `deed` as another user, and then waits until it is ended. The constructor returns when the deed is done.
class stranger {
  public:
    static constexpr uid_t user = 65534;

    explicit stranger(const std::function<bool()>& deed) {
        int ready[2];
        EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
        m_child = ::fork();
        if (m_child == 0) {
            const bool changed = ::setresgid(user, user, user) == 0 && ::setresuid(user, user, user) == 0;
            const char done = changed && deed() ? 'y' : 'n';
            if (::write(ready[1], &done, 1) != 1) ::_exit(2);
            for (;;) ::pause();
        }
        ::close(ready[1]);
        char done = 'n';
        EXPECT_EQ(::read(ready[0], &done, 1), 1);
        EXPECT_EQ(done, 'y') << "the stranger could not do what the test is about";
        ::close(ready[0]);
    }
    ~stranger() {
        ::kill(m_child, SIGKILL);
        ::waitpid(m_child, nullptr, 0);
    }
    stranger(const stranger&) = delete;
    stranger& operator=(const stranger&) = delete;

  private:
    pid_t m_child = -1;
};

} // namespace unit
