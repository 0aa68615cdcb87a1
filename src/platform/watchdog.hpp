// SPDX-License-Identifier: Apache-2.0
// Reports where this rank of a cluster is when nothing has moved for a while: the ranks may be in a deadlock.
#pragma once

#include <atomic>
#include <chrono>

namespace causeway::platform {

/// One for the process. Does nothing until it is started.
class watchdog {
  public:
    [[nodiscard]] static watchdog& of_process();

    /// Starts a thread that prints once each time nothing has moved for `limit`.
    void start(std::chrono::seconds limit);
    /// Something has moved. Any thread; cheap.
    void moved() { m_moves.fetch_add(1, std::memory_order_relaxed); }

    [[nodiscard]] bool program_waits() const { return m_what.load(std::memory_order_relaxed) != nullptr; }

    /// While it lives, the program waits for `what`.
    class wait {
      public:
        explicit wait(const char* what) : m_before(of_process().m_what.exchange(what, std::memory_order_relaxed)) {
            if (!s_asks) of_process().moved();
        }
        wait(const wait&) = delete;
        wait& operator=(const wait&) = delete;
        ~wait() { of_process().m_what.store(m_before, std::memory_order_relaxed); }

      private:
        const char* m_before;
    };

    /// While it lives, the program polls a status; waiting for another rank's answer does not count as movement.
    class question {
      public:
        question() { s_asks = true; }
        question(const question&) = delete;
        question& operator=(const question&) = delete;
        ~question() { s_asks = false; }
        /// The status was not final yet.
        void was_in_vain() { of_process().m_asked_in_vain.fetch_add(1, std::memory_order_relaxed); }
    };

  private:
    static inline thread_local bool s_asks = false;

    void run(std::chrono::seconds limit);
    void report(std::chrono::seconds limit, const char* what) const;

    std::atomic<unsigned long> m_moves{0};
    std::atomic<unsigned long> m_asked_in_vain{0};
    std::atomic<const char*> m_what{nullptr}; ///< what the program waits for
};

} // namespace causeway::platform
