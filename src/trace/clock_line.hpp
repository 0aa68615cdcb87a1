// SPDX-License-Identifier: Apache-2.0
// Maps times of one clock to those of another.
#pragma once

#include <cstdint>
#include <vector>

namespace causeway::trace {

/// The offset is interpolated linearly between samples, because clocks drift; constant before the first and after the
/// last. Nanoseconds.
class clock_line {
  public:
    struct point {
        std::int64_t when, least, most;
        [[nodiscard]] std::int64_t middle() const { return least + (most - least) / 2; }
    };

    /// At time `when` of one clock, the other was ahead by `least` to `most`. Call in the order of `when`.
    void add(std::int64_t when, std::int64_t least, std::int64_t most);
    [[nodiscard]] bool empty() const { return m_points.empty(); }
    /// The time by the other clock.
    [[nodiscard]] std::int64_t of(std::int64_t when) const { return when + difference_at(when); }
    [[nodiscard]] std::int64_t difference_at(std::int64_t when) const;
    /// The largest half-width of the bounds of a sample.
    [[nodiscard]] std::int64_t uncertainty() const;
    /// About a hundred points from which add() rebuilds about this line.
    [[nodiscard]] const std::vector<point>& points() const { return m_points; }

  private:
    void insert(const point& seen);

    std::vector<point> m_points;
    std::int64_t m_spacing = 1'000'000'000;
};

} // namespace causeway::trace
