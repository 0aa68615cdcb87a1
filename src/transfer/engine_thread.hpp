// SPDX-License-Identifier: Apache-2.0
// The thread that drives one engine, and who does it while that sleeps.
#pragma once

#include "base/blocked_signals.hpp"
#include "transfer/engine.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

namespace causeway::transfer {

/// Runs engine::step() until stopped; sleeps when there is nothing to do. Blocks all signals in its thread.
class engine_thread {
  public:
    /// Drives the engine in its own thread, which waits for a command anyway: nobody has to be woken for it, and nobody
    /// to tell it of the end. Takes no part if the engine's thread is awake, as that is as fast then, or if somebody
    /// else does.
    class inline_driver {
      public:
        /// Right before the command is submitted. The thread takes no signals and cannot be cancelled until its end.
        explicit inline_driver(engine_thread& sleeping);
        ~inline_driver();
        inline_driver(const inline_driver&) = delete;
        inline_driver& operator=(const inline_driver&) = delete;

        /// Until `work` has ended, or for so long that signals should not wait longer: then the engine's thread goes
        /// on. Call without locks that a step of the engine could want.
        void advance(const command& work);
        [[nodiscard]] bool drives() const { return m_drives; }

      private:
        /// In a thread of the program: it is not ended in the middle of a step, neither by what its handlers of signals
        /// do nor by pthread_cancel(3), nor by what a closed pipe or a full file raises in it, of which the call's
        /// error tells.
        class undisturbed {
          public:
            undisturbed();
            ~undisturbed();
            undisturbed(const undisturbed&) = delete;
            undisturbed& operator=(const undisturbed&) = delete;

          private:
            const blocked_signals m_blocked; // ends last
            sigset_t m_raised_before{};
            int m_cancel_before = 0;
        };
        engine_thread& m_sleeping;
        std::optional<undisturbed> m_protection; // ends when all is handed back
        bool m_drives = false;
    };

    explicit engine_thread(engine& driven);
    ~engine_thread() { stop(); }

    /// Waits up to `longest` for the active commands to end. Not from the engine's own thread.
    [[nodiscard]] bool wait_idle(std::chrono::milliseconds longest) const;
    /// The same, then fails the rest with `reason` and waits a little more.
    /// True if nothing is left. Not from the engine's own thread.
    bool drain(std::chrono::milliseconds longest, const failure& reason);

    /// Stops after the step under way. Commands that are left never end.
    void stop();
    /// The same, but if that step takes longer than `longest`, the thread is left behind: it may be in a driver that
    /// has shut down. False then, and the engine must live on.
    [[nodiscard]] bool stop_within(std::chrono::milliseconds longest);

    /// Whether the caller drives the engine.
    [[nodiscard]] bool is_current() const { return std::this_thread::get_id() == m_driver; }

  private:
    void run();

    engine& m_engine;
    std::atomic<bool> m_stopping{false};
    std::atomic<std::thread::id> m_driver;
    std::atomic<std::thread::id> m_own; // the thread's
    std::promise<void> m_over;
    std::thread m_thread;
};

} // namespace causeway::transfer
