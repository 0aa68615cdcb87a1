// SPDX-License-Identifier: Apache-2.0
// What other threads tell an engine.
#pragma once

#include "base/spin_lock.hpp"
#include "transfer/gate.hpp"
#include "transfer/step.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

namespace causeway::transfer {

/// Filled by any thread, emptied by the engine's.
class mailbox final : public waker {
  public:
    struct finished_step {
        step* which;
        outcome result;
    };
    struct wake_up {
        std::uint64_t command;
    };
    using message = std::variant<finished_step, wake_up, std::function<void()>>;

    void post(message mail) {
        {
            const std::lock_guard lock(m_messages_lock);
            m_messages.push_back(std::move(mail));
            m_empty = false;
        }
        if (!m_asleep) return;
        const std::lock_guard lock(m_sleep);
        m_arrived.notify_one();
    }

    void wake(std::uint64_t command) noexcept override { post(wake_up{command}); }

    /// Everything that has arrived, in order. `into` must be empty; its memory is reused.
    void take(std::vector<message>& into) {
        if (m_empty) return;
        const std::lock_guard lock(m_messages_lock);
        into.swap(m_messages);
        m_empty = true;
    }

    /// Sleeps until there is mail, or for `longest`.
    void wait(std::optional<std::chrono::nanoseconds> longest) {
        std::unique_lock lock(m_sleep);
        // Said before the look: whoever posts after it sees that somebody has to be woken.
        m_asleep = true;
        const auto arrived = [this] { return !m_empty; };
        if (longest) {
            m_arrived.wait_for(lock, *longest, arrived);
        } else {
            m_arrived.wait(lock, arrived);
        }
        m_asleep = false;
    }

  private:
    // The engine must not be put to sleep because many workers post at once: only its own wait has a mutex.
    spin_lock m_messages_lock; // guards m_messages
    std::vector<message> m_messages;
    std::atomic<bool> m_empty{true};
    std::atomic<bool> m_asleep{false};
    std::mutex m_sleep; // held from the last look to the sleep
    std::condition_variable m_arrived;
};

} // namespace causeway::transfer
