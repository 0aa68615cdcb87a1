// SPDX-License-Identifier: Apache-2.0
// What a descriptor says of itself: the standard ones, and those of files that rank 0 writes, are rank 0's on every
// rank. Locks of files are rank 0's as well, as the ranks would keep each other out.
#include "rank_0.hpp"
#include "written_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

namespace {

using namespace causeway_run;

template <class Lock> int lock_once(const void* caller, Lock lock) {
    if (!asks_of_files(caller)) return lock();
    return static_cast<int>(result_of_rank_0(is_rank_0() ? lock() : 0, nullptr, 0));
}

using control_function = int(int, int, ...);
int control(control_function* real, const void* caller, int fd, int what, void* data) {
    switch (what) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
    case F_SETLEASE:
    case F_GETLEASE: return lock_once(caller, [&] { return real(fd, what, data); });
    case F_GETLK:
    case F_OFD_GETLK: {
        const int code = real(fd, what, data);
        return asks_of_files(caller) ? static_cast<int>(result_of_rank_0(code, data, sizeof(struct flock))) : code;
    }
    case F_GETFL: {
        const int code = real(fd, what, data);
        const bool is_same = is_standard(fd) ? asks(caller) : asks_of_files(caller) && is_written(fd);
        return is_same ? static_cast<int>(result_of_rank_0(code, nullptr, 0)) : code;
    }
    case F_GET_SEALS:
    case F_GETOWN: {
        const int code = real(fd, what, data);
        return same_of_written(fd, code, nullptr, 0, caller);
    }
    default: return real(fd, what, data);
    }
}

/// Text of a length that the call returns.
ssize_t same_text(int fd, ssize_t length, void* text, std::size_t room, const void* caller) {
    const auto told = same_of_written(fd, length, nullptr, 0, caller);
    if (told > 0 && room != 0 && asks_of_files(caller) && is_written(fd))
        take_of_rank_0(text, static_cast<std::size_t>(told));
    return told;
}

using allocate_function = int(int, int, off64_t, off64_t);
/// A file in memory can have holes, but nothing is moved within it.
int allocate(allocate_function* real, const void* caller, int fd, int mode, off64_t offset, off64_t size) {
    if (!asks_of_files(caller) || !is_written(fd)) return real(fd, mode, offset, size);
    if ((mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE)) != 0) {
        errno = EOPNOTSUPP;
        return -1;
    }
    errno = agree(real(fd, mode, offset, size) == 0 ? 0 : errno);
    return errno == 0 ? 0 : -1;
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

// What the file systems of the ranks' files say of themselves.
int disk_small(int fd, struct statfs* facts) noexcept asm("fstatfs");
int disk_small(int fd, struct statfs* facts) noexcept {
    static auto* const ask = next<int(int, struct statfs*)>("fstatfs");
    return same_of_written(fd, ask(fd, facts), facts, sizeof *facts, CAUSEWAY_CALLER);
}
int disk_large(int fd, struct statfs64* facts) noexcept asm("fstatfs64");
int disk_large(int fd, struct statfs64* facts) noexcept {
    static auto* const ask = next<int(int, struct statfs64*)>("fstatfs64");
    return same_of_written(fd, ask(fd, facts), facts, sizeof *facts, CAUSEWAY_CALLER);
}
int volume_small(int fd, struct statvfs* facts) noexcept asm("fstatvfs");
int volume_small(int fd, struct statvfs* facts) noexcept {
    static auto* const ask = next<int(int, struct statvfs*)>("fstatvfs");
    return same_of_written(fd, ask(fd, facts), facts, sizeof *facts, CAUSEWAY_CALLER);
}
int volume_large(int fd, struct statvfs64* facts) noexcept asm("fstatvfs64");
int volume_large(int fd, struct statvfs64* facts) noexcept {
    static auto* const ask = next<int(int, struct statvfs64*)>("fstatvfs64");
    return same_of_written(fd, ask(fd, facts), facts, sizeof *facts, CAUSEWAY_CALLER);
}
long fpathconf(int fd, int what) noexcept {
    static auto* const ask = next<long(int, int)>("fpathconf");
    return same_of_written(fd, ask(fd, what), nullptr, 0, CAUSEWAY_CALLER);
}
ssize_t fgetxattr(int fd, const char* name, void* value, std::size_t size) noexcept {
    static auto* const ask = next<ssize_t(int, const char*, void*, std::size_t)>("fgetxattr");
    return same_text(fd, ask(fd, name, value, size), value, size, CAUSEWAY_CALLER);
}
ssize_t flistxattr(int fd, char* names, std::size_t size) noexcept {
    static auto* const ask = next<ssize_t(int, char*, std::size_t)>("flistxattr");
    return same_text(fd, ask(fd, names, size), names, size, CAUSEWAY_CALLER);
}

// Room in a file, which every rank has of its own.
int allocate_small(int fd, int mode, off_t offset, off_t size) asm("fallocate");
int allocate_small(int fd, int mode, off_t offset, off_t size) {
    static auto* const ask = next<allocate_function>("fallocate");
    return allocate(ask, CAUSEWAY_CALLER, fd, mode, offset, size);
}
int allocate_large(int fd, int mode, off64_t offset, off64_t size) asm("fallocate64");
int allocate_large(int fd, int mode, off64_t offset, off64_t size) {
    static auto* const ask = next<allocate_function>("fallocate64");
    return allocate(ask, CAUSEWAY_CALLER, fd, mode, offset, size);
}
int allocate_posix(int fd, off_t offset, off_t size) asm("posix_fallocate");
int allocate_posix(int fd, off_t offset, off_t size) {
    static auto* const ask = next<int(int, off_t, off_t)>("posix_fallocate");
    const int error = ask(fd, offset, size);
    return asks_of_files(CAUSEWAY_CALLER) && is_written(fd) ? agree(error) : error;
}
int allocate_posix_large(int fd, off64_t offset, off64_t size) asm("posix_fallocate64");
int allocate_posix_large(int fd, off64_t offset, off64_t size) {
    static auto* const ask = next<int(int, off64_t, off64_t)>("posix_fallocate64");
    const int error = ask(fd, offset, size);
    return asks_of_files(CAUSEWAY_CALLER) && is_written(fd) ? agree(error) : error;
}

} // extern "C"
#pragma GCC visibility pop
