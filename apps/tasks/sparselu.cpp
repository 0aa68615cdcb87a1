// SPDX-License-Identifier: Apache-2.0
// SparseLU: LU factorisation of a matrix of blocks of which many are empty; blocks that fill up are made as they are
// met.
#include "tasks/problem.hpp"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <vector>

namespace task_problems {

namespace {

// What tasks and the check call is compiled once, so that both compute the same to the last bit.
[[gnu::noinline]] void factor(float* diagonal, std::size_t size) {
    for (std::size_t step = 0; step < size; ++step)
        for (std::size_t row = step + 1; row < size; ++row) {
            const float scale = diagonal[row * size + step] /= diagonal[step * size + step];
            for (std::size_t column = step + 1; column < size; ++column)
                diagonal[row * size + column] -= scale * diagonal[step * size + column];
        }
}

/// A block right of the diagonal.
[[gnu::noinline]] void solve_right(const float* diagonal, float* block, std::size_t size) {
    for (std::size_t step = 0; step < size; ++step)
        for (std::size_t row = step + 1; row < size; ++row)
            for (std::size_t column = 0; column < size; ++column)
                block[row * size + column] -= diagonal[row * size + step] * block[step * size + column];
}

/// A block below the diagonal.
[[gnu::noinline]] void solve_below(const float* diagonal, float* block, std::size_t size) {
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t step = 0; step < size; ++step) {
            const float scale = block[row * size + step] /= diagonal[step * size + step];
            for (std::size_t column = step + 1; column < size; ++column)
                block[row * size + column] -= scale * diagonal[step * size + column];
        }
}

[[gnu::noinline]] void subtract_product(const float* left, const float* above, float* block, std::size_t size) {
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t step = 0; step < size; ++step) {
            const float scale = left[row * size + step];
            for (std::size_t column = 0; column < size; ++column)
                block[row * size + column] -= scale * above[step * size + column];
        }
}

class sparselu final : public problem {
  public:
    explicit sparselu(const options& with)
        : m_block(with.small ? 12 : 256), m_blocks(with.small ? 8 : 32), m_how(with.distribution), m_small(with.small) {
    }

    void reset() override {
        m_matrix.clear();
        m_matrix.resize(m_blocks * m_blocks);
        for (std::size_t row = 0; row < m_blocks; ++row)
            for (std::size_t column = 0; column < m_blocks; ++column) {
                if (is_empty(row, column)) continue;
                set(add(m_matrix, row, column).get(), row, column);
            }
    }

    void spawn(causeway::task_group& group) override {
        const auto count = m_block * m_block;
        for_each_step(m_matrix, [&](auto work, float* changed, std::initializer_list<const float*> read) {
            std::vector<causeway_region> regions{causeway::most_used(causeway::inout(changed, count))};
            for (const auto* each : read) regions.push_back(causeway::in(each, count));
            group.spawn(work, regions);
        });
    }

    /// Computes blocks anew from what a serial run would read for them, the other blocks: if all are right, so is each.
    /// All of a small matrix; of a large one every seventh, as all take as long as a serial run.
    bool is_right() const override {
        const auto at = [&](std::size_t row, std::size_t column) -> const float* {
            const auto& its = m_matrix[row * m_blocks + column];
            return its ? its->get() : nullptr;
        };
        for (std::size_t row = 0; row < m_blocks; ++row)
            for (std::size_t column = 0; column < m_blocks; ++column) {
                const bool is_last = row + 1 == m_blocks && column + 1 == m_blocks;
                if (!m_small && !is_last && (row + 3 * column) % 7 != 0) continue;
                const auto steps = std::min(row, column);
                bool is_there = !is_empty(row, column);
                std::vector<float> expected(m_block * m_block);
                if (is_there) set(expected.data(), row, column);
                for (std::size_t step = 0; step < steps; ++step) {
                    const auto *left = at(row, step), *above = at(step, column);
                    if (!left || !above) continue;
                    subtract_product(left, above, expected.data(), m_block);
                    is_there = true;
                }
                const auto* const found = at(row, column);
                if (is_there != (found != nullptr)) return false;
                if (!found) continue;
                if (row == column)
                    factor(expected.data(), m_block);
                else
                    (row < column ? solve_right : solve_below)(at(steps, steps), expected.data(), m_block);
                if (!std::equal(expected.begin(), expected.end(), found)) return false;
            }
        return true;
    }

  private:
    using blocks = std::vector<std::unique_ptr<block<float>>>;

    static bool is_empty(std::size_t row, std::size_t column) {
        if (row == column || row + 1 == column || row == column + 1) return false;
        if ((row < column && row % 3 != 0) || (row > column && column % 3 != 0)) return true;
        return row % 2 == 1 || column % 2 == 1;
    }
    /// The matrix before the tasks.
    void set(float* to, std::size_t row, std::size_t column) const {
        for (std::size_t each = 0; each < m_block * m_block; ++each)
            to[each] = static_cast<float>((each * 7 + row + column) % 11) / 11;
        if (row == column) // so that no pivot is needed
            for (std::size_t each = 0; each < m_block; ++each)
                to[each * m_block + each] += static_cast<float>(2 * m_block * m_blocks);
    }
    block<float>& add(blocks& to, std::size_t row, std::size_t column) const {
        auto& cell = to[row * m_blocks + column];
        if (!cell) {
            cell = std::make_unique<block<float>>(m_block * m_block, m_how);
            std::fill(cell->get(), cell->get() + m_block * m_block, 0.0f);
        }
        return *cell;
    }
    /// Calls `act(work, what it changes, what it reads)` in an order that a serial run could keep.
    template <class Act> void for_each_step(blocks& of, Act&& act) const {
        const auto size = m_block;
        const auto at = [&](std::size_t row, std::size_t column) {
            return of[row * m_blocks + column] ? of[row * m_blocks + column]->get() : nullptr;
        };
        for (std::size_t step = 0; step < m_blocks; ++step) {
            auto* const diagonal = at(step, step);
            act([=] { factor(diagonal, size); }, diagonal, {});
            for (std::size_t each = step + 1; each < m_blocks; ++each) {
                if (auto* const right = at(step, each))
                    act([=] { solve_right(diagonal, right, size); }, right, {diagonal});
                if (auto* const below = at(each, step))
                    act([=] { solve_below(diagonal, below, size); }, below, {diagonal});
            }
            for (std::size_t row = step + 1; row < m_blocks; ++row)
                for (std::size_t column = step + 1; column < m_blocks; ++column) {
                    const auto *left = at(row, step), *above = at(step, column);
                    if (!left || !above) continue;
                    auto* const changed = add(of, row, column).get();
                    act([=] { subtract_product(left, above, changed, size); }, changed, {left, above});
                }
        }
    }
    const std::size_t m_block, m_blocks;
    const causeway_distribution m_how;
    const bool m_small;
    blocks m_matrix;
};

} // namespace

std::unique_ptr<problem> make_sparselu(const options& with) { return std::make_unique<sparselu>(with); }

} // namespace task_problems
