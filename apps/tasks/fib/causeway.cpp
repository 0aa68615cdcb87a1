// SPDX-License-Identifier: Apache-2.0
// By libcauseway_tasks.
#include "tasks/fib/fib.hpp"

#include <causeway/tasks.hpp>

namespace task_fib {

namespace {

class by_causeway final : public solver {
  public:
    by_causeway(causeway_task_policy policy, unsigned threads) : m_pool({.policy = policy, .threads = threads}) {}
    long run(int n) override {
        long value = 0;
        causeway::task_group group(m_pool);
        group.spawn([this, &value, n] { value = fib(n); });
        group.wait();
        return value;
    }

  private:
    long fib(int n) {
        if (n < 2) return n;
        long left = 0;
        causeway::task_group group(m_pool);
        group.spawn([this, &left, n] { left = fib(n - 1); });
        const long right = fib(n - 2);
        group.wait();
        return left + right;
    }
    causeway::task_pool m_pool;
};

} // namespace

std::vector<library> of_causeway() {
    const auto with = [](causeway_task_policy policy) {
        return [policy](unsigned threads) { return std::make_unique<by_causeway>(policy, threads); };
    };
    return {{"causeway", with(CAUSEWAY_TASK_POLICY_WORK_STEALING)},
            {"causeway, locality", with(CAUSEWAY_TASK_POLICY_LOCALITY)}};
}

} // namespace task_fib
