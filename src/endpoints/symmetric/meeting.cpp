// SPDX-License-Identifier: Apache-2.0
// Arrivals are numbered in the order in which collectives begin, which is the same on all PEs.
#include "endpoints/symmetric/meeting.hpp"

#include <string>
#include <utility>

namespace causeway::endpoints {

meeting_turn::meeting_turn(std::shared_ptr<heap> of, const meeting_purpose& purpose)
    : m_heap(std::move(of)), m_turn(m_heap->order(), operation_order::kind::fence), m_purpose(purpose),
      m_left(purpose.times) {}

void meeting_turn::come(std::function<void(const failure&)> over) {
    m_over = std::move(over);
    wait_for_turn();
}

void meeting_turn::drop() {
    m_has_failed = true;
    m_over = nullptr;
    if (!m_self && m_left > 0) wait_for_turn();
}

std::string meeting_turn::partner() const {
    const bool is_at_one = m_self != nullptr && m_has_turn;
    if (m_self && !is_at_one) return {};
    constexpr int most_named = 8;
    std::string who;
    int missing = 0;
    for (int pe = 0; is_at_one && pe < m_heap->pes(); ++pe) {
        if (m_heap->arrival_of(pe, m_number).number == m_number) continue;
        if (++missing <= most_named) who += (missing == 1 ? "PE " : ", PE ") + std::to_string(pe);
    }
    if (missing > most_named) who += " and " + std::to_string(missing - most_named) + " more";
    return (missing == 0 ? "all PEs" : who) + " to come to " + m_purpose.name;
}

void meeting_turn::wait_for_turn() {
    m_self = shared_from_this();
    if (m_has_turn) {
        begin();
        return;
    }
    m_turn.wait([this] {
        m_has_turn = true;
        begin();
    });
}

void meeting_turn::begin() {
    --m_left;
    if (m_heap->end_of_meetings()) {
        give_up(m_heap->end_of_meetings());
        return;
    }
    // Its neighbours' memory is still there, and they could meet in it; others cannot be told any more.
    if (const auto left = m_heap->own_absence()) {
        give_up(left);
        return;
    }
    m_number = m_heap->next_meeting();
    const bool refuses = m_purpose.refusal.front() != '\0';
    m_heap->arrive({.number = m_number,
                    .purpose = m_purpose.number,
                    .value = m_purpose.value,
                    .target = m_purpose.target,
                    .source = m_purpose.source,
                    .times = static_cast<std::uint32_t>(m_purpose.times),
                    .has_failed = m_has_failed || refuses ? 1u : 0u,
                    .reason = m_purpose.refusal});
    if (!look()) m_heap->waits().add(*this);
}

bool meeting_turn::look() {
    if (!m_heap->all_have_arrived(m_number)) return false;
    const auto error = disagreement();
    if (is_out_of_step()) {
        m_heap->end_meetings(error);
        m_left = 0;
    }
    end(error);
    return true;
}

/// Commands that meet differently often: from here on each PE would take one call of another PE for the next.
bool meeting_turn::is_out_of_step() const {
    for (int pe = 0; pe < m_heap->pes(); ++pe)
        if (m_heap->arrival_of(pe, m_number).times != static_cast<std::uint32_t>(m_purpose.times)) return true;
    return false;
}

void meeting_turn::give_up(const failure& why) {
    m_heap->end_meetings(why);
    auto whole = why;
    whole.message = std::string(m_purpose.name) + ": " + why.message;
    m_left = 0; // nobody comes any more
    end(whole);
}

failure meeting_turn::disagreement() const {
    const std::string name = m_purpose.name;
    const auto who = [](int pe) { return "PE " + std::to_string(pe); };
    const auto differs = [&](const char* what, const std::string& own, const std::string& other, int pe) {
        return failure{status::invalid_value, 0, 0,
                       name + ": " + what + " is " + own + " on this PE and " + other + " on " + who(pe)};
    };
    const auto at = [](std::uint64_t offset) { return "at " + bytes_text(offset) + " of the heap"; };
    // Behind what one refuses, its arguments mean nothing.
    for (int pe = 0; pe < m_heap->pes(); ++pe)
        if (const auto& other = m_heap->arrival_of(pe, m_number); other.has_failed != 0 && other.reason.front() != '\0')
            return {m_purpose.refused_with, 0, 0, name + ": " + who(pe) + ": " + other.reason.data()};
    for (int pe = 0; pe < m_heap->pes(); ++pe) {
        const auto& other = m_heap->arrival_of(pe, m_number);
        if (other.purpose != m_purpose.number && other.purpose % 16 == m_purpose.number % 16)
            return {status::invalid_value, 0, 0,
                    name + ": " + m_purpose.number_name + " is another one on " + who(pe) + " than on this PE"};
        if (other.purpose != m_purpose.number)
            return {
                status::invalid_operation, 0, 0,
                "all PEs make their collective calls in the same order, with the same arguments: this PE has come to " +
                    name + ", " + who(pe) + " to another one"};
        if (other.has_failed != 0) return {status::peer_failed, 0, 0, name + " failed on " + who(pe)};
        if (m_purpose.value_name != nullptr && other.value != m_purpose.value)
            return differs(m_purpose.value_name, std::to_string(m_purpose.value), std::to_string(other.value), pe);
        if (other.target != m_purpose.target) return differs("the target", at(m_purpose.target), at(other.target), pe);
        if (other.source != m_purpose.source) return differs("the source", at(m_purpose.source), at(other.source), pe);
    }
    return {};
}

void meeting_turn::end(const failure& error) {
    const auto self = std::move(m_self);
    m_has_failed |= static_cast<bool>(error);
    // Where all see the same, all end here; where one has failed, or comes to another call, they may not: each meets as
    // often.
    if (m_left == 0) m_turn.leave();
    if (const auto over = std::exchange(m_over, nullptr)) over(error);
    if (m_has_failed && m_left > 0 && !m_self) wait_for_turn();
}

} // namespace causeway::endpoints
