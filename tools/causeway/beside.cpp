// SPDX-License-Identifier: Apache-2.0
// Paths by what the kernel and the loader say; fork, exec and wait.
#include "beside.hpp"

#include <causeway/causeway.h>

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace causeway_tool {

namespace {

namespace fs = std::filesystem;

constexpr int not_found = 127; // as shells say it

pid_t child = 0; // set before its parent can be signalled

/// What a terminal sends (^C, its end) comes from the kernel, and has reached the whole group. `timeout` sends to a process
/// and then to the group: that is one wish, and more of them would have mpirun leave its ranks behind.
void pass_on(int signal, siginfo_t* told, void*) {
    static std::array<std::chrono::steady_clock::time_point, NSIG> passed{};
    const auto now = std::chrono::steady_clock::now();
    auto& last = passed[static_cast<std::size_t>(signal)];
    if (child == 0 || told->si_code == SI_KERNEL || now - last < std::chrono::seconds(1)) return;
    last = now;
    ::kill(child, signal);
}

/// What is ignored, as by `nohup`, stays so, and is what the program finds.
void pass_on_signals() {
    struct sigaction passing {};
    passing.sa_sigaction = pass_on;
    passing.sa_flags = SA_SIGINFO;
    sigfillset(&passing.sa_mask); // in the order in which they come
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        if (sigaction(each, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(each, &passing, nullptr);
    }
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const auto& each : words) pointers.push_back(const_cast<char*>(each.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

void say_why(const std::string& program, int reason) {
    std::fprintf(stderr, "causeway: cannot start %s: %s\n", program.c_str(), std::strerror(reason));
}

} // namespace

std::string shared_file(const std::string& name) {
    std::error_code error;
    const auto self = fs::read_symlink("/proc/self/exe", error);
    return (self.parent_path().parent_path() / "share" / "causeway" / name).string();
}

std::string library_file(const std::string& name) {
    Dl_info found{};
    if (dladdr(reinterpret_cast<const void*>(&causeway_version), &found) == 0 || found.dli_fname == nullptr) return name;
    std::error_code error;
    const auto library = fs::canonical(found.dli_fname, error);
    return (error ? fs::path(found.dli_fname) : library).parent_path() / name;
}

int run_and_wait(const std::vector<std::string>& words) {
    const auto pointers = pointers_to(words);
    pass_on_signals();
    const int refused = ::posix_spawnp(&child, pointers.front(), nullptr, nullptr, pointers.data(), environ);
    if (refused != 0) {
        say_why(words.front(), refused);
        return not_found;
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 1;
    child = 0;
    if (WIFSIGNALED(status)) std::fprintf(stderr, "causeway: %s was ended by %s\n", words.front().c_str(), strsignal(WTERMSIG(status)));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void become(const std::vector<std::string>& words) {
    ::execvp(words.front().c_str(), pointers_to(words).data());
    say_why(words.front(), errno);
    std::exit(not_found);
}

} // namespace causeway_tool
