// SPDX-License-Identifier: Apache-2.0
// The Himeno benchmark on the host: what every solver's result is compared with.
#include "himeno/problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace himeno {

reference_result solve_on_host(const grid& grid, int iterations) {
    // The official initialisation makes every coefficient uniform.
    constexpr float a0 = 1, a1 = 1, a2 = 1, a3 = 1.0F / 6, b0 = 0, b1 = 0, b2 = 0, c0 = 1, c1 = 1, c2 = 1;
    constexpr float wrk1 = 0, bnd = 1;

    const std::size_t plane = grid.cells_per_plane();
    const std::size_t row = grid.columns;
    std::vector<float> pressure(plane * grid.planes);
    for (int i = 0; i < grid.planes; ++i) std::fill_n(pressure.begin() + i * plane, plane, initial_pressure(grid, i));
    std::vector<float> next = pressure;

    double gosa = 0;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        gosa = 0;
        for (int i = 1; i < grid.planes - 1; ++i)
            for (int j = 1; j < grid.rows - 1; ++j)
                for (int k = 1; k < grid.columns - 1; ++k) {
                    const float* p = &pressure[i * plane + j * row + k];
                    const float s0 = a0 * p[plane] + a1 * p[row] + a2 * p[1] +
                                     b0 * (p[plane + row] - *(p + plane - row) - *(p - plane + row) +
                                           *(p - plane - row)) +
                                     b1 * (p[row + 1] - *(p - row + 1) - p[row - 1] + *(p - row - 1)) +
                                     b2 * (p[plane + 1] - *(p - plane + 1) - p[plane - 1] + *(p - plane - 1)) +
                                     c0 * *(p - plane) + c1 * *(p - row) + c2 * *(p - 1) + wrk1;
                    const float ss = std::fma(s0, a3, -*p) * bnd; // fused as in the kernel
                    gosa += double(ss) * ss;
                    next[i * plane + j * row + k] = std::fma(relaxation, ss, *p);
                }
        std::swap(pressure, next);
    }
    return {gosa, std::move(pressure)};
}

} // namespace himeno
