// SPDX-License-Identifier: Apache-2.0
// What a descriptor says of itself: the standard ones, and those of files that rank 0 writes, are rank 0's on every
// rank. Locks of files are rank 0's as well, as the ranks would keep each other out.
#include "rank_0.hpp"
#include "written_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>

namespace {

using namespace causeway_run;

template <class Lock> int lock_once(const void* caller, Lock lock) {
    if (!asks(caller)) return lock();
    return static_cast<int>(result_of_rank_0(is_rank_0() ? lock() : 0, nullptr, 0));
}

using control_function = int(int, int, ...);
int control(control_function* real, const void* caller, int fd, int what, void* data) {
    switch (what) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return lock_once(caller, [&] { return real(fd, what, data); });
    case F_GETLK:
    case F_OFD_GETLK: {
        const int code = real(fd, what, data);
        return asks(caller) ? static_cast<int>(result_of_rank_0(code, data, sizeof(struct flock))) : code;
    }
    case F_GETFL: {
        const int code = real(fd, what, data);
        return is_standard(fd) && asks(caller) ? static_cast<int>(result_of_rank_0(code, nullptr, 0)) : code;
    }
    default: return real(fd, what, data);
    }
}

} // namespace

#define CAUSEWAY_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

// By their names for the linker: the larger ones differ in their types alone, which have one layout.
int facts_small(int fd, struct stat* facts) noexcept asm("fstat");
int facts_small(int fd, struct stat* facts) noexcept {
    static auto* const ask = next<int(int, struct stat*)>("fstat");
    const int code = ask(fd, facts);
    return same_facts_of(fd, code, facts->st_dev, facts->st_ino, *facts, CAUSEWAY_CALLER);
}
int facts_large(int fd, struct stat64* facts) noexcept asm("fstat64");
int facts_large(int fd, struct stat64* facts) noexcept {
    static auto* const ask = next<int(int, struct stat64*)>("fstat64");
    const int code = ask(fd, facts);
    return same_facts_of(fd, code, facts->st_dev, facts->st_ino, *facts, CAUSEWAY_CALLER);
}

int control_small(int fd, int what, ...) asm("fcntl");
int control_small(int fd, int what, ...) {
    static auto* const ask = next<control_function>("fcntl");
    std::va_list list;
    va_start(list, what);
    auto* const data = va_arg(list, void*);
    va_end(list);
    return control(ask, CAUSEWAY_CALLER, fd, what, data);
}
int control_large(int fd, int what, ...) asm("fcntl64");
int control_large(int fd, int what, ...) {
    static auto* const ask = next<control_function>("fcntl64");
    std::va_list list;
    va_start(list, what);
    auto* const data = va_arg(list, void*);
    va_end(list);
    return control(ask, CAUSEWAY_CALLER, fd, what, data);
}

int flock(int fd, int how) noexcept {
    static auto* const ask = next<int(int, int)>("flock");
    return lock_once(CAUSEWAY_CALLER, [&] { return ask(fd, how); });
}
int lock_small(int fd, int how, off_t size) asm("lockf");
int lock_small(int fd, int how, off_t size) {
    static auto* const ask = next<int(int, int, off_t)>("lockf");
    return lock_once(CAUSEWAY_CALLER, [&] { return ask(fd, how, size); });
}
int lock_large(int fd, int how, off64_t size) asm("lockf64");
int lock_large(int fd, int how, off64_t size) {
    static auto* const ask = next<int(int, int, off64_t)>("lockf64");
    return lock_once(CAUSEWAY_CALLER, [&] { return ask(fd, how, size); });
}

} // extern "C"
#pragma GCC visibility pop
