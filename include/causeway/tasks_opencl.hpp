// SPDX-License-Identifier: Apache-2.0
// Tasks that wait for OpenCL's events, and events that wait for tasks: one graph of host functions, kernels and
// transfers.
#ifndef CAUSEWAY_TASKS_OPENCL_HPP
#define CAUSEWAY_TASKS_OPENCL_HPP

#include <causeway/tasks.hpp>

#include <CL/cl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <initializer_list>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace causeway {

/// Watches events for tasks, in a thread that sleeps while there are none. It polls, as some implementations never call
/// back for events that fail. Outlives the groups whose tasks wait for events.
class event_bridge {
  public:
    event_bridge() : m_thread([this] { work(); }) {}
    event_bridge(const event_bridge&) = delete;
    event_bridge& operator=(const event_bridge&) = delete;
    /// Tasks that still wait fail.
    ~event_bridge() {
        {
            const std::lock_guard lock(m_mutex);
            m_ends = true;
        }
        m_changed.notify_one();
        m_thread.join();
    }

    /// As spawn(), but the work also waits for the events, which may be released at once. If one fails, the work does
    /// not run, the group is cancelled, and its wait() throws with the event's status.
    template <class Work> void spawn_after(task_group& group, std::span<const cl_event> events, Work&& work,
                                           std::span<const causeway_region> regions = {}) {
        auto one = std::make_unique<watched>();
        one->events.reserve(events.size());
        for (const auto event : events) {
            if (const cl_int code = clRetainEvent(event); code != CL_SUCCESS)
                throw std::invalid_argument("a task that waits for events: one of them is none (" +
                                            std::to_string(code) + ")");
            one->events.push_back(event);
            if (const auto queue = queue_of(event)) clFlush(queue); // a command that is not flushed may never run
        }
        one->group = &group;
        one->held = group.spawn_held(
            [status = one->status, work = std::forward<Work>(work)]() mutable {
                check(*status);
                work();
            },
            regions);
        watch(std::move(one));
    }

    /// A command as a task. A worker calls `enqueue` once earlier tasks of the group whose regions overlap are over.
    /// `enqueue` returns the command's event, which this releases. Later tasks wait for the command's end. If the
    /// command fails, the group is cancelled, and its wait() throws with the event's status. Several threads may call
    /// spawn_command() at once. If another thread spawns a plain task with overlapping regions meanwhile, that task may
    /// wait for `enqueue` only, not for the command: the program keeps such spawns apart.
    template <class Enqueue> void spawn_command(task_group& group, Enqueue&& enqueue,
                                                std::span<const causeway_region> regions) {
        // Two tasks with the same regions, one behind the other: the first enqueues, the second is over with the
        // command.
        auto end = std::make_shared<command_end>(group);
        std::unique_lock lock(m_spawn_mutex);
        auto* const begins = group.spawn_held(
            [this, end, enqueue = std::forward<Enqueue>(enqueue)]() mutable {
                auto one = std::make_unique<watched>();
                one->events.reserve(1);
                one->events.push_back(enqueue());
                one->group = end->group;
                one->status = end->status;
                clFlush(queue_of(one->events.front()));
                one->held = std::exchange(end->held, nullptr);
                watch(std::move(one));
            },
            regions);
        try {
            end->held = group.spawn_held([status = end->status] { check(*status); }, regions);
        } catch (...) {
            lock.unlock();
            group.cancel();
            group.let_go(begins);
            throw;
        }
        lock.unlock();
        end.reset();
        group.let_go(begins);
    }
    template <class Enqueue> void spawn_command(task_group& group, Enqueue&& enqueue,
                                                std::initializer_list<causeway_region> regions) {
        spawn_command(group, std::forward<Enqueue>(enqueue),
                      std::span<const causeway_region>(regions.begin(), regions.size()));
    }

    /// As spawn(); the event, which the caller releases, is complete when the work is over. If the work throws or does
    /// not run, the event fails with CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14).
    template <class Work> [[nodiscard]] static cl_event spawn_event(task_group& group, cl_context context, Work&& work,
                                                                    std::span<const causeway_region> regions = {}) {
        cl_int code = CL_SUCCESS;
        const cl_event event = clCreateUserEvent(context, &code);
        if (code != CL_SUCCESS)
            throw std::runtime_error("an event for a task: clCreateUserEvent gave " + std::to_string(code));
        clRetainEvent(event);
        try {
            auto ends = std::make_shared<ending>(event);
            group.spawn(
                [ends = std::move(ends), work = std::forward<Work>(work)]() mutable {
                    work();
                    ends->set(CL_COMPLETE);
                },
                regions);
        } catch (...) {
            clReleaseEvent(event);
            throw;
        }
        return event;
    }

  private:
    struct watched {
        watched() = default;
        watched(const watched&) = delete;
        watched& operator=(const watched&) = delete;
        ~watched() {
            for (const auto each : events) clReleaseEvent(each);
        }
        std::vector<cl_event> events;
        std::shared_ptr<std::atomic<cl_int>> status = std::make_shared<std::atomic<cl_int>>(CL_COMPLETE);
        task_group* group = nullptr;
        causeway_task* held = nullptr;
    };
    /// Lets the second task of a command go, if the first one ends without a command.
    struct command_end {
        explicit command_end(task_group& of) : group(&of) {}
        command_end(const command_end&) = delete;
        command_end& operator=(const command_end&) = delete;
        ~command_end() {
            if (held) group->let_go(held);
        }
        task_group* group;
        causeway_task* held = nullptr;
        std::shared_ptr<std::atomic<cl_int>> status = std::make_shared<std::atomic<cl_int>>(CL_COMPLETE);
    };
    class ending {
      public:
        explicit ending(cl_event event) : m_event(event) {}
        ending(const ending&) = delete;
        ending& operator=(const ending&) = delete;
        ~ending() {
            set(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            clReleaseEvent(m_event);
        }
        void set(cl_int status) {
            if (!std::exchange(m_is_set, true)) clSetUserEventStatus(m_event, status);
        }

      private:
        cl_event m_event;
        bool m_is_set = false;
    };

    static void check(cl_int status) {
        if (status != CL_COMPLETE)
            throw std::runtime_error("an event that a task waits for ended with " + std::to_string(status));
    }
    /// Null for user events.
    static cl_command_queue queue_of(cl_event event) {
        cl_command_queue queue = nullptr;
        return clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr) == CL_SUCCESS ? queue
                                                                                                          : nullptr;
    }
    void watch(std::unique_ptr<watched> one) {
        try {
            const std::lock_guard lock(m_mutex);
            m_watched.push_back(std::move(one));
        } catch (...) { // no memory: the task fails, and nobody waits for it for ever
            *one->status = CL_OUT_OF_HOST_MEMORY;
            one->group->let_go(one->held);
            throw;
        }
        m_changed.notify_one();
    }

    /// CL_COMPLETE, a failure, or a positive status while it runs.
    static cl_int status_of(cl_event event) {
        cl_int status = CL_QUEUED;
        if (const cl_int code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                               nullptr);
            code != CL_SUCCESS)
            return code;
        // For a command that failed because its wait list failed, Intel's runtime gives the status "complete";
        // clWaitForEvents reports the failure.
        return status == CL_COMPLETE ? clWaitForEvents(1, &event) : status;
    }
    static bool is_over(watched& one) {
        bool over = true;
        for (const auto event : one.events) {
            const cl_int status = status_of(event);
            if (status > CL_COMPLETE) over = false;
            if (status < CL_COMPLETE) *one.status = status;
        }
        return over || *one.status != CL_COMPLETE;
    }

    void work() {
        std::list<std::unique_ptr<watched>> mine;
        auto pause = std::chrono::microseconds(20);
        for (;;) {
            bool ends = false;
            {
                std::unique_lock lock(m_mutex);
                if (mine.empty())
                    m_changed.wait(lock, [this] { return m_ends || !m_watched.empty(); });
                else
                    m_changed.wait_for(lock, pause, [this] { return m_ends || !m_watched.empty(); });
                if (!m_watched.empty()) pause = std::chrono::microseconds(20);
                mine.splice(mine.end(), m_watched); // takes no memory, so it cannot fail in this thread
                ends = m_ends;
            }
            pause = std::min(2 * pause, std::chrono::microseconds(1000));
            for (auto& each : mine) {
                if (!is_over(*each)) {
                    if (!ends) continue;
                    *each->status = CL_INVALID_OPERATION;
                }
                each->group->let_go(each->held);
                each.reset();
                pause = std::chrono::microseconds(20);
            }
            std::erase(mine, nullptr);
            if (ends) return;
        }
    }

    std::mutex m_spawn_mutex; // held while a command's two tasks are spawned, so that no other command's come between
    std::mutex m_mutex; // guards m_watched, m_ends
    std::condition_variable m_changed;
    std::list<std::unique_ptr<watched>> m_watched;
    bool m_ends = false;
    std::thread m_thread;
};

} // namespace causeway

#endif
