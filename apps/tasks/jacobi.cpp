// SPDX-License-Identifier: Apache-2.0
// Jacobi: the heat equation on a square. Two grids in one allocation, block after block.
#include "tasks/problem.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace task_problems {

namespace {

class jacobi final : public problem {
  public:
    explicit jacobi(const options& with)
        : m_size(with.small ? 64 : 16384), m_block(with.small ? 16 : 512), m_steps(with.small ? 7 : 5),
          m_blocks(m_size / m_block), m_zeros(m_size), m_grids(2 * m_size * m_size, with.distribution) {}

    void reset() override {
        for (std::size_t row = 0; row < m_size; ++row)
            for (std::size_t column = 0; column < m_size; column += m_block) {
                auto *const first = part_of_row(0, row, column), *const other = part_of_row(1, row, column);
                for (std::size_t each = 0; each < m_block; ++each) first[each] = before(row, column + each);
                std::fill_n(other, m_block, 0.0f);
            }
    }
    void spawn(causeway::task_group& group) override {
        for (std::size_t step = 0; step < m_steps; ++step)
            for (std::size_t row = 0; row < m_blocks; ++row)
                for (std::size_t column = 0; column < m_blocks; ++column) {
                    const auto from = step % 2;
                    const neighbours near{row > 0 ? block_of(from, row - 1, column) : nullptr,
                                          row + 1 < m_blocks ? block_of(from, row + 1, column) : nullptr,
                                          column > 0 ? block_of(from, row, column - 1) : nullptr,
                                          column + 1 < m_blocks ? block_of(from, row, column + 1) : nullptr};
                    const float* const source = block_of(from, row, column);
                    float* const target = block_of(1 - from, row, column);
                    std::vector<causeway_region> regions{causeway::in(source, m_block * m_block),
                                                         causeway::out(target, m_block * m_block)};
                    if (near.above) regions.push_back(causeway::in(near.above + (m_block - 1) * m_block, m_block));
                    // Of a column the values lie apart: the first row stands for them.
                    for (const auto* const each : {near.below, near.before, near.behind})
                        if (each) regions.push_back(causeway::in(each, m_block));
                    group.spawn([=, this] { relax(source, near, target); }, regions);
                }
    }
    bool is_right() const override {
        // All steps at once, row by row: a row of a step needs three of the step before, which are kept.
        std::vector<std::array<std::vector<float>, 3>> rows(m_steps + 1);
        for (auto& each : rows) each.fill(m_zeros);
        for (std::size_t next = 0; next < m_size + m_steps; ++next) {
            if (next < m_size)
                for (std::size_t column = 0; column < m_size; ++column)
                    rows[0][next % 3][column] = before(next, column);
            for (std::size_t step = 1; step <= m_steps; ++step) {
                const auto row = next - step;
                if (row >= m_size) continue; // before the first as well
                const auto& from = rows[step - 1];
                const auto& above = row > 0 ? from[(row - 1) % 3] : m_zeros;
                const auto& below = row + 1 < m_size ? from[(row + 1) % 3] : m_zeros;
                relax_row(above.data(), below.data(), from[row % 3].data(), 0, 0, rows[step][row % 3].data(), m_size);
            }
            const auto row = next - m_steps;
            if (row >= m_size) continue;
            const auto* const wanted = rows[m_steps][row % 3].data();
            for (std::size_t column = 0; column < m_size; column += m_block)
                if (!std::equal(wanted + column, wanted + column + m_block, part_of_row(m_steps % 2, row, column)))
                    return false;
        }
        return true;
    }

  private:
    /// Blocks; null at the edge.
    struct neighbours {
        const float *above, *below, *before, *behind;
    };
    static float before(std::size_t row, std::size_t column) {
        return static_cast<float>((row * 16384 + column) % 101);
    }
    float* block_of(std::size_t grid, std::size_t row, std::size_t column) const {
        return m_grids.get() + ((grid * m_blocks + row) * m_blocks + column) * m_block * m_block;
    }
    /// As much of a row as a block has.
    float* part_of_row(std::size_t grid, std::size_t row, std::size_t column) const {
        return block_of(grid, row / m_block, column / m_block) + row % m_block * m_block;
    }
    static void relax_row(const float* above, const float* below, const float* row, float before, float behind,
                          float* target, std::size_t count) {
        const auto last = count - 1;
        target[0] = 0.25f * (above[0] + below[0] + before + row[1]);
        for (std::size_t each = 1; each < last; ++each)
            target[each] = 0.25f * (above[each] + below[each] + row[each - 1] + row[each + 1]);
        target[last] = 0.25f * (above[last] + below[last] + row[last - 1] + behind);
    }
    void relax(const float* source, const neighbours& near, float* target) const {
        const auto last = m_block - 1;
        const float* const top = near.above ? near.above + last * m_block : m_zeros.data();
        const float* const bottom = near.below ? near.below : m_zeros.data();
        for (std::size_t row = 0; row < m_block; ++row) {
            const auto begin = row * m_block;
            relax_row(row > 0 ? source + begin - m_block : top, row < last ? source + begin + m_block : bottom,
                      source + begin, near.before ? near.before[begin + last] : 0, near.behind ? near.behind[begin] : 0,
                      target + begin, m_block);
        }
    }
    const std::size_t m_size, m_block, m_steps, m_blocks;
    const std::vector<float> m_zeros;
    block<float> m_grids;
};

} // namespace

std::unique_ptr<problem> make_jacobi(const options& with) { return std::make_unique<jacobi>(with); }

} // namespace task_problems
