// SPDX-License-Identifier: Apache-2.0
// The thread that drives one engine, and callers that drive it while that thread sleeps.
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
    /// A thread blocked in an API call drives the engine while the engine's own thread sleeps, which saves two
    /// wake-ups. Does nothing if the engine's thread is awake, which is as fast, or if another caller drives.
    class inline_driver {
      public:
        /// Construct right before submitting the command. While it lives, the calling thread handles no signals and
        /// cannot be cancelled.
        explicit inline_driver(engine_thread& sleeping);
        ~inline_driver();
        inline_driver(const inline_driver&) = delete;
        inline_driver& operator=(const inline_driver&) = delete;

        /// Drives until `work` has ended, or until pending signals have waited long enough; then the engine's thread
        /// goes on. The caller must hold no lock that a step of the engine may take.
        void advance(const command& work);
        [[nodiscard]] bool drives() const { return m_drives; }

      private:
        /// Keeps signals and pthread_cancel(3) from a thread of the program while it drives. SIGPIPE and SIGXFSZ of its
        /// own writes are dropped: the call's error tells of a closed pipe or a full file.
        class undisturbed {
          public:
            undisturbed();
            ~undisturbed();
            undisturbed(const undisturbed&) = delete;
            undisturbed& operator=(const undisturbed&) = delete;

          private:
            const blocked_signals m_blocked; // destroyed last
            sigset_t m_raised_before{};
            int m_cancel_before = 0;
        };
        engine_thread& m_sleeping;
        std::optional<undisturbed> m_protection; // until the engine is handed back
        bool m_drives = false;
    };

    explicit engine_thread(engine& driven);
    ~engine_thread() { stop(); }

    /// Waits up to `longest` for the active commands to end. Not from the engine's own thread.
    [[nodiscard]] bool wait_idle(std::chrono::milliseconds longest) const;
    /// As wait_idle(), then fails the rest with `reason` and waits a little more. True if nothing is left. Not from the
    /// engine's own thread.
    bool drain(std::chrono::milliseconds longest, const failure& reason);

    /// Stops after the step under way. Commands that are left never end.
    void stop();
    /// As stop(), but waits at most `longest` for that step. False: the thread is still in it, perhaps in a driver that
    /// has shut down, and the engine must not be destroyed.
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
