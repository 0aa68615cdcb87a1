// SPDX-License-Identifier: Apache-2.0
// Runs a scenario once for every sequence of choices that it can be given.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace unit {

/// Answers a scenario's questions "which of these n?".
class chooser {
  public:
    [[nodiscard]] std::size_t choose(std::size_t count) {
        if (m_next == m_path.size()) m_path.push_back({0, count});
        auto& step = m_path[m_next++];
        if (step.count != count) throw std::logic_error("the scenario is not deterministic");
        return step.chosen;
    }

    /// Moves on to the next sequence; false after the last.
    [[nodiscard]] bool advance() {
        m_path.resize(m_next);
        m_next = 0;
        while (!m_path.empty() && m_path.back().chosen + 1 == m_path.back().count) m_path.pop_back();
        if (m_path.empty()) return false;
        ++m_path.back().chosen;
        return true;
    }

  private:
    struct step {
        std::size_t chosen, count;
    };
    std::vector<step> m_path;
    std::size_t m_next = 0;
};

/// Number of runs, at most `limit`.
template <class Scenario> std::size_t explore(Scenario scenario, std::size_t limit = 200000) {
    chooser choices;
    std::size_t runs = 0;
    do {
        scenario(choices);
        ++runs;
    } while (choices.advance() && runs < limit);
    return runs;
}

} // namespace unit
