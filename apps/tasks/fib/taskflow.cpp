// SPDX-License-Identifier: Apache-2.0
// By Taskflow, if its headers were found.
#include "tasks/fib/fib.hpp"

#ifdef TASK_FIB_TASKFLOW
#include <taskflow/taskflow.hpp>

namespace task_fib {

namespace {

class by_taskflow final : public solver {
  public:
    explicit by_taskflow(unsigned threads) : m_executor(threads) {}
    long run(int n) override {
        return m_executor.async([this, n] { return fib(n); }).get();
    }

  private:
    long fib(int n) {
        if (n < 2) return n;
        long left = 0;
        tf::TaskGroup group = m_executor.task_group();
        group.silent_async([this, &left, n] { left = fib(n - 1); });
        const long right = fib(n - 2);
        group.corun();
        return left + right;
    }
    tf::Executor m_executor;
};

} // namespace

std::vector<library> of_taskflow() {
    return {{"Taskflow", [](unsigned threads) { return std::make_unique<by_taskflow>(threads); }}};
}

} // namespace task_fib
#else
std::vector<task_fib::library> task_fib::of_taskflow() { return {}; }
#endif
