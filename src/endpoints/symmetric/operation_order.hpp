// SPDX-License-Identifier: Apache-2.0
// Orders one PE's one-sided commands as fences, quiets and collectives demand.
#pragma once

#include "base/error.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

namespace causeway::endpoints {

/// Plain operations pass one another. A fence begins when all operations before it have ended. Those behind it begin
/// when the fence has ended.
class operation_order {
  public:
    enum class kind { plain, fence };

    /// A turn in the order, from join() to leave(). Engine's thread only.
    class turn {
      public:
        turn(operation_order& order, kind what) : m_order(order), m_kind(what) {
            if (what == kind::fence) ++order.m_made_fences;
        }
        ~turn() { leave(); }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;

        /// Joins the line; call in the order of enqueue.
        void join();
        /// Calls `came` once the operation may begin, perhaps at once. Not called any more after leave().
        void wait(std::function<void()> came);
        /// The operation has ended; `why` is its failure, empty if it succeeded.
        void leave(const failure& why = {});

      private:
        operation_order& m_order;
        kind m_kind;
        std::uint64_t m_number = 0; // 0: not in line
        bool m_is_over = false;
    };

    /// Whether a fence has not ended yet; counts fences that the engine has not received yet, too. Any thread.
    [[nodiscard]] bool has_fences() const { return m_made_fences.load(std::memory_order_acquire) != 0; }

    /// The first failure since the last call.
    [[nodiscard]] failure take_failure() { return std::exchange(m_failure, {}); }

  private:
    enum class state : std::uint8_t { plain, fence, ended };

    [[nodiscard]] state& state_of(std::uint64_t number) { return m_line[static_cast<std::size_t>(number - m_first)]; }
    [[nodiscard]] bool may_begin(std::uint64_t number);
    void pass();

    std::deque<state> m_line;    // from m_first on; its first has not ended
    std::uint64_t m_first = 1;
    std::size_t m_fences = 0;    // in line
    std::atomic<std::size_t> m_made_fences = 0; // and not over
    std::map<std::uint64_t, std::function<void()>> m_waiting;
    bool m_passing = false, m_again = false;
    failure m_failure;
};

} // namespace causeway::endpoints
