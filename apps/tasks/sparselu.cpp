// SPDX-License-Identifier: Apache-2.0
// SparseLU: LU factorisation of a matrix of blocks of which many are empty; blocks that fill up are made as they are
// met.
#include "tasks/problem.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace task_problems {

namespace {

void factor(float* diagonal, std::size_t size) {
    for (std::size_t step = 0; step < size; ++step)
        for (std::size_t row = step + 1; row < size; ++row) {
            const float scale = diagonal[row * size + step] /= diagonal[step * size + step];
            for (std::size_t column = step + 1; column < size; ++column)
                diagonal[row * size + column] -= scale * diagonal[step * size + column];
        }
}

/// A block right of the diagonal.
void solve_right(const float* diagonal, float* block, std::size_t size) {
    for (std::size_t step = 0; step < size; ++step)
        for (std::size_t row = step + 1; row < size; ++row)
            for (std::size_t column = 0; column < size; ++column)
                block[row * size + column] -= diagonal[row * size + step] * block[step * size + column];
}

/// A block below the diagonal.
void solve_below(const float* diagonal, float* block, std::size_t size) {
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t step = 0; step < size; ++step) {
            const float scale = block[row * size + step] /= diagonal[step * size + step];
            for (std::size_t column = step + 1; column < size; ++column)
                block[row * size + column] -= scale * diagonal[step * size + column];
        }
}

void subtract_product(const float* left, const float* above, float* block, std::size_t size) {
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
                auto& made = add(m_matrix, row, column);
                for (std::size_t each = 0; each < m_block * m_block; ++each)
                    made[each] = static_cast<float>((each * 7 + row + column) % 11) / 11;
                if (row == column) // so that no pivot is needed
                    for (std::size_t each = 0; each < m_block; ++each)
                        made[each * m_block + each] += static_cast<float>(2 * m_block * m_blocks);
            }
        m_before.clear();
        if (m_small)
            for (const auto& each : m_matrix)
                m_before.emplace_back(each ? std::vector<float>(each->get(), each->get() + m_block * m_block)
                                           : std::vector<float>{});
    }

    void spawn(causeway::task_group& group) override {
        const auto count = m_block * m_block;
        for_each_step(m_matrix, [&](auto work, float* changed, std::initializer_list<const float*> read) {
            std::vector<causeway_region> regions{causeway::most_used(causeway::inout(changed, count))};
            for (const auto* each : read) regions.push_back(causeway::in(each, count));
            group.spawn(work, regions);
        });
    }

    bool is_right() const override {
        // L U gives the matrix back: of small ones everywhere; of large ones the factors are looked at for what is no
        // number.
        if (!m_small)
            return std::all_of(m_matrix.begin(), m_matrix.end(), [&](const auto& each) {
                return !each || std::all_of(each->get(), each->get() + m_block * m_block,
                                            [](float value) { return std::isfinite(value); });
            });
        const auto size = m_block * m_blocks;
        for (std::size_t row = 0; row < size; ++row)
            for (std::size_t column = 0; column < size; ++column) {
                double sum = 0;
                for (std::size_t each = 0; each <= std::min(row, column); ++each)
                    sum += (each == row ? 1.0 : value(row, each)) * value(each, column);
                if (std::abs(sum - before(row, column)) > 1e-3 * static_cast<double>(size)) return false;
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
    double value(std::size_t row, std::size_t column) const {
        const auto& its = m_matrix[row / m_block * m_blocks + column / m_block];
        return its ? (*its)[row % m_block * m_block + column % m_block] : 0;
    }
    double before(std::size_t row, std::size_t column) const {
        const auto& its = m_before[row / m_block * m_blocks + column / m_block];
        return its.empty() ? 0 : its[row % m_block * m_block + column % m_block];
    }

    const std::size_t m_block, m_blocks;
    const causeway_distribution m_how;
    const bool m_small;
    blocks m_matrix;
    std::vector<std::vector<float>> m_before;
};

} // namespace

std::unique_ptr<problem> make_sparselu(const options& with) { return std::make_unique<sparselu>(with); }

} // namespace task_problems
