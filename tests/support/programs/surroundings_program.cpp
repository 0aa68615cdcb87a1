// SPDX-License-Identifier: Apache-2.0
// Asks for terminal, processors, memory, limits, disks and processes, of which each rank has made its own before. What
// it is told goes into its commands: ranks that are told otherwise part.
#include "telling.hpp"

#include <CL/cl.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace {

int asked = 0;

void tell(const std::string& text) {
    programs::tell(text);
    ++asked;
}
void tell(long number) { tell(std::to_string(number)); }

std::string by_stdio(const char* path) {
    std::string all;
    auto* const file = std::fopen(path, "r");
    if (file == nullptr) return "nothing";
    for (int letter = std::fgetc(file); letter != EOF; letter = std::fgetc(file)) all += static_cast<char>(letter);
    std::fclose(file);
    return all;
}

constexpr int terminal = 40;

/// By calls of the kernel, which go through as they are: rank 0 has a terminal, the others processors and descriptors
/// of their own number.
void differ(bool is_first) {
    if (is_first) {
        const auto whole = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY));
        const winsize size{33, 77, 0, 0};
        syscall(SYS_ioctl, whole, TIOCSWINSZ, &size);
        syscall(SYS_dup2, whole, terminal); // both ends are terminals
        return;
    }
    syscall(SYS_dup2, syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR), terminal);
    const unsigned long one_processor = 1;
    syscall(SYS_sched_setaffinity, 0, sizeof one_processor, &one_processor);
    const rlimit few{100, 100};
    syscall(SYS_setrlimit, RLIMIT_NOFILE, &few);
    syscall(SYS_umask, 077);
    syscall(SYS_setpriority, PRIO_PROCESS, 0, 1);
}

} // namespace

int main() {
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("PMI_RANK");
    differ(rank == nullptr || *rank == '0');
    programs::make_queue();

    tell(isatty(terminal));
    winsize size{};
    tell(ioctl(terminal, TIOCGWINSZ, &size));
    tell(size.ws_col);
    termios how{};
    tell(tcgetattr(terminal, &how));
    tell(isatty(STDOUT_FILENO));
    const char* const name = ttyname(terminal);
    tell(name == nullptr ? "none" : name);
    tell(tcgetpgrp(terminal));
    for (const int each : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat facts{};
        tell(fstat(each, &facts));
        tell(static_cast<long>(facts.st_mode) * 4096 + static_cast<long>(facts.st_rdev));
        struct statx more{};
        tell(statx(each, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more));
        tell(more.stx_mode);
        tell(fcntl(each, F_GETFL));
    }
    tell(static_cast<long>(std::thread::hardware_concurrency()));
    tell(sysconf(_SC_NPROCESSORS_ONLN));
    tell(get_nprocs());
    tell(sysconf(_SC_AVPHYS_PAGES));
    tell(sysconf(_SC_OPEN_MAX));
    cpu_set_t set;
    CPU_ZERO(&set);
    tell(sched_getaffinity(0, sizeof set, &set));
    tell(CPU_COUNT(&set));
    rlimit limit{};
    tell(getrlimit(RLIMIT_NOFILE, &limit));
    tell(static_cast<long>(limit.rlim_cur));
    tell(prlimit(0, RLIMIT_NOFILE, nullptr, &limit));
    tell(static_cast<long>(limit.rlim_cur));
    tell(getdtablesize());
    unsigned processor = 0, node = 0;
    tell(getcpu(&processor, &node));
    tell(processor);
    ntptimeval told_by_network{};
    tell(ntp_gettime(&told_by_network));
    tell(told_by_network.time.tv_usec);
    struct sysinfo machine{};
    tell(sysinfo(&machine));
    tell(static_cast<long>(machine.freeram));
    double load = 0;
    tell(getloadavg(&load, 1));
    tell(std::to_string(load));
    struct statvfs disk{};
    tell(statvfs("/", &disk));
    tell(static_cast<long>(disk.f_bfree));
    tell(getppid());
    tell(getpgid(0));
    tell(getsid(0));
    tell(syscall(SYS_gettid));
    long chance = 0;
    tell(syscall(SYS_getrandom, &chance, sizeof chance, 0));
    tell(chance);
    tell(gettid() == getpid() ? 1 : 0);
    tell(kill(getpid(), 0));
    int waiting = 0;
    tell(ioctl(STDIN_FILENO, FIONREAD, &waiting));
    tell(waiting);
    tell(umask(022));
    tell(getpriority(PRIO_PROCESS, 0));
    tell(nice(0));
    tell(syscall(SYS_getcpu, &processor, &node, nullptr));
    tell(processor);
    rusage used{};
    tell(syscall(SYS_getrusage, RUSAGE_SELF, &used));
    tell(used.ru_minflt);
    timespec now{};
    tell(syscall(SYS_clock_gettime, CLOCK_REALTIME, &now));
    tell(now.tv_nsec);
    tell(by_stdio("/proc/self/stat"));
    tell(by_stdio("/proc/meminfo"));
    tell(by_stdio("/proc/no such file"));
    tell(by_stdio(("/proc/self/task/" + std::to_string(gettid()) + "/stat").c_str()));
    for (const char* const name : {"/proc/self", "/proc/self/status"}) {
        struct stat facts{};
        tell(stat(name, &facts));
        tell(static_cast<long>(facts.st_ino));
    }
    std::ostringstream status;
    status << std::ifstream("/proc/self/status").rdbuf();
    tell(status.str().empty() ? "nothing" : status.str());
    char uptime[64] = "";
    const int fd = open("/proc/uptime", O_RDONLY);
    tell(read(fd, uptime, sizeof uptime - 1));
    tell(uptime);
    close(fd);
    // Each process has addresses of its own.
    if (by_stdio("/proc/self/maps").find("surroundings_program") == std::string::npos) return 1;
    std::printf("agreed on %d answers, a terminal of %d columns\n", asked, size.ws_col);
    return 0;
}
