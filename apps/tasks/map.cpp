// SPDX-License-Identifier: Apache-2.0
// Map: each task scales a vector of its own. Vecmul: each task makes the cross products of a pair of vectors.
#include "tasks/problem.hpp"

#include <vector>

namespace task_problems {

namespace {

class map final : public problem {
  public:
    explicit map(const options& with) {
        const std::size_t count = with.small ? 9 : 48, size = with.small ? 5000 : 1u << 18;
        for (std::size_t each = 0; each < count; ++each) m_vectors.emplace_back(size, with.distribution);
    }
    void reset() override {
        for (auto& vector : m_vectors)
            for (std::size_t each = 0; each < vector.size(); ++each) vector[each] = before(each);
    }
    void spawn(causeway::task_group& group) override {
        for (auto& vector : m_vectors)
            group.spawn(
                [values = vector.get(), size = vector.size()] {
                    for (std::size_t each = 0; each < size; ++each) values[each] *= 3;
                },
                {causeway::inout(vector.get(), vector.size())});
    }
    bool is_right() const override {
        for (const auto& vector : m_vectors)
            for (std::size_t each = 0; each < vector.size(); ++each)
                if (vector[each] != 3 * before(each)) return false;
        return true;
    }

  private:
    static float before(std::size_t each) { return static_cast<float>(each % 1000); }
    std::vector<block<float>> m_vectors;
};

class vecmul final : public problem {
  public:
    explicit vecmul(const options& with) {
        const std::size_t count = with.small ? 10 : 96, size = with.small ? 3000 : 3u << 16;
        for (std::size_t each = 0; each < count; ++each) m_vectors.emplace_back(size, with.distribution);
    }
    void reset() override {
        for (std::size_t which = 0; which < m_vectors.size(); ++which)
            for (std::size_t each = 0; each < m_vectors[which].size(); ++each)
                m_vectors[which][each] = before(which, each);
    }
    void spawn(causeway::task_group& group) override {
        for (std::size_t pair = 0; pair < m_vectors.size(); pair += 2) {
            auto &left = m_vectors[pair], &right = m_vectors[pair + 1];
            group.spawn([a = left.get(), b = right.get(), size = left.size()] { multiply(a, b, size); },
                        {causeway::most_used(causeway::inout(left.get(), left.size())),
                         causeway::in(right.get(), right.size())});
        }
    }
    bool is_right() const override {
        std::vector<int> a(m_vectors[0].size()), b(a.size());
        for (std::size_t pair = 0; pair < m_vectors.size(); pair += 2) {
            for (std::size_t each = 0; each < a.size(); ++each) {
                a[each] = before(pair, each);
                b[each] = before(pair + 1, each);
            }
            multiply(a.data(), b.data(), a.size());
            for (std::size_t each = 0; each < a.size(); ++each)
                if (m_vectors[pair][each] != a[each]) return false;
        }
        return true;
    }

  private:
    static int before(std::size_t which, std::size_t each) { return static_cast<int>((each * 7 + which) % 100); }
    static void multiply(int* a, const int* b, std::size_t size) {
        for (std::size_t each = 0; each < size; each += 3) {
            const int x = a[each], y = a[each + 1], z = a[each + 2];
            a[each] = y * b[each + 2] - z * b[each + 1];
            a[each + 1] = z * b[each] - x * b[each + 2];
            a[each + 2] = x * b[each + 1] - y * b[each];
        }
    }
    std::vector<block<int>> m_vectors;
};

} // namespace

std::unique_ptr<problem> make_map(const options& with) { return std::make_unique<map>(with); }
std::unique_ptr<problem> make_vecmul(const options& with) { return std::make_unique<vecmul>(with); }

} // namespace task_problems
