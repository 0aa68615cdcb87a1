// SPDX-License-Identifier: Apache-2.0
// Jacobi: the heat equation on a square, in strips of rows of blocks; two grids in one allocation.
#include "tasks/problem.hpp"

#include <utility>
#include <vector>

namespace task_problems {

namespace {

class jacobi final : public problem {
  public:
    explicit jacobi(const options& with)
        : m_size(with.small ? 64 : 16384), m_block(with.small ? 16 : 512), m_steps(with.small ? 7 : 5),
          m_grids(2 * m_size * m_size, with.distribution) {}

    void reset() override {
        for (std::size_t each = 0; each < 2 * m_size * m_size; ++each) m_grids[each] = 0;
        for (std::size_t each = 0; each < m_size * m_size; ++each) m_grids[each] = before(each);
    }
    void spawn(causeway::task_group& group) override {
        const auto blocks = m_size / m_block;
        for (std::size_t step = 0; step < m_steps; ++step) {
            const float* const from = m_grids.get() + (step % 2) * m_size * m_size;
            float* const to = m_grids.get() + (1 - step % 2) * m_size * m_size;
            for (std::size_t row = 0; row < blocks; ++row)
                for (std::size_t column = 0; column < blocks; ++column) {
                    // A block's rows lie apart: dependences by the first row of each block, footprints by its rows.
                    std::vector<causeway_region> regions{causeway::out(mark(1 - step % 2, row, column))};
                    for (const auto& [r, c] : {std::pair{row, column},
                                               {row - 1, column},
                                               {row + 1, column},
                                               {row, column - 1},
                                               {row, column + 1}})
                        if (r < blocks && c < blocks) regions.push_back(causeway::in(mark(step % 2, r, c)));
                    for (std::size_t each = 0; each < m_block; each += 16)
                        regions.push_back(
                            causeway::footprint(from + (row * m_block + each) * m_size + column * m_block, m_block));
                    group.spawn([=, this] { relax(from, to, m_size, row * m_block, column * m_block, m_block); },
                                regions);
                }
        }
    }
    bool is_right() const override {
        std::vector<float> from(m_size * m_size), to(m_size * m_size);
        for (std::size_t each = 0; each < from.size(); ++each) from[each] = before(each);
        for (std::size_t step = 0; step < m_steps; ++step) {
            relax(from.data(), to.data(), m_size, 0, 0, m_size);
            from.swap(to);
        }
        const float* const found = m_grids.get() + (m_steps % 2) * m_size * m_size;
        for (std::size_t each = 0; each < from.size(); ++each)
            if (found[each] != from[each]) return false;
        return true;
    }

  private:
    static float before(std::size_t each) { return static_cast<float>(each % 101); }
    static void relax(const float* from, float* to, std::size_t size, std::size_t top, std::size_t left,
                      std::size_t block) {
        for (std::size_t row = top; row < top + block; ++row)
            for (std::size_t column = left; column < left + block; ++column) {
                const auto at = row * size + column;
                const float above = row > 0 ? from[at - size] : 0, below = row + 1 < size ? from[at + size] : 0;
                const float before = column > 0 ? from[at - 1] : 0, behind = column + 1 < size ? from[at + 1] : 0;
                to[at] = 0.25f * (above + below + before + behind);
            }
    }
    /// The float that stands for a block of a grid in the order of tasks.
    float* mark(std::size_t grid, std::size_t row, std::size_t column) const {
        return m_grids.get() + grid * m_size * m_size + row * m_block * m_size + column * m_block;
    }
    const std::size_t m_size, m_block, m_steps;
    block<float> m_grids;
};

} // namespace

std::unique_ptr<problem> make_jacobi(const options& with) { return std::make_unique<jacobi>(with); }

} // namespace task_problems
