// SPDX-License-Identifier: Apache-2.0
// Descriptors that rank 0 alone reads, when the program asks for it: what it gets comes to all ranks. Standard input,
// which launchers give to rank 0 alone, and the devices of chance.
#include "standard_input.hpp"

#include "rank_0.hpp"

#include <ext/stdio_sync_filebuf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace {

using namespace causeway_run;

using shared_with_stdio = __gnu_cxx::stdio_sync_filebuf<char>;

std::FILE* original = nullptr;
std::FILE* stream = nullptr;
shared_with_stdio* of_stream = nullptr;

/// The C library reads by calls of its own, which nobody can stand in front of; so stdin is a stream of ours.
struct replaced_stdin {
    replaced_stdin() {
        const char* const cluster = std::getenv("CAUSEWAY_CLUSTER");
        if (cluster == nullptr || (cluster != std::string_view("1") && cluster != std::string_view("on"))) return;
        const cookie_io_functions_t calls = {[](void*, char* bytes, std::size_t size) {
                                                 return is_in_program() ? read_of_rank_0(STDIN_FILENO, bytes, size)
                                                                        : syscall(SYS_read, STDIN_FILENO, bytes, size);
                                             },
                                             nullptr, nullptr, nullptr};
        stream = fopencookie(nullptr, "r", calls);
        if (stream == nullptr) return;
        original = stdin;
        stdin = stream;
        // std::cin may have taken the old one.
        static shared_with_stdio shared(stream);
        std::cin.rdbuf(of_stream = &shared);
    }
} at_start;

/// Standard input, /dev/random or /dev/urandom.
bool is_rank_0s(int fd) {
    if (fd == STDIN_FILENO) return true;
    struct stat facts{};
    return ::fstat(fd, &facts) == 0 && S_ISCHR(facts.st_mode) &&
           (facts.st_rdev == makedev(1, 8) || facts.st_rdev == makedev(1, 9));
}

} // namespace

bool causeway_run::is_replaced_stdin(const std::FILE* of) { return of != nullptr && of == stream; }

std::FILE* causeway_run::give_stdin_back() {
    stdin = original;
    static shared_with_stdio shared(original);
    if (std::cin.rdbuf() == of_stream) std::cin.rdbuf(&shared); // the program has not given it another one
    return original;
}

#pragma GCC visibility push(default)
extern "C" {

ssize_t read(int fd, void* bytes, std::size_t size) {
    if (is_rank_0s(fd) && is_programs_file(__builtin_return_address(0))) return read_of_rank_0(fd, bytes, size);
    static auto* const ask = next<ssize_t(int, void*, std::size_t)>("read");
    return ask(fd, bytes, size);
}

ssize_t readv(int fd, const iovec* parts, int count) {
    if (is_rank_0s(fd) && is_programs_file(__builtin_return_address(0))) {
        ssize_t whole = 0;
        for (int i = 0; i < count; ++i) {
            const auto got = read_of_rank_0(fd, parts[i].iov_base, parts[i].iov_len);
            if (got < 0) return whole == 0 ? got : whole;
            whole += got;
            if (static_cast<std::size_t>(got) < parts[i].iov_len) break;
        }
        return whole;
    }
    static auto* const ask = next<ssize_t(int, const iovec*, int)>("readv");
    return ask(fd, parts, count);
}

// What headers make of read() where they know how large `bytes` is (_FORTIFY_SOURCE).
ssize_t read_checked(int fd, void* bytes, std::size_t size, std::size_t room) asm("__read_chk");
ssize_t read_checked(int fd, void* bytes, std::size_t size, std::size_t room) {
    if (size <= room && is_rank_0s(fd) && is_programs_file(__builtin_return_address(0)))
        return read_of_rank_0(fd, bytes, size);
    static auto* const ask = next<ssize_t(int, void*, std::size_t, std::size_t)>("__read_chk");
    return ask(fd, bytes, size, room);
}

// std::cin without stdio reads from the descriptor of stdin.
int fileno(std::FILE* of) noexcept {
    if (is_replaced_stdin(of)) return STDIN_FILENO;
    static auto* const ask = next<int(std::FILE*)>("fileno");
    return ask(of);
}

} // extern "C"
#pragma GCC visibility pop
