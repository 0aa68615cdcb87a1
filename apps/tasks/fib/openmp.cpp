// SPDX-License-Identifier: Apache-2.0
// By OpenMP tasks, if the compiler has them; on LLVM's run time where it was found, else on the compiler's own.
#include "tasks/fib/fib.hpp"

#ifdef TASK_FIB_OPENMP
namespace task_fib {

namespace {

class by_openmp final : public solver {
  public:
    explicit by_openmp(unsigned threads) : m_threads(static_cast<int>(threads)) {}
    long run(int n) override {
        long value = 0;
#pragma omp parallel num_threads(m_threads)
#pragma omp single
        value = fib(n);
        return value;
    }

  private:
    static long fib(int n) {
        if (n < 2) return n;
        long left = 0;
#pragma omp task shared(left) firstprivate(n)
        left = fib(n - 1);
        const long right = fib(n - 2);
#pragma omp taskwait
        return left + right;
    }
    int m_threads;
};

} // namespace

std::vector<library> of_openmp() {
    return {{TASK_FIB_OPENMP, [](unsigned threads) { return std::make_unique<by_openmp>(threads); }}};
}

} // namespace task_fib
#else
std::vector<task_fib::library> task_fib::of_openmp() { return {}; }
#endif
