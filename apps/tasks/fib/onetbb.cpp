// SPDX-License-Identifier: Apache-2.0
// By oneTBB, if its headers were found.
#include "tasks/fib/fib.hpp"

#ifdef TASK_FIB_ONETBB
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace task_fib {

namespace {

class by_onetbb final : public solver {
  public:
    explicit by_onetbb(unsigned threads)
        : m_most(tbb::global_control::max_allowed_parallelism, threads), m_arena(static_cast<int>(threads)) {}
    long run(int n) override {
        long value = 0;
        m_arena.execute([&] { value = fib(n); });
        return value;
    }

  private:
    static long fib(int n) {
        if (n < 2) return n;
        long left = 0;
        tbb::task_group group;
        group.run([&left, n] { left = fib(n - 1); });
        const long right = fib(n - 2);
        group.wait();
        return left + right;
    }
    tbb::global_control m_most; ///< else more threads than cores are never started
    tbb::task_arena m_arena;
};

} // namespace

std::vector<library> of_onetbb() {
    return {{"oneTBB", [](unsigned threads) { return std::make_unique<by_onetbb>(threads); }}};
}

} // namespace task_fib
#else
std::vector<task_fib::library> task_fib::of_onetbb() { return {}; }
#endif
