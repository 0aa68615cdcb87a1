// SPDX-License-Identifier: Apache-2.0
// The thread that drives one engine.
#pragma once

#include "transfer/engine.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace causeway::transfer {

/// Runs engine::step() until stopped; sleeps when there is nothing to do. Blocks all signals in its thread.
class engine_thread {
  public:
    explicit engine_thread(engine& driven);
    ~engine_thread() { stop(); }

    /// Waits up to `longest` for the active commands to end. Not from the engine's own thread.
    [[nodiscard]] bool wait_idle(std::chrono::milliseconds longest) const;
    /// The same, then fails the rest with `reason` and waits a little more.
    /// True if nothing is left. Not from the engine's own thread.
    bool drain(std::chrono::milliseconds longest, const failure& reason);

    /// Stops after the step under way. Commands that are left never end.
    void stop();
    /// The same, but if that step takes longer than `longest`, the thread is left behind: it may be in a driver that has shut
    /// down. False then, and the engine must live on.
    [[nodiscard]] bool stop_within(std::chrono::milliseconds longest);

    [[nodiscard]] bool is_current() const { return std::this_thread::get_id() == m_thread.get_id(); }

  private:
    void run();

    engine& m_engine;
    std::atomic<bool> m_stopping{false};
    std::promise<void> m_over;
    std::thread m_thread;
};

} // namespace causeway::transfer
