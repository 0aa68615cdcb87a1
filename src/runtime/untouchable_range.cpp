// SPDX-License-Identifier: Apache-2.0
// mmap(2) without access, and a handler in front of the program's own.
#include "runtime/untouchable_range.hpp"

#include "base/error.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace causeway::core {

namespace {

// Read by a signal handler: nothing but plain words. One range at a time is enough, as a process has one heap.
std::atomic<std::uintptr_t> begin{0}, end{0};
struct sigaction before;

void say_so(int number, siginfo_t* info, void* context) {
    const auto where = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (where >= begin && where < end) {
        static constexpr char
            text[] = "causeway: the program touches an address of the symmetric heap, which is memory of a device that "
                     "the host does "
                     "not reach: use causeway_symmetric_get and causeway_symmetric_put, or commands\n";
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
    } else if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
        before.sa_sigaction(number, info, context);
        return;
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
        return;
    }
    // The access is tried again, and ends the process as it would have.
    std::signal(number, SIG_DFL);
}

} // namespace

untouchable_range::untouchable_range(std::size_t bytes) : m_bytes(bytes) {
    void* const made = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) {
        const int cause = errno;
        throw transfer_error(status::out_of_host_memory,
                             "reserving " + bytes_text(bytes) + " of addresses: " + errno_text(cause), cause);
    }
    m_first = static_cast<std::byte*>(made);
    begin = reinterpret_cast<std::uintptr_t>(made);
    end = begin + bytes;
    static std::once_flag installed;
    std::call_once(installed, [] {
        struct sigaction ours{};
        ours.sa_sigaction = say_so;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&ours.sa_mask);
        ::sigaction(SIGSEGV, &ours, &before);
    });
}

untouchable_range::~untouchable_range() {
    begin = end = 0;
    ::munmap(m_first, m_bytes);
}

} // namespace causeway::core
