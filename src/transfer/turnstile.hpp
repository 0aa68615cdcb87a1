// SPDX-License-Identifier: Apache-2.0
// Lets transfers that must take effect in the order of enqueue pass one by one.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace causeway::transfer {

/// What is passed in order: a stream, or a (communicator, rank, tag).
struct turn_key {
    std::uintptr_t object = 0;
    int first = 0, second = 0; ///< zero where they do not matter
    auto operator<=>(const turn_key&) const = default;
};

class turnstile;

/// A place in line. Engine's thread only.
class turn {
  public:
    turn(turnstile& stile, turn_key key) : m_stile(stile), m_key(key) {}
    ~turn() { leave(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    void join();
    /// Calls `came` once this turn is the first in line, perhaps at once.
    void wait(std::function<void()> came);
    /// Lets the next one pass. Also for a turn that never came.
    void leave();

  private:
    friend class turnstile;
    turnstile& m_stile;
    turn_key m_key;
    bool m_joined = false;
    std::function<void()> m_came;
};

class turnstile {
  private:
    friend class turn;
    std::map<turn_key, std::deque<turn*>> m_lines;
    std::vector<turn_key> m_moved; // lines whose first has left
    bool m_passing = false;
};

inline void turn::join() {
    m_joined = true;
    m_stile.m_lines[m_key].push_back(this);
}

inline void turn::wait(std::function<void()> came) {
    if (m_stile.m_lines[m_key].front() == this) {
        came();
    } else {
        m_came = std::move(came);
    }
}

inline void turn::leave() {
    if (!std::exchange(m_joined, false)) return;
    m_came = nullptr;
    const auto line = m_stile.m_lines.find(m_key);
    if (line->second.front() == this) {
        line->second.pop_front();
    } else {
        std::erase(line->second, this);
    }
    if (line->second.empty()) {
        m_stile.m_lines.erase(line);
        return;
    }
    // Who comes may leave at once: a list, not recursion, as a line may be long.
    m_stile.m_moved.push_back(m_key);
    if (std::exchange(m_stile.m_passing, true)) return;
    while (!m_stile.m_moved.empty()) {
        const auto moved = m_stile.m_lines.find(m_stile.m_moved.back());
        m_stile.m_moved.pop_back();
        if (moved == m_stile.m_lines.end()) continue;
        if (auto came = std::exchange(moved->second.front()->m_came, nullptr)) came();
    }
    m_stile.m_passing = false;
}

} // namespace causeway::transfer
