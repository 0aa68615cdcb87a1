// SPDX-License-Identifier: Apache-2.0
// Ends a test program whose current test hangs, and names the test and where it is.
#include "support/stacks.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

constexpr unsigned limit_seconds = 180;
char current_test[256];

// Only async-signal-safe calls: whatever hangs may hold any lock.
extern "C" void report_and_abort(int) {
    const char text[] = "\nwatchdog: this test hangs: ";
    static_cast<void>(!write(STDERR_FILENO, text, sizeof text - 1));
    static_cast<void>(!write(STDERR_FILENO, current_test, std::strlen(current_test)));
    static_cast<void>(!write(STDERR_FILENO, "\n", 1));
    std::signal(SIGABRT, SIG_DFL);
    // What follows may need a lock that is held: then this ends the process.
    std::signal(SIGALRM, SIG_DFL);
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &own, nullptr);
    alarm(20);
    support::print_stacks();
    std::abort();
}

class watchdog : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo& test) override {
        std::snprintf(current_test, sizeof current_test, "%s.%s", test.test_suite_name(), test.name());
        std::signal(SIGALRM, report_and_abort);
        alarm(limit_seconds);
    }
    void OnTestEnd(const testing::TestInfo&) override { alarm(0); }
};

// GoogleTest's own main gives no other place to register a listener.
const bool registered = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new watchdog);
    return true;
}();

} // namespace
