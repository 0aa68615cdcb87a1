// SPDX-License-Identifier: Apache-2.0
#include "support/stacks.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

std::atomic<unsigned> answers{0};

// Only async-signal-safe calls: whatever hangs may hold any lock. (The first call of backtrace, which loads a library,
// was before.)
extern "C" void print_own_stack(int) {
    std::array<void*, 64> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
    answers.fetch_add(1);
}

} // namespace

void support::print_stacks() {
    std::array<void*, 1> first{};
    (void)backtrace(first.data(), 1);
    const int request = SIGRTMIN + 3;
    struct sigaction how{};
    how.sa_handler = print_own_stack;
    how.sa_flags = SA_RESTART;
    sigaction(request, &how, nullptr);
    DIR* const threads = opendir("/proc/self/task");
    if (threads == nullptr) return;
    while (const dirent* const each = readdir(threads)) {
        const auto id = static_cast<pid_t>(std::atoi(each->d_name));
        if (id <= 0) continue;
        std::fprintf(stderr, "thread %d of process %d:\n", id, getpid());
        const auto before = answers.load();
        if (syscall(SYS_tgkill, getpid(), id, request) != 0) continue;
        for (int i = 0; i < 100 && answers.load() == before; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    closedir(threads);
}
