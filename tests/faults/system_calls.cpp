// SPDX-License-Identifier: Apache-2.0
// Stands before the functions of the C library that reach files and memory, by the names that 64-bit offsets give them.
#include "faults/point_lists.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

using namespace faults;

namespace {

fault_point pread_point{"pread64", layer::system, EIO};
fault_point pwrite_point{"pwrite64", layer::system, ENOSPC};
fault_point read_point{"read", layer::system, EIO};
fault_point write_point{"write", layer::system, ENOSPC};
fault_point poll_point{"poll", layer::system, ENOMEM};
fault_point fcntl_point{"fcntl64", layer::system, EMFILE};
fault_point open_point{"open64", layer::system, EMFILE};
fault_point fstat_point{"fstat64", layer::system, EOVERFLOW};
fault_point seek_point{"lseek64", layer::system, EOVERFLOW};
fault_point fflush_point{"fflush", layer::system, ENOSPC};
fault_point ftello_point{"ftello64", layer::system, EOVERFLOW};
fault_point fseeko_point{"fseeko64", layer::system, EIO};
fault_point memory_point{"aligned_alloc", layer::system, ENOMEM};

} // namespace

std::vector<fault_point*> faults::system_points() {
    return {&pread_point, &pwrite_point, &read_point,   &write_point,  &poll_point,   &fcntl_point, &open_point,
            &fstat_point, &seek_point,   &fflush_point, &ftello_point, &fseeko_point, &memory_point};
}

extern "C" {

ssize_t pread64(int fd, void* bytes, size_t size, off64_t offset) {
    if (pread_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&pread64>(pread_point)(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
    if (pwrite_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&pwrite64>(pwrite_point)(fd, bytes, size, offset);
}

ssize_t read(int fd, void* bytes, size_t size) {
    if (read_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&read>(read_point)(fd, bytes, size);
}

ssize_t write(int fd, const void* bytes, size_t size) {
    if (write_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&write>(write_point)(fd, bytes, size);
}

int poll(pollfd* which, nfds_t count, int milliseconds) {
    if (poll_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&poll>(poll_point)(which, count, milliseconds);
}

int fcntl64(int fd, int command, ...) {
    // Every argument that fcntl takes fits a pointer (fcntl(2)).
    va_list rest;
    va_start(rest, command);
    void* const argument = va_arg(rest, void*);
    va_end(rest);
    if (fcntl_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&fcntl64>(fcntl_point)(fd, command, argument);
}

int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = va_arg(rest, mode_t);
    va_end(rest);
    if (open_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&open64>(open_point)(path, flags, mode);
}

int fstat64(int fd, struct stat64* facts) noexcept {
    if (fstat_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&fstat64>(fstat_point)(fd, facts);
}

off64_t lseek64(int fd, off64_t offset, int from) noexcept {
    if (seek_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&lseek64>(seek_point)(fd, offset, from);
}

int fflush(FILE* file) {
    if (fflush_point.fails_with_errno(__builtin_return_address(0))) return EOF;
    return real<&fflush>(fflush_point)(file);
}

off64_t ftello64(FILE* file) {
    if (ftello_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&ftello64>(ftello_point)(file);
}

int fseeko64(FILE* file, off64_t offset, int from) {
    if (fseeko_point.fails_with_errno(__builtin_return_address(0))) return -1;
    return real<&fseeko64>(fseeko_point)(file, offset, from);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
    if (memory_point.fails_with_errno(__builtin_return_address(0))) return nullptr;
#if defined __clang__ && (defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__)
    // Clang links the sanitizer into this executable, so that the next aligned_alloc is the C library's, whose memory
    // the sanitizer's free() refuses.
    void* memory = nullptr;
    const int code = posix_memalign(&memory, alignment, size);
    if (code != 0) errno = code;
    return memory;
#else
    return real<&aligned_alloc>(memory_point)(alignment, size);
#endif
}
}
