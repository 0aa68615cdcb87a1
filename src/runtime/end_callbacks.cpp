// SPDX-License-Identifier: Apache-2.0
// One thread for the callbacks of all transfers, started with the first of them.
#include "runtime/end_callbacks.hpp"

#include "base/blocked_signals.hpp"
#include "base/error.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace causeway::core {

/// Never destroyed: a callback may be under way while the process ends.
class callback_thread {
  public:
    static callback_thread& of_process() {
        static auto* const one = std::make_unique<callback_thread>().release();
        return *one;
    }

    void start() {
        const std::lock_guard lock(m_mutex);
        if (m_ended) throw transfer_error(status::invalid_operation, "the process is ending");
        if (m_id != std::thread::id()) return;
        const blocked_signals none;
        try {
            std::thread running([this] { run(); });
            m_id = running.get_id();
            running.detach();
        } catch (const std::system_error& refused) {
            throw transfer_error(status::out_of_resources,
                                 std::string("making the thread that calls back: ") + refused.what(),
                                 refused.code().value());
        }
    }

    void take(end_callbacks::wish due) {
        const std::lock_guard lock(m_mutex);
        m_due.push_back(std::move(due));
        m_changed.notify_all();
    }

    void end(std::chrono::milliseconds limit) {
        std::unique_lock lock(m_mutex);
        m_ending = true;
        // A callback that ends the process would wait for itself.
        if (m_id != std::thread::id() && m_id != std::this_thread::get_id())
            m_changed.wait_for(lock, limit, [this] { return m_due.empty() && !m_calls; });
        m_ended = true;
    }

  private:
    void run() {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait(lock, [this] { return !m_due.empty() && !m_ended; });
            auto next = std::move(m_due.front());
            m_due.pop_front();
            m_calls = true;
            lock.unlock();
            next.callback(next.event.get(), next.status, next.user_data);
            lock.lock();
            // From the begin of the end on a driver may have shut down.
            if (m_ending) {
                (void)next.event.release();
            } else {
                lock.unlock();
                next.event = {};
                lock.lock();
            }
            m_calls = false;
            m_changed.notify_all();
        }
    }

    std::mutex m_mutex; // guards the rest
    std::condition_variable m_changed;
    std::deque<end_callbacks::wish> m_due;
    std::thread::id m_id;
    bool m_calls = false;
    bool m_ending = false, m_ended = false;
};

void end_callbacks::add(cl_event event, function callback, void* user_data) {
    callback_thread::of_process().start();
    wish wanted{cl::event::share(event), callback, user_data, CL_QUEUED};
    {
        const std::lock_guard lock(m_mutex);
        if (!m_over) {
            m_wishes.push_back(std::move(wanted));
            return;
        }
        wanted.status = m_status;
    }
    callback_thread::of_process().take(std::move(wanted));
}

void end_callbacks::over(cl_int status) {
    std::vector<wish> due;
    {
        const std::lock_guard lock(m_mutex);
        m_over = true;
        m_status = status;
        due = std::move(m_wishes);
    }
    for (auto& each : due) {
        each.status = status;
        callback_thread::of_process().take(std::move(each));
    }
}

void end_callbacks::end(std::chrono::milliseconds limit) { callback_thread::of_process().end(limit); }

} // namespace causeway::core
