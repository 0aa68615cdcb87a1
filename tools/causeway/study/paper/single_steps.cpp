// SPDX-License-Identifier: Apache-2.0
// The processor's trap flag: a signal comes after each instruction. A tracer in another process needs ten times as
// long.
#include "study/paper/single_steps.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace paper {

#ifdef __x86_64__

namespace {

struct range {
    std::uint64_t begin, end;
    bool is_kernel;
};

// What a signal's handler may touch.
std::vector<range> ranges; ///< unchanged while there are steps
std::atomic<bool> steps{false};
std::atomic<std::uint64_t> all_left{0}, kernel_left{0};
thread_local std::size_t last_range = 0;

constexpr greg_t trap_flag = 0x100;
constexpr std::uint64_t waits_per_instruction = 100; ///< a bound alone: a busy machine lets a thread wait in loops

bool is_in_kernel(std::uint64_t address) {
    if (address >= ranges[last_range].begin && address < ranges[last_range].end) return ranges[last_range].is_kernel;
    for (std::size_t i = 0; i < ranges.size(); ++i)
        if (address >= ranges[i].begin && address < ranges[i].end) return ranges[last_range = i].is_kernel;
    return false;
}

void stepped(int, siginfo_t*, void* where) {
    auto& registers = static_cast<ucontext_t*>(where)->uc_mcontext.gregs;
    if (!steps.load(std::memory_order_relaxed)) {
        registers[REG_EFL] &= ~trap_flag;
        return;
    }
    if (all_left.fetch_sub(1, std::memory_order_relaxed) == 1) steps = false;
    if (!is_in_kernel(static_cast<std::uint64_t>(registers[REG_RIP]))) return;
    if (kernel_left.fetch_sub(1, std::memory_order_relaxed) == 1) steps = false;
}

void begin(int, siginfo_t*, void* where) { static_cast<ucontext_t*>(where)->uc_mcontext.gregs[REG_EFL] |= trap_flag; }

void take(int signal, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action{};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaddset(&action.sa_mask, SIGUSR2); // a step within a handler, where steps are blocked, would end the process
    sigaction(signal, &action, nullptr);
}

void read_ranges(const std::function<bool(const std::string&)>& is_kernel) {
    ranges.clear();
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        range read{};
        char dash = 0;
        std::string rights, offset, device, node, path;
        words >> std::hex >> read.begin >> dash >> read.end >> rights >> offset >> device >> node;
        std::getline(words >> std::ws, path);
        read.is_kernel = is_kernel(path);
        if (rights.find('x') != std::string::npos) ranges.push_back(read);
    }
    if (ranges.empty()) throw std::runtime_error("/proc/self/maps cannot be read");
}

} // namespace

instruction_count count_instructions(const std::function<void()>& work, std::uint64_t most,
                                     const std::function<bool(const std::string&)>& is_kernel) {
    read_ranges(is_kernel);
    take(SIGTRAP, stepped);
    take(SIGUSR2, begin);
    const auto process = getpid(), own = static_cast<pid_t>(syscall(SYS_gettid));
    const auto most_of_all = waits_per_instruction * most;
    all_left = most_of_all;
    kernel_left = most;
    steps = true;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
        const auto thread = static_cast<pid_t>(std::stol(each.path().filename().string()));
        if (thread != own) syscall(SYS_tgkill, process, thread, SIGUSR2);
    }
    syscall(SYS_tgkill, process, own, SIGUSR2);
    work();
    const bool is_whole = steps.exchange(false);
    return {most_of_all - all_left, most - kernel_left, is_whole};
}

#else

instruction_count count_instructions(const std::function<void()>&, std::uint64_t,
                                     const std::function<bool(const std::string&)>&) {
    throw std::runtime_error("this processor's programs cannot step through themselves");
}

#endif

} // namespace paper
