// SPDX-License-Identifier: Apache-2.0
// Loaded in front of a program of `causeway run --cluster`: what the program itself asks for, in its first thread, and
// every rank would answer differently, rank 0 answers for all. Libraries are left alone: drivers and MPI need the
// truth.

#include "rank_0.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

using causeway_run::is_programs, causeway_run::next, causeway_run::result_of_rank_0, causeway_run::same,
    causeway_run::take_of_rank_0, causeway_run::waits_in_python;

namespace {
/// The error output of the start, for the last word of a job that ends, wherever the program sends its own later.
const int kept_error_output = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

void unique_name(const char* function, unsigned char* bytes, const void* caller) {
    static void* const library = dlopen("libuuid.so.1", RTLD_NOW | RTLD_NOLOAD);
    reinterpret_cast<void (*)(unsigned char*)>(dlsym(library == nullptr ? RTLD_NEXT : library, function))(bytes);
    if (is_programs(caller)) take_of_rank_0(bytes, 16);
}
} // namespace

#define CAUSEWAY_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

int causeway_run_error_output() { return kept_error_output; }

time_t time(time_t* result) noexcept {
    static auto* const ask = next<time_t(time_t*)>("time");
    const auto now = same(ask(nullptr), CAUSEWAY_CALLER);
    if (result != nullptr) *result = now;
    return now;
}

// By its name for the linker: headers say that nobody calls it without memory for its result, and programs do.
int time_of_day(timeval* result, void* zone) noexcept asm("gettimeofday");
int time_of_day(timeval* result, void* zone) noexcept {
    static auto* const ask = next<int(timeval*, void*)>("gettimeofday");
    const int code = ask(result, zone);
    if (code == 0 && result != nullptr) *result = same(*result, CAUSEWAY_CALLER);
    return code;
}

int clock_gettime(clockid_t which, timespec* result) noexcept {
    static auto* const ask = next<int(clockid_t, timespec*)>("clock_gettime");
    const int code = ask(which, result);
    if (code != 0 || !is_programs(CAUSEWAY_CALLER) || waits_in_python(CAUSEWAY_CALLER)) return code;
    const auto own = *result;
    take_of_rank_0(result, sizeof *result);
    const auto in_ns = [](const timespec& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec; };
    causeway_run::note_time(which, in_ns(own), in_ns(*result));
    return code;
}

int timespec_get(timespec* result, int base) noexcept {
    static auto* const ask = next<int(timespec*, int)>("timespec_get");
    const int code = ask(result, base);
    if (code != 0) *result = same(*result, CAUSEWAY_CALLER);
    return code;
}

clock_t times(tms* result) noexcept {
    static auto* const ask = next<clock_t(tms*)>("times");
    const auto now = same(ask(result), CAUSEWAY_CALLER);
    if (result != nullptr) *result = same(*result, CAUSEWAY_CALLER);
    return now;
}

int resource_usage(int of, rusage* result) noexcept asm("getrusage"); // declared with an enumeration in C++
int resource_usage(int of, rusage* result) noexcept {
    static auto* const ask = next<int(int, rusage*)>("getrusage");
    const int code = ask(of, result);
    if (code == 0) *result = same(*result, CAUSEWAY_CALLER);
    return code;
}

int adjtimex(timex* facts) noexcept {
    static auto* const ask = next<int(timex*)>("adjtimex");
    const int code = ask(facts);
    return is_programs(CAUSEWAY_CALLER) ? static_cast<int>(result_of_rank_0(code, facts, sizeof *facts)) : code;
}
int adjust_clock(clockid_t which, timex* facts) noexcept asm("clock_adjtime");
int adjust_clock(clockid_t which, timex* facts) noexcept {
    static auto* const ask = next<int(clockid_t, timex*)>("clock_adjtime");
    const int code = ask(which, facts);
    return is_programs(CAUSEWAY_CALLER) ? static_cast<int>(result_of_rank_0(code, facts, sizeof *facts)) : code;
}
// Under the name that glibc gives ntp_gettime().
int ask_network_time(ntptimeval* facts) noexcept asm("ntp_gettimex");
int ask_network_time(ntptimeval* facts) noexcept {
    static auto* const ask = next<int(ntptimeval*)>("ntp_gettimex");
    const int code = ask(facts);
    return is_programs(CAUSEWAY_CALLER) ? static_cast<int>(result_of_rank_0(code, facts, sizeof *facts)) : code;
}

clock_t clock() noexcept {
    static auto* const ask = next<clock_t()>("clock");
    return same(ask(), CAUSEWAY_CALLER);
}

pid_t getpid() noexcept {
    return is_programs(CAUSEWAY_CALLER) ? causeway_run::first_process() : static_cast<pid_t>(syscall(SYS_getpid));
}

int gethostname(char* name, std::size_t size) noexcept {
    static auto* const ask = next<int(char*, std::size_t)>("gethostname");
    const int code = ask(name, size);
    return is_programs(CAUSEWAY_CALLER) ? static_cast<int>(result_of_rank_0(code, name, size)) : code;
}

int gethostname_checked(char* name, std::size_t size, std::size_t room) noexcept asm("__gethostname_chk");
int gethostname_checked(char* name, std::size_t size, std::size_t room) noexcept {
    static auto* const ask = next<int(char*, std::size_t, std::size_t)>("__gethostname_chk");
    const int code = ask(name, size, room);
    return is_programs(CAUSEWAY_CALLER) ? static_cast<int>(result_of_rank_0(code, name, size)) : code;
}

ssize_t getrandom(void* bytes, std::size_t size, unsigned flags) {
    static auto* const ask = next<ssize_t(void*, std::size_t, unsigned)>("getrandom");
    const auto got = ask(bytes, size, flags);
    if (is_programs(CAUSEWAY_CALLER)) return result_of_rank_0(got, bytes, size);
    if (got > 0) causeway_run::fill_before_opencl(bytes, static_cast<std::size_t>(got), CAUSEWAY_CALLER);
    return got;
}

int getentropy(void* bytes, std::size_t size) {
    static auto* const ask = next<int(void*, std::size_t)>("getentropy");
    const int code = ask(bytes, size);
    if (is_programs(CAUSEWAY_CALLER)) return static_cast<int>(result_of_rank_0(code, bytes, size));
    if (code == 0) causeway_run::fill_before_opencl(bytes, size, CAUSEWAY_CALLER);
    return code;
}

// By their names for the linker: a C library before 2.36 has not declared them.
std::uint32_t arc4random_word() noexcept asm("arc4random");
std::uint32_t arc4random_word() noexcept {
    static auto* const ask = next<std::uint32_t()>("arc4random");
    return same(ask(), CAUSEWAY_CALLER);
}
std::uint32_t arc4random_below(std::uint32_t bound) noexcept asm("arc4random_uniform");
std::uint32_t arc4random_below(std::uint32_t bound) noexcept {
    static auto* const ask = next<std::uint32_t(std::uint32_t)>("arc4random_uniform");
    return same(ask(bound), CAUSEWAY_CALLER);
}
void arc4random_bytes(void* bytes, std::size_t size) noexcept asm("arc4random_buf");
void arc4random_bytes(void* bytes, std::size_t size) noexcept {
    static auto* const ask = next<void(void*, std::size_t)>("arc4random_buf");
    ask(bytes, size);
    if (is_programs(CAUSEWAY_CALLER)) take_of_rank_0(bytes, size);
}

int uname(utsname* facts) noexcept {
    static auto* const ask = next<int(utsname*)>("uname");
    const int code = ask(facts);
    return is_programs(CAUSEWAY_CALLER) ? static_cast<int>(result_of_rank_0(code, facts, sizeof *facts)) : code;
}

// libuuid's, which has a clock and chance of its own. An extension module may have loaded it for itself.
void uuid_generate(unsigned char* bytes) { unique_name("uuid_generate", bytes, CAUSEWAY_CALLER); }
void uuid_generate_random(unsigned char* bytes) { unique_name("uuid_generate_random", bytes, CAUSEWAY_CALLER); }
void uuid_generate_time(unsigned char* bytes) { unique_name("uuid_generate_time", bytes, CAUSEWAY_CALLER); }
int uuid_generate_time_safe(unsigned char* bytes) {
    unique_name("uuid_generate_time", bytes, CAUSEWAY_CALLER);
    return -1; // without a daemon that keeps clocks apart
}

// The C++ library's, which ask from within it: std::chrono's two clocks, and std::random_device.
std::int64_t system_now() asm("_ZNSt6chrono3_V212system_clock3nowEv");
std::int64_t system_now() {
    static auto* const ask = next<std::int64_t()>("_ZNSt6chrono3_V212system_clock3nowEv");
    return same(ask(), CAUSEWAY_CALLER);
}
std::int64_t steady_now() asm("_ZNSt6chrono3_V212steady_clock3nowEv");
std::int64_t steady_now() {
    static auto* const ask = next<std::int64_t()>("_ZNSt6chrono3_V212steady_clock3nowEv");
    const auto own = ask();
    const auto told = same(own, CAUSEWAY_CALLER);
    if (is_programs(CAUSEWAY_CALLER)) causeway_run::note_time(CLOCK_MONOTONIC, own, told);
    return told;
}
unsigned random_value(void* device) asm("_ZNSt13random_device9_M_getvalEv");
unsigned random_value(void* device) {
    static auto* const ask = next<unsigned(void*)>("_ZNSt13random_device9_M_getvalEv");
    return same(ask(device), CAUSEWAY_CALLER);
}

} // extern "C"
#pragma GCC visibility pop
