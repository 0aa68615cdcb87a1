// SPDX-License-Identifier: Apache-2.0
// Waits until a time that the program has from rank 0: each node's clocks, but for the time of day, count from its own
// start.
#include "rank_0.hpp"

#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

using causeway_run::is_programs, causeway_run::next, causeway_run::waits_in_python;

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// What to add to a time of rank 0's clock for one of this rank's, as of the last question.
std::array<std::atomic<std::int64_t>, 12> ahead{};

bool is_since_start(clockid_t which) { return which == CLOCK_MONOTONIC || which == CLOCK_BOOTTIME; }

timespec own_time(clockid_t which, const timespec& told) {
    if (!is_since_start(which)) return told;
    const auto all = told.tv_sec * second + told.tv_nsec +
                     ahead[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
    return all < 0 ? timespec{} : timespec{all / second, all % second};
}

/// For a wait of the program's; its interpreter has its own times.
timespec own_time_for(const void* caller, clockid_t which, const timespec& told) {
    return is_programs(caller) && !waits_in_python(caller) ? own_time(which, told) : told;
}

} // namespace

void causeway_run::note_time(clockid_t which, std::int64_t own_ns, std::int64_t told_ns) {
    if (is_since_start(which))
        ahead[static_cast<std::size_t>(which)].store(own_ns - told_ns, std::memory_order_relaxed);
}

#define CAUSEWAY_CALLER __builtin_return_address(0)
#define CAUSEWAY_NEXT(name) static auto* const wait = next<decltype(name)>(#name)

#pragma GCC visibility push(default)
extern "C" {

int clock_nanosleep(clockid_t which, int flags, const timespec* until, timespec* left) {
    CAUSEWAY_NEXT(clock_nanosleep);
    // Python sleeps without its interpreter's lock, until a time that it has asked for with it.
    if (until == nullptr || (flags & TIMER_ABSTIME) == 0 || !is_programs(CAUSEWAY_CALLER))
        return wait(which, flags, until, left);
    const auto own = own_time(which, *until);
    return wait(which, flags, &own, left);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t which, const timespec* until) {
    CAUSEWAY_NEXT(pthread_cond_clockwait);
    const auto own = own_time_for(CAUSEWAY_CALLER, which, *until);
    return wait(condition, mutex, which, &own);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t which, const timespec* until) noexcept {
    CAUSEWAY_NEXT(pthread_mutex_clocklock);
    const auto own = own_time_for(CAUSEWAY_CALLER, which, *until);
    return wait(mutex, which, &own);
}

int sem_clockwait(sem_t* semaphore, clockid_t which, const timespec* until) {
    CAUSEWAY_NEXT(sem_clockwait);
    const auto own = own_time_for(CAUSEWAY_CALLER, which, *until);
    return wait(semaphore, which, &own);
}

/// Of std::future's wait_for() and wait_until().
bool wait_for_state(void* self, unsigned* word, unsigned value, bool has_timeout, std::int64_t seconds,
                    std::int64_t rest) asm("_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6"
                                           "chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE");
bool wait_for_state(void* self, unsigned* word, unsigned value, bool has_timeout, std::int64_t seconds,
                    std::int64_t rest) {
    static auto* const wait = next<bool(void*, unsigned*, unsigned, bool, std::int64_t, std::int64_t)>(
        "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6"
        "chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE");
    const auto own = has_timeout ? own_time_for(CAUSEWAY_CALLER, CLOCK_MONOTONIC, {seconds, rest})
                                 : timespec{seconds, rest};
    return wait(self, word, value, has_timeout, own.tv_sec, own.tv_nsec);
}

} // extern "C"
#pragma GCC visibility pop
