// SPDX-License-Identifier: Apache-2.0
// Meetings: synchronise all PEs, once or several times in one command.
#pragma once

#include "endpoints/symmetric/heap.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace causeway::endpoints {

/// What a PE has come to a meeting for: all have to come for the same.
struct meeting_purpose {
    const char* name = "";    ///< a literal
    std::uint64_t number = 0; ///< % 16: number of the call; / 16: what else must be the same on all PEs
    const char* number_name = ""; ///< what else that is
    std::uint64_t value = 0;  ///< an argument in which all PEs must agree, or which the others read by value_of()
    const char* value_name = nullptr; ///< its name if they must agree; else null
    std::uint64_t target = 0, source = 0; ///< offsets in the heap, which must be the same on all PEs
    int times = 1;                        ///< meetings of the command
    heap_control::refusal_text refusal{}; ///< why this PE refuses its call, which fails it on all PEs
    int refused_with = status::peer_failed; ///< the code of a call that another PE refuses
};

/// This PE's part in the meetings of one command, in the order of enqueue. It comes even if the command has failed,
/// because the others wait. Engine's thread only.
class meeting_turn final : private heap_waiter, public std::enable_shared_from_this<meeting_turn> {
  public:
    meeting_turn(std::shared_ptr<heap> of, const meeting_purpose& purpose);

    /// Joins the order; call in the order of enqueue.
    void join() { m_turn.join(); }
    /// Comes to the next meeting. Calls `over` at its end, unless drop() was called. A failure fails the whole command:
    /// this then comes to the remaining meetings by itself.
    void come(std::function<void(const failure&)> over);
    /// The command has ended: comes to the remaining meetings by itself.
    void drop();

    /// Who has yet to come, for the user; empty while it waits for this PE's own commands.
    [[nodiscard]] std::string partner() const;
    /// What the others have brought to the meeting that is just over.
    [[nodiscard]] std::uint64_t value_of(int pe) const { return m_heap->arrival_of(pe, m_number).value; }

  private:
    bool look() override;
    void give_up(const failure& why) override;
    [[nodiscard]] heap& of() override { return *m_heap; }
    [[nodiscard]] failure trouble(time_point now) override { return m_heap->trouble_at_meeting(m_number, now); }
    void wait_for_turn();
    void begin();
    [[nodiscard]] failure disagreement() const;
    [[nodiscard]] bool is_out_of_step() const;
    void end(const failure& error);

    std::shared_ptr<heap> m_heap;
    operation_order::turn m_turn;
    meeting_purpose m_purpose;
    int m_left;
    std::shared_ptr<meeting_turn> m_self; // while it is at a meeting, or waits for its turn
    std::function<void(const failure&)> m_over;
    bool m_has_turn = false, m_has_failed = false;
    std::uint64_t m_number = 0;
};

} // namespace causeway::endpoints
