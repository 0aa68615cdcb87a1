// SPDX-License-Identifier: Apache-2.0
// Paths by what the kernel and the loader say; fork, exec and wait.
#include "beside.hpp"

#include "launcher.hpp"
#include "printable.hpp"

#include <causeway/causeway.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

namespace causeway_tool {

namespace {

namespace fs = std::filesystem;

/// As shells say it.
int status_of_refusal(int reason) { return reason == ENOENT ? 127 : 126; }

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const auto& each : words) pointers.push_back(const_cast<char*>(each.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

/// A process of this group that has signals and does nothing: one that both have went to the whole group, so that the
/// program has it, too. Nothing else tells. It is none of ours, which `pkill -f causeway` would reach as well.
class witness {
  public:
    /// What the caller has blocked waits for it as long as it lives.
    witness() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
        const std::vector<std::string> command{"cat"}, settings; // it is not to be recorded
        if (::posix_spawnp(&m_process, "cat", &actions, nullptr, pointers_to(command).data(),
                           pointers_to(settings).data()) != 0)
            m_process = 0;
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[0]);
        m_input = ends[1]; // ends with this process, however that ends
    }
    ~witness() {
        ::close(m_input);
        if (m_process == 0) return;
        ::kill(m_process, SIGKILL);
        while (::waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {}
    }
    witness(const witness&) = delete;
    witness& operator=(const witness&) = delete;

    [[nodiscard]] bool has(int signal) const {
        std::ifstream status("/proc/" + std::to_string(m_process) + "/status");
        std::uint64_t pending = 0;
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("ShdPnd:")) pending = std::stoull(line.substr(line.find('\t')), nullptr, 16);
        return (pending >> (signal - 1) & 1) != 0;
    }

  private:
    pid_t m_process = 0;
    int m_input = -1;
};

/// Those of a user or a launcher, without what is ignored: that stays so, as `nohup` wants it, and for the program,
/// too.
sigset_t passed_signals() {
    sigset_t passed;
    sigemptyset(&passed);
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction now{};
        if (sigaction(each, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&passed, each);
    }
    return passed;
}

/// Passes on what this process alone is sent. With ^C from the terminal and from here, mpirun would leave its ranks
/// behind.
int wait_for(pid_t child, const sigset_t& waited) {
    auto beside = std::make_unique<witness>();
    for (int status = 0;;) {
        const int signal = ::sigwaitinfo(&waited, nullptr);
        if (signal == SIGCHLD) {
            if (::waitpid(child, &status, WNOHANG) == child) return status;
        } else if (signal > 0 && beside->has(signal)) {
            beside = std::make_unique<witness>();
        } else if (signal > 0) {
            ::kill(child, signal);
        }
    }
}

/// What execve() would fail with: a traced process stops before its first instruction. Where none may be traced, only
/// permissions are looked at.
int refusal_by_kernel(const std::string& path) {
    if (::access(path.c_str(), X_OK) != 0) return errno;
    char* const words[] = {const_cast<char*>(path.c_str()), nullptr};
    const pid_t child = ::fork();
    if (child < 0) return 0;
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // it would go on without who traces it
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(0);
        ::execve(path.c_str(), words, environ);
        ::_exit(errno);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    ::kill(child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return 0;
}

void say_why(const std::string& program, int reason) {
    std::fprintf(stderr, "causeway: cannot start %s: %s\n", causeway_tool::printable(program).c_str(),
                 std::strerror(reason));
}

} // namespace

std::string shared_file(const std::string& name) {
    std::error_code error;
    const auto self = fs::read_symlink("/proc/self/exe", error);
    return (self.parent_path().parent_path() / "share" / "causeway" / name).string();
}

std::string library_file(const std::string& name) {
    Dl_info found{};
    if (dladdr(reinterpret_cast<const void*>(&causeway_version), &found) == 0 || found.dli_fname == nullptr)
        return name;
    std::error_code error;
    const auto library = fs::canonical(found.dli_fname, error);
    return (error ? fs::path(found.dli_fname) : library).parent_path() / name;
}

int run_and_wait(const std::vector<std::string>& words) {
    const auto pointers = pointers_to(words);
    auto waited = passed_signals();
    sigaddset(&waited, SIGCHLD);
    std::signal(SIGCHLD, SIG_DFL); // or nobody would hear of the end
    sigset_t before;
    sigprocmask(SIG_BLOCK, &waited, &before);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &before);
    pid_t child = 0;
    const int refused = ::posix_spawnp(&child, pointers.front(), nullptr, &attributes, pointers.data(), environ);
    posix_spawnattr_destroy(&attributes);
    if (refused != 0) {
        say_why(words.front(), refused);
        return status_of_refusal(refused);
    }
    const int status = wait_for(child, waited);
    // What came too late for the program is nobody's; from now on signals are the caller's.
    const timespec no_time{};
    while (::sigtimedwait(&waited, nullptr, &no_time) > 0) {}
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (WIFSIGNALED(status))
        std::fprintf(stderr, "causeway: %s was ended by %s\n", causeway_tool::printable(words.front()).c_str(),
                     strsignal(WTERMSIG(status)));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void become(const std::vector<std::string>& words) {
    ::execvp(words.front().c_str(), pointers_to(words).data());
    const int refused = errno;
    say_why(words.front(), refused);
    std::exit(status_of_refusal(refused));
}

int refusal_to_start(const std::string& name) {
    const auto path = name.find('/') == std::string::npos ? on_path(name) : name;
    const int reason = path.empty() ? ENOENT : refusal_by_kernel(path);
    if (reason == 0) return 0;
    say_why(name, reason);
    return status_of_refusal(reason);
}

} // namespace causeway_tool
