// SPDX-License-Identifier: Apache-2.0
// What other threads tell an engine.
#pragma once

#include "transfer/gate.hpp"
#include "transfer/step.hpp"

#include <condition_variable>
#include <chrono>
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
            const std::lock_guard lock(m_mutex);
            m_messages.push_back(std::move(mail));
        }
        m_arrived.notify_one();
    }

    void wake(std::uint64_t command) noexcept override { post(wake_up{command}); }

    /// Everything that has arrived, in order. `into` must be empty; its memory is reused.
    void take(std::vector<message>& into) {
        const std::lock_guard lock(m_mutex);
        into.swap(m_messages);
    }

    /// Sleeps until there is mail, or for `longest`.
    void wait(std::optional<std::chrono::nanoseconds> longest) {
        std::unique_lock lock(m_mutex);
        const auto arrived = [this] { return !m_messages.empty(); };
        if (longest) {
            m_arrived.wait_for(lock, *longest, arrived);
        } else {
            m_arrived.wait(lock, arrived);
        }
    }

  private:
    std::mutex m_mutex; // guards m_messages
    std::condition_variable m_arrived;
    std::vector<message> m_messages;
};

} // namespace causeway::transfer
