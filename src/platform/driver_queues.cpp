// SPDX-License-Identifier: Apache-2.0
// A thread of its own waits for the drivers: one that never comes back must not keep the process.
#include "platform/driver_queues.hpp"

#include "base/blocked_signals.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace causeway::platform {

namespace {

bool is_over(const driver_object<cl_event>& event) {
    cl_int status = CL_COMPLETE;
    const auto code = event.calls().clGetEventInfo(event.raw(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                                   &status, nullptr);
    return code != CL_SUCCESS || status <= CL_COMPLETE;
}

} // namespace

driver_queues& driver_queues::of_process() {
    // Never destroyed: the program may let go of queues while static objects are destroyed.
    static auto& one = *new driver_queues;
    return one;
}

void driver_queues::add(cl_command_queue raw) {
    const std::lock_guard lock(m_mutex);
    m_queues.push_back(raw);
}

void driver_queues::remove(cl_command_queue raw, bool is_finished) {
    {
        const std::lock_guard lock(m_mutex);
        std::erase(m_queues, raw);
        if (m_ends || is_finished) return;
    }
    cl_event marker = nullptr;
    (void)calls_of(raw).clEnqueueMarkerWithWaitList(raw, 0, nullptr, &marker);
    (void)calls_of(raw).clFlush(raw);
    driver_object<cl_event> last(marker);
    std::vector<driver_object<cl_event>> over; // let go of without the lock
    const std::lock_guard lock(m_mutex);
    const auto first_over = std::partition(m_last.begin(), m_last.end(), [](const auto& one) { return !is_over(one); });
    over.assign(std::make_move_iterator(first_over), std::make_move_iterator(m_last.end()));
    m_last.erase(first_over, m_last.end());
    if (last) m_last.push_back(std::move(last));
}

void driver_queues::finish(std::chrono::milliseconds limit) {
    std::vector<driver_object<cl_command_queue>> queues;
    std::vector<driver_object<cl_event>> last;
    {
        const std::lock_guard lock(m_mutex);
        if (m_in_vain) return;
        for (auto* const raw : m_queues)
            if (calls_of(raw).clRetainCommandQueue(raw) == CL_SUCCESS) queues.emplace_back(raw);
        last.swap(m_last);
    }
    if (queues.empty() && last.empty()) return;
    std::promise<void> over;
    const auto told = over.get_future();
    const blocked_signals none;
    try {
        std::thread([queues = std::move(queues), last = std::move(last), over = std::move(over)]() mutable {
            for (const auto& one : queues) (void)one.calls().clFlush(one.raw());
            for (const auto& one : queues) (void)one.calls().clFinish(one.raw());
            for (const auto& one : last) {
                auto* const raw = one.raw();
                (void)one.calls().clWaitForEvents(1, &raw);
            }
            queues.clear();
            last.clear();
            over.set_value();
        }).detach();
    } catch (const std::system_error&) {
        return; // no thread is to be had
    }
    if (told.wait_for(limit) == std::future_status::ready) return;
    const std::lock_guard lock(m_mutex);
    m_in_vain = true;
}

void driver_queues::end(std::chrono::milliseconds limit) {
    {
        const std::lock_guard lock(m_mutex);
        m_ends = true;
    }
    finish(limit);
}

void driver_queues::finish_first(std::chrono::milliseconds limit) {
    // Compilers inside drivers make static objects when they first need them, which end before whatever was registered
    // by then. What ends before all static objects are the thread's own.
    struct last_wait {
        std::chrono::milliseconds longest;
        pid_t process;
        ~last_wait() {
            if (process == ::getpid()) of_process().finish(longest); // a child of fork() has no threads of drivers
        }
    };
    if (::gettid() != ::getpid()) return;
    thread_local const last_wait at_end{limit, ::getpid()};
}

} // namespace causeway::platform
