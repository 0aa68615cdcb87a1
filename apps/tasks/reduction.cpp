// SPDX-License-Identifier: Apache-2.0
// Reduction: sorted runs are merged pair by pair, level by level, each level in as many tasks as there were runs at
// first.
#include "tasks/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace task_problems {

namespace {

class reduction final : public problem {
  public:
    explicit reduction(const options& with)
        : m_depth(with.small ? 5 : 10), m_size(with.small ? 32u * 200 : 64u << 20),
          m_values(2 * m_size, with.distribution) {}

    void reset() override {
        for (std::size_t each = 0; each < m_size; ++each) m_values[each] = static_cast<float>(before(each));
    }

    void spawn(causeway::task_group& group) override {
        const auto part = m_size >> m_depth;
        for (unsigned level = 0; level < m_depth; ++level) {
            auto* const source = m_values.get() + (level % 2 == 0 ? 0 : m_size);
            auto* const target = m_values.get() + (level % 2 == 0 ? m_size : 0);
            const auto run = part << level;
            for (std::size_t pair = 0; pair < m_size; pair += 2 * run)
                for (std::size_t within = 0; within < 2 * run; within += part)
                    group.spawn(
                        [=] {
                            merge_part(source + pair, source + pair + run, run, within, part, target + pair + within);
                        },
                        {causeway::in(source + pair, 2 * run), causeway::out(target + pair + within, part)});
        }
    }

    bool is_right() const override {
        std::vector<std::uint32_t> times(values);
        for (std::size_t each = 0; each < m_size; ++each) ++times[before(each)];
        const float* next = m_values.get() + (m_depth % 2 == 0 ? 0 : m_size);
        for (std::size_t value = 0; value < values; ++value)
            for (; times[value] != 0; --times[value])
                if (*next++ != static_cast<float>(value)) return false;
        return true;
    }

  private:
    static constexpr std::uint32_t values = 1u << 24; ///< that a float tells apart

    /// Grows within each run, so that a reset sorts nothing: with the paper's input that took longer than the tasks.
    [[nodiscard]] std::uint32_t before(std::size_t each) const {
        const auto part = m_size >> m_depth, step = values / part;
        return static_cast<std::uint32_t>(each % part * step + (each * 2654435761u >> 16) % step);
    }

    /// How many of the first `count` of both runs together come from the left one.
    static std::size_t split(const float* left, const float* right, std::size_t run, std::size_t count) {
        std::size_t low = count > run ? count - run : 0, high = std::min(count, run);
        while (low < high) {
            const auto middle = low + (high - low) / 2;
            if (left[middle] < right[count - middle - 1])
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
    static void merge_part(const float* left, const float* right, std::size_t run, std::size_t from, std::size_t count,
                           float* target) {
        const auto begin = split(left, right, run, from), end = split(left, right, run, from + count);
        std::merge(left + begin, left + end, right + (from - begin), right + (from + count - end), target);
    }

    const unsigned m_depth;
    const std::size_t m_size;
    block<float> m_values; ///< and room for as many
};

} // namespace

std::unique_ptr<problem> make_reduction(const options& with) { return std::make_unique<reduction>(with); }

} // namespace task_problems
