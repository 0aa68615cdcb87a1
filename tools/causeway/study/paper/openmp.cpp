// SPDX-License-Identifier: Apache-2.0
// Plain loops: whether they become vectors is the compiler's affair, as the paper asks.
#include "study/paper/openmp.hpp"

#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <omp.h>
#include <sched.h>

namespace paper::openmp {

namespace {

float normal(float d) {
    const float k = 1 / (1 + 0.2316419F * std::fabs(d));
    const float tail = 0.39894228F * std::exp(-0.5F * d * d) *
                       (k * (0.31938153F +
                             k * (-0.356563782F + k * (1.781477937F + k * (-1.821255978F + k * 1.330274429F)))));
    return d > 0 ? 1 - tail : tail;
}

void square(const float* a, float* c, std::size_t n) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) c[i] = a[i] * a[i];
}
void add(const float* a, const float* b, float* c, std::size_t n) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}
void matrices(const float* a, const float* b, float* c, std::size_t n) {
#pragma omp parallel for
    for (std::size_t y = 0; y < n; ++y)
        for (std::size_t x = 0; x < n; ++x) {
            float sum = 0;
            for (std::size_t k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
            c[y * n + x] = sum;
        }
}
void options(const float* price, const float* strike, float* call, std::size_t n) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        const float s = price[i], x = strike[i], r = 0.02F, v = 0.3F, time = 1 + static_cast<float>(i % 8);
        const float d1 = (std::log(s / x) + (r + 0.5F * v * v) * time) / (v * std::sqrt(time)),
                    d2 = d1 - v * std::sqrt(time);
        call[i] = s * normal(d1) - x * std::exp(-r * time) * normal(d2);
    }
}
void q(const float* k, const float* x, float* out, std::size_t n, std::size_t count) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        float re = 0, im = 0;
        for (std::size_t j = 0; j < count; ++j) {
            const float angle = 6.2831853F * (k[4 * j] * x[i] + k[4 * j + 1] * x[i] + k[4 * j + 2] * x[i]);
            re += k[4 * j + 3] * std::cos(angle);
            im += k[4 * j + 3] * std::sin(angle);
        }
        out[2 * i] = re;
        out[2 * i + 1] = im;
    }
}
void fhd(const float* k, const float* x, float* out, std::size_t n, std::size_t count) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        float re = 0, im = 0;
        for (std::size_t j = 0; j < count; ++j) {
            const float angle = 6.2831853F * (k[4 * j] + k[4 * j + 1] + k[4 * j + 2]) * x[i];
            const float c = std::cos(angle), s = std::sin(angle);
            re += k[4 * j + 3] * c - k[4 * j] * s;
            im += k[4 * j] * c + k[4 * j + 3] * s;
        }
        out[2 * i] = re;
        out[2 * i + 1] = im;
    }
}
void magnitudes(const float* re, const float* im, float* out, std::size_t n) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) out[i] = re[i] * re[i] + im[i] * im[i];
}
void products(const float* a, const float* b, float* c, std::size_t n) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) c[i] = a[i] * b[i] + b[i] * b[i] - a[i];
}
void energies(const float* atoms, float* grid, std::size_t n, std::size_t count) {
    constexpr std::size_t width = 64;
#pragma omp parallel for
    for (std::size_t y = 0; y < n / width; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            float sum = 0;
            for (std::size_t i = 0; i < count; ++i) {
                const float dx = 0.1F * static_cast<float>(x) - atoms[4 * i],
                            dy = 0.1F * static_cast<float>(y) - atoms[4 * i + 1];
                sum += atoms[4 * i + 3] / std::sqrt(dx * dx + dy * dy + atoms[4 * i + 2]);
            }
            grid[y * width + x] += sum;
        }
}
/// In tiles, as work-groups do it.
void tiled_matrices(const float* a, const float* b, float* c, std::size_t n) {
    constexpr std::size_t edge = 16;
#pragma omp parallel for collapse(2)
    for (std::size_t top = 0; top < n; top += edge)
        for (std::size_t left = 0; left < n; left += edge) {
            float sums[edge][edge] = {};
            for (std::size_t t = 0; t < n; t += edge)
                for (std::size_t y = 0; y < edge; ++y)
                    for (std::size_t k = 0; k < edge; ++k)
                        for (std::size_t x = 0; x < edge; ++x)
                            sums[y][x] += a[(top + y) * n + t + k] * b[(t + k) * n + left + x];
            for (std::size_t y = 0; y < edge; ++y)
                for (std::size_t x = 0; x < edge; ++x) c[(top + y) * n + left + x] = sums[y][x];
        }
}
void reduction(const float* a, float* sums, std::size_t groups) {
    constexpr std::size_t size = 256;
#pragma omp parallel for
    for (std::size_t group = 0; group < groups; ++group) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < size; ++i) sum += a[group * size + i];
        sums[group] = sum;
    }
}
void histogram(const float* values, float* bins, std::size_t n) {
    constexpr std::size_t count = 256;
    unsigned all[count];
    std::memcpy(all, bins, sizeof all);
#pragma omp parallel
    {
        unsigned mine[count] = {};
#pragma omp for nowait
        for (std::size_t i = 0; i < n; ++i) {
            unsigned value = 0;
            std::memcpy(&value, values + i, sizeof value);
            ++mine[value & 255];
        }
#pragma omp critical
        for (std::size_t i = 0; i < count; ++i) all[i] += mine[i];
    }
    std::memcpy(bins, all, sizeof all);
}
/// Each thread sums its part, then adds what is before it.
void prefix_sums(const float* a, float* b, std::size_t n) {
    std::vector<float> totals(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
    {
        const auto me = static_cast<std::size_t>(omp_get_thread_num()),
                   all = static_cast<std::size_t>(omp_get_num_threads());
        const auto from = n * me / all, to = n * (me + 1) / all;
        float sum = 0;
        for (std::size_t i = from; i < to; ++i) b[i] = sum += a[i];
        totals[me] = sum;
#pragma omp barrier
        float before = 0;
        for (std::size_t i = 0; i < me; ++i) before += totals[i];
        for (std::size_t i = from; i < to; ++i) b[i] += before;
    }
}
void trees(const float* price, float* value, std::size_t n) {
    constexpr std::size_t steps = 254;
    const float dt = 1.0F / steps, up = std::exp(0.3F * std::sqrt(dt)), down = 1 / up, growth = std::exp(0.02F * dt),
                p = (growth - down) / (up - down);
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        float t[steps + 1];
        for (std::size_t l = 0; l <= steps; ++l)
            t[l] = std::fmax(100 - price[i] * std::pow(up, static_cast<float>(l)) *
                                       std::pow(down, static_cast<float>(steps - l)),
                             0.0F);
        for (std::size_t left = steps; left > 0; --left)
            for (std::size_t l = 0; l < left; ++l) t[l] = (p * t[l + 1] + (1 - p) * t[l]) / growth;
        value[i] = t[0];
    }
}
void one_chain(const float* a, float* c, std::size_t n) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        float v = a[i];
        for (int k = 0; k < 960; ++k) v = v * 0.999F + 0.001F;
        c[i] = v;
    }
}
void chain(const float* a, float* c, std::size_t n) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        float v = a[i];
        for (int k = 0; k < 64; ++k) v *= 1.0001F;
        c[i] = v;
    }
}

} // namespace

int threads() { return omp_get_max_threads(); }

void run(const std::string& kernel, const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c,
         std::size_t n, std::size_t count) {
    if (kernel == "square")
        square(a.data(), c.data(), n);
    else if (kernel == "vectoadd")
        add(a.data(), b.data(), c.data(), n);
    else if (kernel == "matrixmul_naive")
        matrices(a.data(), b.data(), c.data(), n);
    else if (kernel == "matrixmul")
        tiled_matrices(a.data(), b.data(), c.data(), n);
    else if (kernel == "reduce")
        reduction(a.data(), c.data(), c.size());
    else if (kernel == "histogram256")
        histogram(a.data(), c.data(), n);
    else if (kernel == "prefixsum")
        prefix_sums(a.data(), c.data(), n);
    else if (kernel == "blackscholes")
        options(a.data(), b.data(), c.data(), n);
    else if (kernel == "binomialoption")
        trees(a.data(), c.data(), n);
    else if (kernel == "cenergy")
        energies(a.data(), c.data(), n, count);
    else if (kernel == "phimag")
        magnitudes(a.data(), b.data(), c.data(), n);
    else if (kernel == "computeq")
        q(a.data(), b.data(), c.data(), n, count);
    else if (kernel == "rhophi")
        products(a.data(), b.data(), c.data(), n);
    else if (kernel == "computefhd")
        fhd(a.data(), b.data(), c.data(), n, count);
    else if (kernel == "ilp")
        one_chain(a.data(), c.data(), n);
    else if (kernel == "chain")
        chain(a.data(), c.data(), n);
    else
        throw std::runtime_error("there is no " + kernel + " with OpenMP");
}

double second_loop(std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, std::vector<float>& d,
                   bool misaligned) {
    const auto n = a.size();
    double seconds = 0;
#pragma omp parallel
    {
        const auto me = static_cast<std::size_t>(omp_get_thread_num()),
                   all = static_cast<std::size_t>(omp_get_num_threads());
        cpu_set_t before, mine;
        sched_getaffinity(0, sizeof before, &before);
        CPU_ZERO(&mine);
        std::size_t nth = me;
        for (int each = 0; each < CPU_SETSIZE; ++each)
            if (CPU_ISSET(each, &before) && nth-- == 0) CPU_SET(each, &mine);
        if (CPU_COUNT(&mine) == 1) sched_setaffinity(0, sizeof mine, &mine);
        const auto from = n * me / all, to = n * (me + 1) / all;
        for (std::size_t i = from; i < to; ++i) c[i] = a[i] + b[i];
#pragma omp barrier
        const auto begin = std::chrono::steady_clock::now();
        const auto other = misaligned ? (me + 1) % all : me;
        const auto first = n * other / all, last = n * (other + 1) / all;
        for (std::size_t i = first; i < last; ++i) d[i] = b[i] * c[i];
#pragma omp barrier
        if (me == 0) seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        sched_setaffinity(0, sizeof before, &before);
    }
    return seconds;
}

} // namespace paper::openmp
