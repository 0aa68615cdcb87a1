// SPDX-License-Identifier: Apache-2.0
// Lets transfers that must take effect in the order of enqueue pass one by one.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace causeway::transfer {

/// Names a line: a stream, or a (communicator, rank, tag). Turns with equal keys pass in order.
struct turn_key {
    std::uintptr_t object = 0;
    int first = 0, second = 0; ///< zero where they do not matter
    auto operator<=>(const turn_key&) const = default;
};

class ordered_gate;

/// A turn in line. Engine's thread only.
class turn {
  public:
    turn(ordered_gate& gate, turn_key key) : m_gate(gate), m_key(key) {}
    ~turn() { leave(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    /// Takes the last position in line.
    void join();
    /// Calls `came` once this turn is the first in line, perhaps before it returns.
    void wait(std::function<void()> came);
    /// Lets the next one pass. Also for a turn that never came.
    void leave();

  private:
    friend class ordered_gate;
    ordered_gate& m_gate;
    turn_key m_key;
    bool m_joined = false;
    std::function<void()> m_came;
};

class ordered_gate {
  private:
    friend class turn;
    using lines = std::map<turn_key, std::deque<turn*>>;

    std::deque<turn*>& line_of(const turn_key& key) {
        if (const auto found = m_lines.find(key); found != m_lines.end()) return found->second;
        if (m_spare.empty()) return m_lines[key];
        auto line = std::move(m_spare.back());
        m_spare.pop_back();
        line.key() = key;
        return m_lines.insert(std::move(line)).position->second;
    }
    void remove(lines::iterator line) {
        auto ended = m_lines.extract(line);
        if (m_spare.size() < most_spare) m_spare.push_back(std::move(ended));
    }

    static constexpr std::size_t most_spare = 16;
    lines m_lines;
    std::vector<lines::node_type> m_spare; // empty lines, so that small transfers take no memory
    std::vector<turn_key> m_moved; // lines whose first has left
    bool m_passing = false;
};

inline void turn::join() {
    m_joined = true;
    m_gate.line_of(m_key).push_back(this);
}

inline void turn::wait(std::function<void()> came) {
    if (m_gate.m_lines[m_key].front() == this) {
        came();
    } else {
        m_came = std::move(came);
    }
}

inline void turn::leave() {
    if (!std::exchange(m_joined, false)) return;
    m_came = nullptr;
    const auto line = m_gate.m_lines.find(m_key);
    if (line->second.front() == this) {
        line->second.pop_front();
    } else {
        std::erase(line->second, this);
    }
    if (line->second.empty()) {
        m_gate.remove(line);
        return;
    }
    // A turn that comes may leave at once. A list, not recursion, because a line may be long.
    m_gate.m_moved.push_back(m_key);
    if (std::exchange(m_gate.m_passing, true)) return;
    while (!m_gate.m_moved.empty()) {
        const auto moved = m_gate.m_lines.find(m_gate.m_moved.back());
        m_gate.m_moved.pop_back();
        if (moved == m_gate.m_lines.end()) continue;
        if (auto came = std::exchange(moved->second.front()->m_came, nullptr)) came();
    }
    m_gate.m_passing = false;
}

} // namespace causeway::transfer
