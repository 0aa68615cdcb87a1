// SPDX-License-Identifier: Apache-2.0
// Matmul: blocked matrix product, a task for each block of the result.
#include "tasks/problem.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace task_problems {

namespace {

/// c += a b, of square blocks.
void multiply_add(const float* a, const float* b, float* c, std::size_t size) {
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t each = 0; each < size; ++each) {
            const float factor = a[row * size + each];
            for (std::size_t column = 0; column < size; ++column)
                c[row * size + column] += factor * b[each * size + column];
        }
}

class matmul final : public problem {
  public:
    explicit matmul(const options& with) : m_block(with.small ? 16 : 128), m_blocks(with.small ? 5 : 32) {
        for (auto& matrix : m_matrices)
            for (std::size_t each = 0; each < m_blocks * m_blocks; ++each)
                matrix.emplace_back(m_block * m_block, with.distribution);
    }
    void reset() override {
        for (std::size_t which = 0; which < 3; ++which)
            for (std::size_t at = 0; at < m_blocks * m_blocks; ++at)
                for (std::size_t each = 0; each < m_block * m_block; ++each)
                    m_matrices[which][at][each] = which == 2 ? 0 : static_cast<float>((each + at * 13 + which) % 7) - 3;
    }
    void spawn(causeway::task_group& group) override {
        for (std::size_t row = 0; row < m_blocks; ++row)
            for (std::size_t column = 0; column < m_blocks; ++column) {
                std::vector<causeway_region> regions{causeway::inout(at(2, row, column), m_block * m_block)};
                for (std::size_t each = 0; each < m_blocks; ++each) {
                    regions.push_back(causeway::in(at(0, row, each), m_block * m_block));
                    regions.push_back(causeway::in(at(1, each, column), m_block * m_block));
                }
                group.spawn(
                    [=, this] {
                        for (std::size_t each = 0; each < m_blocks; ++each)
                            multiply_add(at(0, row, each), at(1, each, column), at(2, row, column), m_block);
                    },
                    regions);
            }
    }
    bool is_right() const override {
        // Sums of small whole numbers: exact in whatever order. Rows here and there are enough for large matrices.
        const auto size = m_block * m_blocks, stride = size > 256 ? size / 16 + 1 : 1;
        for (std::size_t row = 0; row < size; row += stride)
            for (std::size_t column = 0; column < size; column += stride) {
                float sum = 0;
                for (std::size_t each = 0; each < size; ++each) sum += value(0, row, each) * value(1, each, column);
                if (value(2, row, column) != sum) return false;
            }
        return true;
    }

  private:
    float* at(std::size_t which, std::size_t row, std::size_t column) const {
        return m_matrices[which][row * m_blocks + column].get();
    }
    float value(std::size_t which, std::size_t row, std::size_t column) const {
        return at(which, row / m_block, column / m_block)[row % m_block * m_block + column % m_block];
    }
    const std::size_t m_block, m_blocks;
    std::array<std::vector<block<float>>, 3> m_matrices;
};

} // namespace

std::unique_ptr<problem> make_matmul(const options& with) { return std::make_unique<matmul>(with); }

} // namespace task_problems
