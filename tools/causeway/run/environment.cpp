// SPDX-License-Identifier: Apache-2.0
// What the program asks of the system around it: rank 0's terminal, processors, memory, disks and processes, on every
// rank.
#include "rank_0.hpp"
#include "written_files.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using causeway_run::asks, causeway_run::next, causeway_run::result_of_rank_0, causeway_run::take_of_rank_0;

template <class Value> Value same(Value value, const void* caller) {
    if (asks(caller)) take_of_rank_0(&value, sizeof value);
    return value;
}

/// The terminal that standard output was before it became /dev/null, on ranks that do not show theirs: what
/// interpreters ask before they come to OpenCL, they ask without the other ranks.
bool had_terminal(int fd, winsize& size) {
    static const char* const text = std::getenv("_CAUSEWAY_TERMINAL");
    if (text == nullptr || fd != STDOUT_FILENO) return false;
    size = {};
    return std::sscanf(text, "%hu %hu", &size.ws_row, &size.ws_col) == 2;
}

/// What a call has returned, and errno: rank 0's.
template <class Result> Result same_with_error(Result result, const void* caller) {
    return asks(caller) ? static_cast<Result>(result_of_rank_0(static_cast<ssize_t>(result), nullptr, 0)) : result;
}

/// And what it has filled, if it says 0.
template <class Facts> int same_facts(int code, Facts* facts, const void* caller) {
    return facts != nullptr && asks(caller) ? static_cast<int>(result_of_rank_0(code, facts, sizeof *facts)) : code;
}

/// `error` is 0 if the name is there.
int same_name(int error, char* name, std::size_t size, const void* caller) {
    if (!asks(caller)) return error;
    const auto told = static_cast<int>(result_of_rank_0(error, nullptr, 0));
    if (told == 0) take_of_rank_0(name, size);
    return told;
}

} // namespace

#define CAUSEWAY_CALLER __builtin_return_address(0)
#define CAUSEWAY_NEXT(name) static auto* const ask = next<decltype(name)>(#name)

#pragma GCC visibility push(default)
extern "C" {

// The terminal: rank 0 has it, if there is one.
int isatty(int fd) noexcept {
    CAUSEWAY_NEXT(isatty);
    struct {
        int is, error;
    } found{ask(fd), errno};
    winsize unused;
    if (found.is == 0 && had_terminal(fd, unused)) found.is = 1;
    found = same(found, CAUSEWAY_CALLER);
    if (found.is == 0) errno = found.error;
    return found.is;
}
int ttyname_r(int fd, char* name, std::size_t size) noexcept {
    CAUSEWAY_NEXT(ttyname_r);
    return same_name(ask(fd, name, size), name, size, CAUSEWAY_CALLER);
}
char* ttyname(int fd) noexcept {
    CAUSEWAY_NEXT(ttyname_r);
    static char name[TTY_NAME_MAX];
    const int error = same_name(ask(fd, name, sizeof name), name, sizeof name, CAUSEWAY_CALLER);
    if (error == 0) return name;
    errno = error;
    return nullptr;
}
pid_t tcgetpgrp(int fd) noexcept {
    CAUSEWAY_NEXT(tcgetpgrp);
    return same_with_error(ask(fd), CAUSEWAY_CALLER);
}
int tcgetattr(int fd, termios* facts) noexcept {
    CAUSEWAY_NEXT(tcgetattr);
    return same_facts(ask(fd, facts), facts, CAUSEWAY_CALLER);
}
int tcsetattr(int fd, int when, const termios* facts) noexcept {
    CAUSEWAY_NEXT(tcsetattr);
    return same_with_error(ask(fd, when, facts), CAUSEWAY_CALLER);
}
int ioctl(int fd, unsigned long request, ...) noexcept {
    static auto* const ask = next<int(int, unsigned long, void*)>("ioctl");
    std::va_list list;
    va_start(list, request);
    auto* const data = va_arg(list, void*);
    va_end(list);
    // What shares blocks of two files: the other ranks' are in memory, and what can be copied otherwise is.
    if ((request == FICLONE || request == FICLONERANGE) && causeway_run::asks_of_files(CAUSEWAY_CALLER) &&
        causeway_run::is_written(fd)) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int code = ask(fd, request, data);
    if (request == TIOCGWINSZ && code != 0 && had_terminal(fd, *static_cast<winsize*>(data))) code = 0;
    if (request == TIOCGWINSZ) return same_facts(code, static_cast<winsize*>(data), CAUSEWAY_CALLER);
    if (request == TCGETS) return same_with_error(code, CAUSEWAY_CALLER); // whether it is one
    // What waits to be read or written, and whose the terminal is.
    if (causeway_run::is_standard(fd) &&
        (request == FIONREAD || request == TIOCOUTQ || request == TIOCGPGRP || request == TIOCGSID))
        return same_facts(code, static_cast<int*>(data), CAUSEWAY_CALLER);
    return code;
}

// Processors and memory.
long sysconf(int which) noexcept {
    CAUSEWAY_NEXT(sysconf);
    const long found = ask(which);
    switch (which) {
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
    case _SC_PHYS_PAGES:
    case _SC_AVPHYS_PAGES:
    case _SC_OPEN_MAX:
    case _SC_CHILD_MAX: return same(found, CAUSEWAY_CALLER);
    default: return found;
    }
}
int get_nprocs() noexcept {
    CAUSEWAY_NEXT(get_nprocs);
    return same(ask(), CAUSEWAY_CALLER);
}
int get_nprocs_conf() noexcept {
    CAUSEWAY_NEXT(get_nprocs_conf);
    return same(ask(), CAUSEWAY_CALLER);
}
long get_phys_pages() noexcept {
    CAUSEWAY_NEXT(get_phys_pages);
    return same(ask(), CAUSEWAY_CALLER);
}
long get_avphys_pages() noexcept {
    CAUSEWAY_NEXT(get_avphys_pages);
    return same(ask(), CAUSEWAY_CALLER);
}
int sysinfo(struct sysinfo* facts) noexcept {
    static auto* const ask = next<int(struct sysinfo*)>("sysinfo");
    return same_facts(ask(facts), facts, CAUSEWAY_CALLER);
}
int getloadavg(double* loads, int count) noexcept {
    CAUSEWAY_NEXT(getloadavg);
    const int code = ask(loads, count);
    return asks(CAUSEWAY_CALLER)
               ? static_cast<int>(result_of_rank_0(code, loads, static_cast<std::size_t>(count) * sizeof *loads))
               : code;
}
// By their names for the linker: C++ declares the C library's sets otherwise.
int affinity_of(pid_t process, std::size_t size, void* set) noexcept asm("sched_getaffinity");
int affinity_of(pid_t process, std::size_t size, void* set) noexcept {
    static auto* const ask = next<int(pid_t, std::size_t, void*)>("sched_getaffinity");
    const int code = ask(process, size, set);
    return asks(CAUSEWAY_CALLER) ? static_cast<int>(result_of_rank_0(code, set, size)) : code;
}
int affinity_of_thread(unsigned long thread, std::size_t size, void* set) noexcept asm("pthread_getaffinity_np");
int affinity_of_thread(unsigned long thread, std::size_t size, void* set) noexcept {
    static auto* const ask = next<int(unsigned long, std::size_t, void*)>("pthread_getaffinity_np");
    const int code = ask(thread, size, set);
    return asks(CAUSEWAY_CALLER) ? static_cast<int>(result_of_rank_0(code, set, size)) : code;
}
int sched_getcpu() noexcept {
    CAUSEWAY_NEXT(sched_getcpu);
    return same(ask(), CAUSEWAY_CALLER);
}
int getcpu(unsigned* processor, unsigned* node) noexcept {
    CAUSEWAY_NEXT(getcpu);
    unsigned found[2] = {0, 0};
    const int code = same_facts(ask(&found[0], &found[1]), &found, CAUSEWAY_CALLER);
    if (processor != nullptr) *processor = found[0];
    if (node != nullptr) *node = found[1];
    return code;
}
unsigned hardware_threads() noexcept asm("_ZNSt6thread20hardware_concurrencyEv");
unsigned hardware_threads() noexcept {
    static auto* const ask = next<unsigned()>("_ZNSt6thread20hardware_concurrencyEv");
    return same(ask(), CAUSEWAY_CALLER);
}
int limits_of(int which, rlimit* facts) noexcept asm("getrlimit"); // declared with an enumeration in C++
int limits_of(int which, rlimit* facts) noexcept {
    static auto* const ask = next<int(int, rlimit*)>("getrlimit");
    return same_facts(ask(which, facts), facts, CAUSEWAY_CALLER);
}
int limits_of_large(int which, rlimit64* facts) noexcept asm("getrlimit64");
int limits_of_large(int which, rlimit64* facts) noexcept {
    static auto* const ask = next<int(int, rlimit64*)>("getrlimit64");
    return same_facts(ask(which, facts), facts, CAUSEWAY_CALLER);
}
int limits_to(pid_t process, int which, const rlimit* wanted, rlimit* facts) noexcept asm("prlimit");
int limits_to(pid_t process, int which, const rlimit* wanted, rlimit* facts) noexcept {
    static auto* const ask = next<int(pid_t, int, const rlimit*, rlimit*)>("prlimit");
    return same_facts(ask(process, which, wanted, facts), facts, CAUSEWAY_CALLER);
}
int limits_to_large(pid_t process, int which, const rlimit64* wanted, rlimit64* facts) noexcept asm("prlimit64");
int limits_to_large(pid_t process, int which, const rlimit64* wanted, rlimit64* facts) noexcept {
    static auto* const ask = next<int(pid_t, int, const rlimit64*, rlimit64*)>("prlimit64");
    return same_facts(ask(process, which, wanted, facts), facts, CAUSEWAY_CALLER);
}
int getdtablesize() noexcept {
    CAUSEWAY_NEXT(getdtablesize);
    return same(ask(), CAUSEWAY_CALLER);
}

// Room on disks.
int disk_small(const char* path, struct statfs* facts) noexcept asm("statfs");
int disk_small(const char* path, struct statfs* facts) noexcept {
    static auto* const ask = next<int(const char*, struct statfs*)>("statfs");
    return same_facts(ask(path, facts), facts, CAUSEWAY_CALLER);
}
int disk_large(const char* path, struct statfs64* facts) noexcept asm("statfs64");
int disk_large(const char* path, struct statfs64* facts) noexcept {
    static auto* const ask = next<int(const char*, struct statfs64*)>("statfs64");
    return same_facts(ask(path, facts), facts, CAUSEWAY_CALLER);
}
int disk_of_volume_small(const char* path, struct statvfs* facts) noexcept asm("statvfs");
int disk_of_volume_small(const char* path, struct statvfs* facts) noexcept {
    static auto* const ask = next<int(const char*, struct statvfs*)>("statvfs");
    return same_facts(ask(path, facts), facts, CAUSEWAY_CALLER);
}
int disk_of_volume_large(const char* path, struct statvfs64* facts) noexcept asm("statvfs64");
int disk_of_volume_large(const char* path, struct statvfs64* facts) noexcept {
    static auto* const ask = next<int(const char*, struct statvfs64*)>("statvfs64");
    return same_facts(ask(path, facts), facts, CAUSEWAY_CALLER);
}

// Processes.
mode_t umask(mode_t mask) noexcept {
    CAUSEWAY_NEXT(umask);
    return same(ask(mask), CAUSEWAY_CALLER);
}
int priority_of(int kind, id_t whose) noexcept asm("getpriority"); // declared with an enumeration in C++
int priority_of(int kind, id_t whose) noexcept {
    static auto* const ask = next<int(int, id_t)>("getpriority");
    return same(ask(kind, whose), CAUSEWAY_CALLER);
}
int nice(int more) noexcept {
    CAUSEWAY_NEXT(nice);
    return same_with_error(ask(more), CAUSEWAY_CALLER);
}
pid_t getppid() noexcept {
    CAUSEWAY_NEXT(getppid);
    return same(ask(), CAUSEWAY_CALLER);
}
pid_t getpgrp() noexcept {
    CAUSEWAY_NEXT(getpgrp);
    return same(ask(), CAUSEWAY_CALLER);
}
pid_t getpgid(pid_t process) noexcept {
    CAUSEWAY_NEXT(getpgid);
    return same_with_error(ask(process), CAUSEWAY_CALLER);
}
pid_t getsid(pid_t process) noexcept {
    CAUSEWAY_NEXT(getsid);
    return same_with_error(ask(process), CAUSEWAY_CALLER);
}
/// The program is asked for in its first thread alone, whose number is the process's.
pid_t gettid() noexcept {
    return causeway_run::is_programs(CAUSEWAY_CALLER) ? causeway_run::first_process()
                                                      : static_cast<pid_t>(syscall(SYS_gettid));
}
long gethostid() {
    CAUSEWAY_NEXT(gethostid);
    return same(ask(), CAUSEWAY_CALLER);
}
/// A program that sends a signal to itself names rank 0.
int kill(pid_t process, int number) noexcept {
    CAUSEWAY_NEXT(kill);
    if (!asks(CAUSEWAY_CALLER)) return ask(process, number);
    return ask(process == causeway_run::first_process() ? static_cast<pid_t>(syscall(SYS_getpid)) : process, number);
}

} // extern "C"
#pragma GCC visibility pop
