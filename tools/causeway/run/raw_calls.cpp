// SPDX-License-Identifier: Apache-2.0
// Calls of the kernel by their numbers, as programs make them that are older, or newer, than the C library's functions:
// what these functions do on a cluster, by number.
#include "rank_0.hpp"
#include "written_files.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <ctime>

namespace {

using namespace causeway_run;

constexpr long openat2_number = 437, faccessat2_number = 439, fchmodat2_number = 452; // newer than some headers

/// A call, and who makes it.
struct raw_call {
    long number;
    std::array<long, 6> words;
    const void* caller;

    [[nodiscard]] long make() const {
        static auto* const ask = next<long(long, long, long, long, long, long, long)>("syscall");
        return ask(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    }
    template <class Value> [[nodiscard]] Value word(std::size_t which) const {
        if constexpr (std::is_pointer_v<Value>)
            return reinterpret_cast<Value>(words[which]);
        else
            return static_cast<Value>(words[which]);
    }
    [[nodiscard]] const char* path(std::size_t which) const { return word<const char*>(which); }

    [[nodiscard]] int make_once() const {
        return once(caller, [&] { return static_cast<int>(make()); });
    }
    [[nodiscard]] int make_name_in(int folder, std::size_t which) const {
        return make_name(caller, folder, path(which), [&] { return static_cast<int>(make()); });
    }
    [[nodiscard]] int open_in(int folder, std::size_t which, int flags) const {
        const auto open_here = [&] { return static_cast<int>(make()); };
        return is_programs_file(caller) ? open_for(caller, path_in(folder, path(which)).c_str(), flags, open_here)
                                        : open_here();
    }
    [[nodiscard]] int ask_in(int folder, std::size_t which, void* facts, std::size_t size) const {
        return ask_about(caller, path(which), [&] { return static_cast<int>(make()); }, folder, facts, size);
    }
    [[nodiscard]] int ask_of(int fd) const {
        const int code = static_cast<int>(make());
        auto& found = *word<struct stat*>(number == SYS_fstat ? 1 : 2);
        return same_facts_of(fd, code, found.st_dev, found.st_ino, found, caller);
    }
    /// What the call has returned, and filled: rank 0's.
    [[nodiscard]] long same_facts(void* facts, std::size_t size) const {
        const long found = make();
        if (!asks(caller)) return found;
        return result_of_rank_0(found, facts, facts == nullptr ? 0 : size);
    }
};

long tell_time(const raw_call& call) {
    auto* const result = call.word<timespec*>(call.number == SYS_clock_gettime ? 1 : 0);
    const long found = call.make();
    if (result == nullptr || !asks(call.caller)) return found;
    const timespec own = found == 0 ? *result : timespec{};
    const long code = result_of_rank_0(found, result, sizeof *result);
    const auto in_ns = [](const timespec& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec; };
    if (call.number == SYS_clock_gettime && found == 0 && code == 0)
        note_time(call.word<clockid_t>(0), in_ns(own), in_ns(*result));
    return code;
}

long tell_processor(const raw_call& call) {
    auto *const processor = call.word<unsigned*>(0), *const node = call.word<unsigned*>(1);
    const long found = call.make();
    if (!asks(call.caller)) return found;
    std::array<unsigned, 2> told{processor == nullptr ? 0 : *processor, node == nullptr ? 0 : *node};
    const long code = result_of_rank_0(found, told.data(), sizeof told);
    if (processor != nullptr) *processor = told[0];
    if (node != nullptr) *node = told[1];
    return code;
}

bool is_empty(const char* path) { return path != nullptr && *path == '\0'; }

/// What answers about the machine and the process.
long tell(const raw_call& call) {
    switch (call.number) {
    case SYS_getpid:
    case SYS_gettid: return is_programs(call.caller) ? first_process() : call.make();
    case SYS_clock_gettime:
    case SYS_gettimeofday: return tell_time(call);
    case SYS_getcpu: return tell_processor(call);
    case SYS_getrandom: {
        const long found = call.make();
        return asks(call.caller) ? result_of_rank_0(found, call.word<void*>(0), call.word<std::size_t>(1)) : found;
    }
    case SYS_getppid:
    case SYS_getpgid:
    case SYS_getsid:
    case SYS_getpriority: return call.same_facts(nullptr, 0);
    case SYS_times: return call.same_facts(call.word<void*>(0), sizeof(tms));
    case SYS_getrusage: return call.same_facts(call.word<void*>(1), sizeof(rusage));
    case SYS_prlimit64: return call.same_facts(call.word<void*>(3), sizeof(rlimit64));
    case SYS_sysinfo: return call.same_facts(call.word<void*>(0), sizeof(struct sysinfo));
    case SYS_uname: return call.same_facts(call.word<void*>(0), sizeof(utsname));
    case SYS_sched_getaffinity: return call.same_facts(call.word<void*>(2), call.word<std::size_t>(1));
#ifdef SYS_open // and what else newer machines do not have
    case SYS_getpgrp: return call.same_facts(nullptr, 0);
    case SYS_getrlimit: return call.same_facts(call.word<void*>(1), sizeof(rlimit));
    case SYS_time: return call.same_facts(call.word<void*>(0), sizeof(std::time_t));
#endif
    default: return call.make();
    }
}

} // namespace

#pragma GCC visibility push(default)
extern "C" long syscall(long number, ...) noexcept {
    std::va_list list;
    va_start(list, number);
    raw_call call{number, {}, __builtin_return_address(0)};
    for (auto& word : call.words) word = va_arg(list, long);
    va_end(list);
    const auto first = call.word<int>(0); // a folder or a file
    switch (number) {
    case SYS_openat: return call.open_in(first, 1, call.word<int>(2));
    case openat2_number: return call.open_in(first, 1, static_cast<int>(*call.word<const std::uint64_t*>(2)));
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_linkat: return call.make_name_in(call.word<int>(2), 3);
    case SYS_unlinkat:
    case SYS_symlinkat:
    case SYS_mkdirat:
    case SYS_mknodat:
    case SYS_fchmod:
    case SYS_fchmodat:
    case fchmodat2_number:
    case SYS_fchown:
    case SYS_fchownat:
    case SYS_utimensat:
    case SYS_setxattr:
    case SYS_lsetxattr:
    case SYS_fsetxattr:
    case SYS_removexattr:
    case SYS_lremovexattr:
    case SYS_fremovexattr: return call.make_once();
    case SYS_truncate:
        return resize_for(call.caller, call.path(0), call.words[1], [&] { return static_cast<int>(call.make()); });
    case SYS_faccessat:
    case faccessat2_number: return call.ask_in(first, 1, nullptr, 0);
    case SYS_newfstatat:
        return is_empty(call.path(1)) ? call.ask_of(first)
                                      : call.ask_in(first, 1, call.word<void*>(2), sizeof(struct stat));
    case SYS_statx:
        // The C library's name has its own function in front.
        return is_programs_file(call.caller) ? stat_extended_for(call.caller, first, call.path(1), call.word<int>(2),
                                                                 call.word<unsigned>(3), call.word<void*>(4))
                                             : call.make();
    case SYS_fstat: return call.ask_of(first);
    case SYS_copy_file_range:
        return move_for(call.caller, first, call.word<off64_t*>(1), call.word<int>(2), call.word<off64_t*>(3),
                        [&] { return call.make(); });
    case SYS_sendfile:
        return move_for(call.caller, call.word<int>(1), call.word<off64_t*>(2), first, nullptr,
                        [&] { return call.make(); });
#ifdef SYS_open
    case SYS_open: return call.open_in(AT_FDCWD, 0, call.word<int>(1));
    case SYS_creat: return call.open_in(AT_FDCWD, 0, O_CREAT | O_WRONLY | O_TRUNC);
    case SYS_rename:
    case SYS_link: return call.make_name_in(AT_FDCWD, 1);
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_symlink:
    case SYS_mkdir:
    case SYS_mknod:
    case SYS_chmod:
    case SYS_chown:
    case SYS_lchown:
    case SYS_utime:
    case SYS_utimes:
    case SYS_futimesat: return call.make_once();
    case SYS_access: return call.ask_in(AT_FDCWD, 0, nullptr, 0);
    case SYS_stat:
    case SYS_lstat: return call.ask_in(AT_FDCWD, 0, call.word<void*>(1), sizeof(struct stat));
#endif
    default: return tell(call);
    }
}
#pragma GCC visibility pop
