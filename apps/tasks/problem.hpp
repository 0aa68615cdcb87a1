// SPDX-License-Identifier: Apache-2.0
// One problem of the paper's Table 4: its data, its tasks, and a serial check.
#pragma once

#include <causeway/tasks.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace task_problems {

/// Owns distributed memory.
template <class Value> class block {
  public:
    block(std::size_t count, causeway_distribution how)
        : m_values(static_cast<Value*>(causeway_malloc(count * sizeof(Value), how))), m_count(count) {
        if (!m_values) throw std::runtime_error(causeway_tasks_last_error());
    }
    [[nodiscard]] Value* get() const { return m_values.get(); }
    [[nodiscard]] std::size_t size() const { return m_count; }
    Value& operator[](std::size_t which) const { return m_values.get()[which]; }

  private:
    struct release {
        void operator()(Value* memory) const { causeway_free(memory); }
    };
    std::unique_ptr<Value, release> m_values;
    std::size_t m_count;
};

class problem {
  public:
    virtual ~problem() = default;
    /// Sets the data as they are before the tasks.
    virtual void reset() = 0;
    /// The caller waits for the group.
    virtual void spawn(causeway::task_group& group) = 0;
    /// Compares with a serial run.
    [[nodiscard]] virtual bool is_right() const = 0;
};

/// Without `small` the inputs are the paper's, of Figure 7; it gives none of Vecmul for nodes, which takes 96 vectors
/// of 768 KiB.
struct options {
    causeway_distribution distribution = CAUSEWAY_DISTRIBUTION_COARSE;
    bool small = false;
};

[[nodiscard]] std::unique_ptr<problem> make_map(const options& with);
[[nodiscard]] std::unique_ptr<problem> make_reduction(const options& with);
[[nodiscard]] std::unique_ptr<problem> make_vecmul(const options& with);
[[nodiscard]] std::unique_ptr<problem> make_matmul(const options& with);
[[nodiscard]] std::unique_ptr<problem> make_jacobi(const options& with);
[[nodiscard]] std::unique_ptr<problem> make_sparselu(const options& with);

} // namespace task_problems
