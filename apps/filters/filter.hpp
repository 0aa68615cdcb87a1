// SPDX-License-Identifier: Apache-2.0
// The problem that all versions solve: frames in, filtered frames out.
#pragma once

#include "common/opencl.hpp"

#include <chrono>
#include <cstddef>

namespace filters {

/// What every kernel gets by value; pixels are `channels` bytes beside one another. As in kernels.cpp.
struct shape {
    int width, height, channels, radius;
};

/// The recursive Gaussian of Deriche (1992), for one sigma. As in kernels.cpp.
struct gaussian {
    shape of;
    float a0, a1, a2, a3, b1, b2, coefp, coefn;
};
[[nodiscard]] gaussian gaussian_of(shape of, float sigma);

extern const char* const kernel_source;

struct workload {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    cl_program program = nullptr;
    shape of{};
    float sigma = 0;
    std::size_t frames = 0;
    const unsigned char* input = nullptr; // both page-locked where the OpenCL implementation knows how
    unsigned char* output = nullptr;

    [[nodiscard]] std::size_t frame_size() const { return std::size_t(of.width) * of.height * of.channels; }
    [[nodiscard]] std::size_t row_size() const { return std::size_t(of.width) * of.channels; }
};

/// Seconds from the first frame to the last, without set-up.
using filter_function = double (*)(const workload&);

namespace plain {
double box(const workload& work);
double median(const workload& work);
double recursive_gaussian(const workload& work);
double sobel(const workload& work);
} // namespace plain

namespace double_buffered {
double box(const workload& work);
double median(const workload& work);
double recursive_gaussian(const workload& work);
double sobel(const workload& work);
} // namespace double_buffered

namespace graph {
double box(const workload& work);
double median(const workload& work);
double recursive_gaussian(const workload& work);
double sobel(const workload& work);
} // namespace graph

/// One frame, on the host, without haste.
namespace reference {
void box(const workload& work, const unsigned char* frame, unsigned char* result);
void median(const workload& work, const unsigned char* frame, unsigned char* result);
void recursive_gaussian(const workload& work, const unsigned char* frame, unsigned char* result);
void sobel(const workload& work, const unsigned char* frame, unsigned char* result);
} // namespace reference

class stopwatch {
  public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count();
    }

  private:
    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

} // namespace filters
