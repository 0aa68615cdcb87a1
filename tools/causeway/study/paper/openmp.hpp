// SPDX-License-Identifier: Apache-2.0
// The same computations with OpenMP: each loop iteration does what a work-item does in OpenCL.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace paper::openmp {

[[nodiscard]] int threads();

/// Runs the counterpart of a kernel on arrays of its size. Throws std::runtime_error if there is none.
void run(const std::string& kernel, const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c,
         std::size_t n, std::size_t count);

/// Algorithm 2: an addition, then a multiplication that uses its result, on bound threads. Seconds of the second loop.
/// `misaligned`: each thread works on data that another thread's cache holds.
[[nodiscard]] double second_loop(std::vector<float>& a, std::vector<float>& b, std::vector<float>& c,
                                 std::vector<float>& d, bool misaligned);

} // namespace paper::openmp
