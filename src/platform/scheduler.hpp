// SPDX-License-Identifier: Apache-2.0
// Holds back commands that wait for what their driver cannot see, and runs the program's event callbacks.
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

/// A wait list of one driver's events; up to 8 without allocating.
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

/// Why a command cannot go to its driver yet: `event` is not over, or has failed.
struct obstacle {
    enum class sort { none, not_yet, failed };
    sort what = sort::none;
    _cl_event* event = nullptr;
};

/// Whether to ask an event's driver if it is over. `nobody`: only what is known counts. `unwatched`: skip events that
/// the scheduler watches, which its thread polls once for all their waiters.
enum class asks { driver, nobody, unwatched };

/// Whether `event` holds back a command of `queue`. If not, but the driver must still wait for it, adds it to `raws`.
/// Never adds a failed event: PoCL 3.1 hangs on one, Intel's runtime 2026.2 crashes.
[[nodiscard]] obstacle look_at(_cl_event& event, const _cl_command_queue& queue, bool may_fail, raw_waits& raws,
                               asks whom = asks::driver);

/// As above, for all that a command of `queue` waits for. If nothing holds it back, the queues of those events are
/// flushed: the program does not know some of them, and drivers do not start commands that nobody has flushed.
[[nodiscard]] obstacle look_at_all(const waiting_command& command, const _cl_command_queue& queue, raw_waits& raws,
                                   asks whom = asks::driver);

/// One for the process. Its two threads start with the first command that has to wait, and stop in an `exit` handler,
/// before drivers shut down. After that a thread that waits for a command does their work, and no callback runs.
class scheduler {
  public:
    [[nodiscard]] static scheduler& of_process();

    /// Queues a command behind those of its queue that already wait.
    void defer(_cl_command_queue& queue, waiting_command command);
    void call_back(_cl_event& event, _cl_event::callback callback);
    /// Calls `action` with the final status once the event is over, on the scheduler's thread. `action` must not block.
    void after(_cl_event& event, std::function<void(cl_int)> action);
    /// Calls `action` once all of `events` are over: at once in this thread if they are, else on the scheduler's.
    /// `action` must not block. The events are ones that every rank ends for itself.
    void after_all(std::vector<ref<_cl_event>> events, std::function<void()> action);
    /// Ends a command that no driver of this rank has.
    void end(_cl_event& event, const command_end& how);
    /// Sets a user event. Throws CL_INVALID_OPERATION if it is set.
    void set(_cl_event& event, cl_int status);

    /// wait_for() blocks until the event is over; wait_for_turns(), until drivers have all commands now in `queue`.
    void wait_for(_cl_event& event);
    void wait_for_turns(_cl_command_queue& queue);
    /// Blocks until the queue knows how its parts of collectives ended.
    void wait_for_outcomes(_cl_command_queue& queue);

    /// For the user: a line for each of the first four waiting queues, with what they wait for.
    [[nodiscard]] std::string describe_waits();
    /// Starts the threads if they have not started, so that `exit` handlers which the program registers later run
    /// before the scheduler's, on every rank.
    void begin();
    /// Waits at most `limit` until nothing is left to do; true if so.
    bool drain(std::chrono::milliseconds limit);

    /// Wakes the scheduler: something that a command waits for may have changed. Any thread, a driver's too.
    void ring();
    /// A driver's callback says that `raw` is over; releases the reference kept for the callback.
    void called_back(cl_event raw);

  private:
    scheduler() = default;
    void start(); // with m_mutex held
    void run();
    void stop();
    /// Every waiting command waits for a watched event. Until one of those ends or the bell rings, polling each watched
    /// event once is enough; else look at all queues.
    enum class looks { at_events, at_all };
    /// One round. True if anything moved.
    bool step(looks at);
    template <class Over> void wait_until(Over over);
    /// Releases events whose driver has called back, a round later. True if some are left.
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

    // Guards what follows, and the members of queues and events that name the scheduler. Release no object under it:
    // releasing a context's last one calls the program's destructor callbacks.
    std::mutex m_mutex;
    std::vector<ref<_cl_command_queue>> m_busy;
    std::vector<ref<_cl_event>> m_watched; ///< no duplicates
    std::size_t m_asked = 0; ///< how many of them a driver was asked about in the last round
    std::vector<late_action> m_late;
    bool m_started = false;
    bool m_idle = true; ///< the last round found nothing that waits
    std::condition_variable m_settled;

    std::mutex m_bell_mutex; // guards m_rung, m_called_back, m_left_call. Drivers ring under their own locks, so
                             // nothing else is done under it
    std::condition_variable m_bell;
    bool m_rung = false;
    std::vector<cl_event> m_called_back, m_left_call; // events whose driver has called back: since the last round;
                                                      // and before it, which may be released

    std::mutex m_changed_mutex; // for m_changed (an event was issued or is over, or a queue ran empty), m_stopping,
                                // m_running
    std::condition_variable m_changed;
    bool m_stopping = false; // the process ends
    unsigned m_running = 0; // threads

    std::mutex m_due_mutex; // guards m_due and m_calls_back
    std::condition_variable m_due_bell;
    std::deque<due_callback> m_due;
    bool m_calls_back = true; ///< until the process ends
};

} // namespace causeway::platform
