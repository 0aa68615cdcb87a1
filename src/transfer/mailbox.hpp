// SPDX-License-Identifier: Apache-2.0
// What other threads tell an engine.
#pragma once

#include "base/spin_lock.hpp"
#include "transfer/gate.hpp"
#include "transfer/step.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

namespace causeway::transfer {

class command;

/// Any thread posts. The engine's thread takes, or an inline driver while that thread sleeps.
class mailbox final : public waker {
  public:
    struct finished_step {
        step* which;
        outcome result;
    };
    struct wake_up {
        std::uint64_t command;
    };
    /// The command is one that is submitted.
    using message = std::variant<finished_step, wake_up, std::shared_ptr<command>, std::function<void()>>;

    void post(message mail) {
        {
            const std::lock_guard lock(m_messages_lock);
            m_messages.push_back(std::move(mail));
            m_empty = false;
        }
        if (!m_asleep) return;
        const std::lock_guard lock(m_sleep);
        (m_has_inline_driver ? m_arrived_inline : m_arrived).notify_one();
    }

    void wake(std::uint64_t command) noexcept override { post(wake_up{command}); }

    /// Everything that has arrived, in order. `into` must be empty; its memory is reused.
    void take(std::vector<message>& into) {
        if (m_empty) return;
        const std::lock_guard lock(m_messages_lock);
        into.swap(m_messages);
        m_empty = true;
    }

    /// For the engine's thread: sleeps until there is mail, or for `longest`; longer while there is an inline driver.
    void wait(std::optional<std::chrono::nanoseconds> longest) {
        std::unique_lock lock(m_sleep);
        m_until = after(longest);
        // Said before the look: whoever posts after it sees that somebody has to be woken.
        m_asleep = m_sleeps = true;
        while (m_has_inline_driver || (m_empty && std::chrono::steady_clock::now() < m_until)) {
            // The inline driver says, when it hands back, how long to sleep on.
            if (m_has_inline_driver) m_until = time_point::max();
            if (m_until == time_point::max()) {
                m_arrived.wait(lock);
            } else {
                m_arrived.wait_until(lock, m_until);
            }
        }
        m_asleep = m_sleeps = false;
    }

    /// Whether take_over() would succeed now. Takes no lock.
    [[nodiscard]] bool can_take_over() const { return m_asleep; }
    /// Makes the caller the inline driver, without waking the thread that sleeps in wait(). False if that thread is
    /// awake, or another caller drives. Until hand_back(), only the caller takes mail and waits for it.
    [[nodiscard]] bool take_over() {
        const std::lock_guard lock(m_sleep);
        if (!m_sleeps || m_has_inline_driver) return false;
        m_has_inline_driver = true;
        m_asleep = false;
        return true;
    }
    /// For the inline driver: sleeps until there is mail, or for `longest`.
    void wait_inline(std::chrono::nanoseconds longest) {
        std::unique_lock lock(m_sleep);
        m_asleep = true;
        m_arrived_inline.wait_for(lock, longest, [this] { return !m_empty; });
        m_asleep = false;
    }
    /// The caller stops driving. Wakes the engine's thread if there is mail, or if it would sleep longer than
    /// `longest`.
    void hand_back(std::optional<std::chrono::nanoseconds> longest) {
        const std::lock_guard lock(m_sleep);
        m_has_inline_driver = false;
        m_asleep = true;
        const auto until = after(longest);
        const bool sleeps_for_too_long = until < m_until || m_until <= std::chrono::steady_clock::now();
        m_until = std::min(m_until, until);
        if (!m_empty || sleeps_for_too_long) m_arrived.notify_one();
    }

  private:
    using time_point = std::chrono::steady_clock::time_point;
    [[nodiscard]] static time_point after(std::optional<std::chrono::nanoseconds> some) {
        return some ? std::chrono::steady_clock::now() + *some : time_point::max();
    }

    // A spin lock: workers that post at once must not put the engine to sleep. Only its own wait uses a mutex.
    spin_lock m_messages_lock; // guards m_messages
    std::vector<message> m_messages;
    std::atomic<bool> m_empty{true};
    std::atomic<bool> m_asleep{false}; // whoever takes the mail sleeps: post() has to notify
    std::mutex m_sleep; // held from the last look at m_empty until asleep; guards the rest
    std::condition_variable m_arrived, m_arrived_inline;
    bool m_sleeps = false; // the engine's thread, in wait()
    bool m_has_inline_driver = false;
    time_point m_until;
};

} // namespace causeway::transfer
