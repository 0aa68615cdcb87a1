// SPDX-License-Identifier: Apache-2.0
// mmap, mprotect, and a handler that finds out whose page it was.
#include "study/replay/guarded_memory.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <new>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace replay {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t fence = 16 * page; ///< a stride may step over a single page
constexpr std::byte pattern{0xA5};

/// For the handler, which may not lock: those that live.
struct area {
    const std::byte *front = nullptr, *inner = nullptr, *back = nullptr, *end = nullptr;
    int number = 0;
};
std::array<area, 256> areas;
int told_to = STDERR_FILENO;

void on_fault(int signal, siginfo_t* info, void*) {
    const auto* const at = static_cast<const std::byte*>(info->si_addr);
    const char* where = "elsewhere";
    int number = -1;
    for (const auto& each : areas) {
        if (each.front == nullptr || at < each.front || at >= each.end) continue;
        where = at < each.inner ? "before its begin" : "beyond its end";
        number = each.number;
    }
    char text[128];
    const int length = std::snprintf(text, sizeof text, "{\"fault\":\"%s\",\"object\":%d,\"signal\":%d}\n", where,
                                     number, signal);
    if (::write(told_to, text, static_cast<std::size_t>(length)) < 0) ::_exit(4);
    ::_exit(3);
}

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

} // namespace

guarded_memory::guarded_memory(std::size_t bytes, int number)
    : m_bytes(bytes), m_inner(rounded(std::max<std::size_t>(bytes, 1), page)), m_number(number) {
    void* const made = ::mmap(nullptr, m_inner + 2 * fence, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                              0);
    if (made == MAP_FAILED) throw std::bad_alloc();
    m_area = static_cast<std::byte*>(made);
    auto* const inner = m_area + fence;
    if (::mprotect(inner, m_inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::fill_n(inner, m_inner, pattern);
    m_begin = inner + m_inner - rounded(bytes, alignment);
    for (auto& each : areas)
        if (each.front == nullptr) {
            each = {m_area, inner, inner + m_inner, inner + m_inner + fence, m_number};
            break;
        }
}

guarded_memory::guarded_memory(guarded_memory&& other) noexcept
    : m_area(std::exchange(other.m_area, nullptr)), m_begin(other.m_begin), m_bytes(other.m_bytes),
      m_inner(other.m_inner), m_number(other.m_number) {}

guarded_memory::~guarded_memory() {
    if (m_area == nullptr) return;
    for (auto& each : areas)
        if (each.front == m_area) each = {};
    ::munmap(m_area, m_inner + 2 * fence);
}

bool guarded_memory::is_intact() const {
    const auto is_pattern = [](std::byte each) { return each == pattern; };
    const auto* const inner = m_area + fence;
    return std::all_of(inner, static_cast<const std::byte*>(m_begin), is_pattern) &&
           std::all_of(static_cast<const std::byte*>(m_begin) + m_bytes, inner + m_inner, is_pattern);
}

void guarded_memory::tell_of_faults(int descriptor) {
    told_to = descriptor;
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    for (const int each : {SIGSEGV, SIGBUS, SIGILL}) ::sigaction(each, &action, nullptr);
    // PoCL has a handler of its own, which steps over a division by zero.
    struct sigaction drivers{};
    ::sigaction(SIGFPE, nullptr, &drivers);
    if (drivers.sa_handler == SIG_DFL) ::sigaction(SIGFPE, &action, nullptr);
}

} // namespace replay
