// SPDX-License-Identifier: Apache-2.0
// Waits until times that it has asked for, on ranks whose clocks differ by hours, as those of nodes do.
#include <CL/cl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <functional>
#include <future>
#include <mutex>

namespace {

constexpr long wait_ns = 20'000'000, second = 1'000'000'000;

/// By a system call.
long own_now() {
    timespec now{};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * second + now.tv_nsec;
}

timespec told_deadline() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long all = now.tv_sec * second + now.tv_nsec + wait_ns;
    return {all / second, all % second};
}

int waited = 0;
void expect_wait(const char* what, const std::function<void()>& wait) {
    const auto begun = own_now();
    wait();
    if (own_now() - begun >= wait_ns)
        ++waited;
    else
        std::fprintf(stderr, "%s does not wait\n", what);
}

} // namespace

int main() {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 1;
    const std::chrono::nanoseconds time(wait_ns);

    expect_wait("clock_nanosleep", [] {
        const auto until = told_deadline();
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    });
    expect_wait("clock_nanosleep, told by a system call", [] {
        const long all = own_now() + wait_ns;
        const timespec until{all / second, all % second};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    });
    expect_wait("sem_clockwait", [] {
        sem_t semaphore;
        sem_init(&semaphore, 0, 0);
        const auto until = told_deadline();
        sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
    });
    expect_wait("std::condition_variable", [&] {
        std::mutex mutex;
        std::condition_variable never;
        std::unique_lock lock(mutex);
        never.wait_for(lock, time, [] { return false; });
    });
    expect_wait("std::future", [&] {
        std::promise<void> never;
        (void)never.get_future().wait_for(time);
    });
    std::printf("waited %d times\n", waited);
    return waited == 5 ? 0 : 1;
}
