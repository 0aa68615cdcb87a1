// SPDX-License-Identifier: Apache-2.0
// The problem of Listings 2 and 4: a Jacobi iteration whose rows are divided among ranks, each in halves A and B.
#pragma once

#include "example.h"

#include <cmath>
#include <vector>

// A rank owns `rows` rows, A the upper half and B the lower. Row 0 is the halo above A, row rows + 1 the one below B.
// The even ranks meet the next rank with their B and the previous one with their A; the odd ranks the other way round.
namespace jacobi {

constexpr size_t columns = 64;
constexpr size_t rows = 32;
constexpr int iterations = 50;
constexpr size_t row_size = columns * sizeof(float);
constexpr size_t top_halo = 0;
constexpr size_t top_row = row_size;
constexpr size_t bottom_row = rows * row_size;
constexpr size_t bottom_halo = (rows + 1) * row_size;

inline const char* const source = R"(
__kernel void jacobi(__global float *new_values, __global const float *old_values, uint columns, uint first_row)
{
    const size_t column = get_global_id(0) + 1;
    const size_t at = (get_global_id(1) + first_row) * columns + column;
    new_values[at] = 0.25f * (old_values[at - 1] + old_values[at + 1]
                              + old_values[at - columns] + old_values[at + columns]);
}
)";

/// The start value of a point of the whole grid; the boundary keeps it.
inline float start_value(size_t row, size_t column) {
    return static_cast<float>((row * 7 + column * 3) % 11) + (row == 0 ? 20.0f : 0.0f);
}

struct solver {
    explicit solver(const example& on)
        : with(on), kernel(example_kernel(&on, source, "jacobi")), up(on.rank > 0 ? on.rank - 1 : MPI_PROC_NULL),
          down(on.rank + 1 < on.ranks ? on.rank + 1 : MPI_PROC_NULL) {
        std::vector<float> start((rows + 2) * columns);
        for (size_t row = 0; row < rows + 2; ++row)
            for (size_t column = 0; column < columns; ++column)
                start[row * columns + column] = start_value(static_cast<size_t>(on.rank) * rows + row, column);
        p_new = example_buffer(&on, start.size() * sizeof(float), start.data());
        p_old = example_buffer(&on, start.size() * sizeof(float), start.data());
    }

    /// Enqueues the update of one half.
    void enqueue_half(cl_command_queue cmd, cl_mem to, cl_mem from, size_t first_row, cl_uint num_events,
                      const cl_event* events, cl_event* event) const {
        const cl_uint columns_argument = columns;
        const auto first_row_argument = static_cast<cl_uint>(first_row);
        EXAMPLE_CHECK(clSetKernelArg(kernel, 0, sizeof to, &to));
        EXAMPLE_CHECK(clSetKernelArg(kernel, 1, sizeof from, &from));
        EXAMPLE_CHECK(clSetKernelArg(kernel, 2, sizeof columns_argument, &columns_argument));
        EXAMPLE_CHECK(clSetKernelArg(kernel, 3, sizeof first_row_argument, &first_row_argument));
        const size_t global[2] = {columns - 2, rows / 2};
        EXAMPLE_CHECK(clEnqueueNDRangeKernel(cmd, kernel, 2, NULL, global, NULL, num_events, events, event));
        EXAMPLE_CHECK(clFlush(cmd));
    }

    void enqueue_A(cl_command_queue cmd, cl_mem to, cl_mem from, cl_uint n, const cl_event* list,
                   cl_event* event) const {
        enqueue_half(cmd, to, from, 1, n, list, event);
    }

    void enqueue_B(cl_command_queue cmd, cl_mem to, cl_mem from, cl_uint n, const cl_event* list,
                   cl_event* event) const {
        enqueue_half(cmd, to, from, 1 + rows / 2, n, list, event);
    }

    /// Compares the rows of this rank with a solution of the whole grid on the host.
    [[nodiscard]] int is_right(cl_command_queue cmd, cl_mem result) const {
        const size_t all_rows = static_cast<size_t>(with.ranks) * rows + 2;
        std::vector<float> current(all_rows * columns);
        for (size_t row = 0; row < all_rows; ++row)
            for (size_t column = 0; column < columns; ++column)
                current[row * columns + column] = start_value(row, column);
        std::vector<float> next = current;
        for (int iteration = 0; iteration < iterations; ++iteration) {
            for (size_t row = 1; row + 1 < all_rows; ++row)
                for (size_t at = row * columns + 1; at < row * columns + columns - 1; ++at)
                    next[at] = 0.25f *
                               (current[at - 1] + current[at + 1] + current[at - columns] + current[at + columns]);
            std::swap(current, next);
        }
        std::vector<float> mine(rows * columns);
        EXAMPLE_CHECK(clEnqueueReadBuffer(cmd, result, CL_TRUE, top_row, mine.size() * sizeof(float), mine.data(), 0,
                                          NULL, NULL));
        const float* expected = current.data() + (static_cast<size_t>(with.rank) * rows + 1) * columns;
        for (size_t at = 0; at < mine.size(); ++at)
            if (!(std::fabs(mine[at] - expected[at]) <= 1e-4f)) return 0;
        return 1;
    }

    void release() {
        clReleaseMemObject(p_new);
        clReleaseMemObject(p_old);
        clReleaseKernel(kernel);
    }

    example with;
    cl_kernel kernel;
    int up;
    int down;
    cl_mem p_new = nullptr;
    cl_mem p_old = nullptr;
};

} // namespace jacobi
