// SPDX-License-Identifier: Apache-2.0
// Searches for the best work-group size with few trials. Knows no device: the caller measures.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace study {

using shape = std::vector<std::size_t>;

struct size_limits {
    shape global;
    std::size_t largest_group = 1;
    shape largest; ///< in each dimension
};

/// All sizes that divide the global one and are within the limits.
[[nodiscard]] std::vector<shape> all_sizes(const size_limits& limits);

class size_search {
  public:
    /// Begins with the program's own size, if it has one.
    size_search(size_limits limits, shape own);

    /// The next size to try: a neighbour of the best size not yet expanded. None when nothing is left or all trials are
    /// spent.
    [[nodiscard]] std::optional<shape> next();
    /// Reports the time of a tried size; none if it failed or gave wrong results.
    void tell(const shape& size, std::optional<double> seconds);

    [[nodiscard]] std::size_t trials() const { return m_tried.size(); }
    [[nodiscard]] std::size_t possible() const { return m_possible; }
    /// A twentieth of what is possible, or 12.
    [[nodiscard]] std::size_t most_trials() const;

  private:
    [[nodiscard]] bool is_new(const shape& size) const;
    /// Divide `items` among the dimensions: filled() gives each one as much as is left, beginning with the first;
    /// squared() gives all the same.
    [[nodiscard]] shape filled(std::size_t items) const;
    [[nodiscard]] shape squared(std::size_t items) const;
    void add_steps(const shape& from);

    size_limits m_limits;
    std::vector<shape> m_divisors; ///< of each dimension, ascending
    std::size_t m_possible;
    std::vector<shape> m_planned; ///< the last one comes next
    std::map<shape, std::optional<double>> m_tried;
    std::set<shape> m_stepped_from;
};

/// A size and the shortest of its times.
using timed_size = std::pair<double, shape>;

/// Runs these sizes in turn, `rounds` times. Gives the shortest time of each, or none if there is no time for that.
using runs_in_turn = std::function<std::optional<std::vector<double>>(const std::vector<shape>&, unsigned rounds)>;

/// The best of sizes that ran once each. Other work on the machine can only make a run longer, so the shortest run of
/// each size counts; fewer and fewer sizes run again. None if `sizes` is empty.
[[nodiscard]] std::optional<shape> best_in_rounds(std::vector<timed_size> sizes, const runs_in_turn& again);

} // namespace study
