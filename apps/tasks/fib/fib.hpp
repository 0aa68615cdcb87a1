// SPDX-License-Identifier: Apache-2.0
// Fibonacci numbers by tasks that do nothing but spawn: what a task costs, in each library that was found.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace task_fib {

/// fib(n) by a task for each call of n >= 2, with the threads of one pool; the caller's thread is one of them.
class solver {
  public:
    virtual ~solver() = default;
    [[nodiscard]] virtual long run(int n) = 0;
};

struct library {
    std::string name;
    std::function<std::unique_ptr<solver>(unsigned threads)> make;
};

[[nodiscard]] std::vector<library> of_causeway();
[[nodiscard]] std::vector<library> of_onetbb();
[[nodiscard]] std::vector<library> of_openmp();
[[nodiscard]] std::vector<library> of_taskflow();

} // namespace task_fib
