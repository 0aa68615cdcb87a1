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

        /// Drives until `work` has ended, or until signals have waited long enough; then the engine's thread goes on.
        /// Hold no lock that a step of the engine may take.
        void advance(const command& work);
        [[nodiscard]] bool drives() const { return m_drives; }

      private:
        /// Keeps a thread of the program alive through a step: signals, pthread_cancel(3), SIGPIPE and SIGXFSZ wait.
        /// The call's error tells of a closed pipe or a full file.
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
    /// The same, but waits at most `longest` for that step. False: the thread is left behind, perhaps in a driver that
    /// has shut down, and the engine must live on.
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
