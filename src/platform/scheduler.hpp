// SPDX-License-Identifier: Apache-2.0
// Holds commands back whose driver cannot see what they wait for, and calls the program back.
#pragma once

#include "platform/queue.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace causeway::platform {

/// Events of one driver for one wait list.
class raw_waits {
  public:
    void add(cl_event raw) {
        if (m_count < m_few.size())
            m_few[m_count] = raw;
        else {
            if (m_count == m_few.size()) m_many.assign(m_few.begin(), m_few.end());
            m_many.push_back(raw);
        }
        ++m_count;
    }
    [[nodiscard]] cl_uint count() const { return m_count; }
    [[nodiscard]] const cl_event* list() const {
        return m_count == 0 ? nullptr : m_count > m_few.size() ? m_many.data() : m_few.data();
    }

  private:
    cl_uint m_count = 0;
    std::array<cl_event, 8> m_few;
    std::vector<cl_event> m_many;
};

/// What stands between a command and its driver.
struct obstacle {
    enum class sort { none, not_yet, failed };
    sort what = sort::none;
    _cl_event* event = nullptr;
};

/// Which drivers are asked whether an event is over: all; none, so that only what is known counts; or, on the
/// scheduler's thread, those of events that it does not watch. Watched events are asked for once for all that wait for
/// them.
enum class asks { driver, nobody, unwatched };

/// Whether `event`, which a command of `queue` waits for, holds it back. If not, and if its driver must still wait, it
/// is in `raws`. An event that has failed is never given to a driver: PoCL 3.1 hangs then, Intel's runtime 2026.2
/// crashes.
[[nodiscard]] obstacle look_at(_cl_event& event, const _cl_command_queue& queue, bool may_fail, raw_waits& raws,
                               asks whom = asks::driver);

/// As above, for all that a command of `queue` waits for. If nothing holds it back, the queues of those events are
/// flushed: the program does not know some of them, and drivers do not start commands that nobody has flushed.
[[nodiscard]] obstacle look_at_all(const waiting_command& command, const _cl_command_queue& queue, raw_waits& raws,
                                   asks whom = asks::driver);

/// One for the process. Threads start with the first command that has to wait, and end when the process begins to end,
/// because drivers shut down. A thread that waits for a command after that does their work; callbacks are no longer
/// called.
class scheduler {
  public:
    [[nodiscard]] static scheduler& of_process();

    /// Puts a command behind those of its queue that wait already.
    void defer(_cl_command_queue& queue, waiting_command command);
    void call_back(_cl_event& event, _cl_event::callback callback);
    /// Calls `action` with the final status once the event is over, on the scheduler's thread: it must not wait.
    void after(_cl_event& event, std::function<void(cl_int)> action);
    /// Calls `action` once all of `events` are over, which end on each rank of a cluster by themselves: in this thread
    /// if they are. It must not wait.
    void after_all(std::vector<ref<_cl_event>> events, std::function<void()> action);
    /// A command that no driver has here is over.
    void end(_cl_event& event, const command_end& how);
    /// Sets a user event. Throws CL_INVALID_OPERATION if it is set.
    void set(_cl_event& event, cl_int status);

    /// Return when the event is over; when the drivers have all commands that `queue` has now.
    void wait_for(_cl_event& event);
    void wait_for_turns(_cl_command_queue& queue);
    /// Returns when the queue has heard how its parts of collectives ended.
    void wait_for_outcomes(_cl_command_queue& queue);

    /// A line for each of the first commands that wait, and for what, for the user.
    [[nodiscard]] std::string describe_waits();
    /// The threads start, if they have not: handlers of `exit` that are registered later run before its own, on every
    /// rank.
    void begin();
    /// Waits until nothing is left to do, at most for `limit`; says whether that is so.
    bool drain(std::chrono::milliseconds limit);

    /// Something may have changed that a command waits for. Any thread, also a driver's.
    void ring();
    /// A driver says that an event is over, which was held for that.
    void called_back(cl_event raw);

  private:
    scheduler() = default;
    void start(); // with m_mutex held
    void run();
    void stop();
    /// Each command that waits in a queue waits for a watched event: until one of those ends or the bell rings, a look
    /// at the events, once each, is enough.
    enum class looks { at_events, at_all };
    /// Looks once. Says whether anything moved.
    bool step(looks at);
    template <class Over> void wait_until(Over over);
    /// Says whether some are left.
    bool let_go_of_called_back();
    bool issue_ready(_cl_command_queue& queue, std::unique_lock<std::mutex>& lock);
    bool look_at_watched(std::unique_lock<std::mutex>& lock);
    bool look_at_late(std::unique_lock<std::mutex>& lock);
    void let_go_of_empty_queues(std::unique_lock<std::mutex>& lock);
    void watch(_cl_event& event);
    void carry_out(_cl_command_queue& queue, waiting_command command, const obstacle& found, const raw_waits& raws);
    void announce();
    void run_callbacks();
    void thread_ends();

    struct late_action {
        std::vector<ref<_cl_event>> behind;
        std::function<void()> act;
    };
    struct due_callback {
        ref<_cl_event> event;
        cl_int status;
        _cl_event::callback callback;
    };

    // Guards what follows, and what queues and events leave to the scheduler. Release no object under it: a context's
    // last one calls the program.
    std::mutex m_mutex;
    std::vector<ref<_cl_command_queue>> m_busy;
    std::vector<ref<_cl_event>> m_watched; ///< each once, whoever waits for it
    std::size_t m_asked = 0; ///< of these, for whose end a driver was asked in the last look
    std::vector<late_action> m_late;
    bool m_started = false;
    bool m_idle = true; ///< since the last look, which found nothing that waits
    std::condition_variable m_settled;

    std::mutex m_bell_mutex; // guards m_rung; drivers ring while they hold locks of theirs, so nothing else is done
                             // under it
    std::condition_variable m_bell;
    bool m_rung = false;
    std::vector<cl_event> m_called_back, m_left_call; // guarded by m_bell_mutex too

    std::mutex m_changed_mutex; // for m_changed: an event was issued or is over, or a queue ran empty
    std::condition_variable m_changed;
    bool m_stopping = false; // guarded by m_changed_mutex, as is the next one
    unsigned m_running = 0; // threads

    std::mutex m_due_mutex; // guards m_due and m_calls_back
    std::condition_variable m_due_bell;
    std::deque<due_callback> m_due;
    bool m_calls_back = true; ///< until the process ends
};

} // namespace causeway::platform
