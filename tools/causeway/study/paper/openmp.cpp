// SPDX-License-Identifier: Apache-2.0
// Plain loops: whether they become vectors is the compiler's affair, as the paper asks.
#include "study/paper/openmp.hpp"

#include <chrono>
#include <cmath>

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

bool run(const std::string& kernel, const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c,
         std::size_t n, std::size_t count) {
    if (kernel == "square")
        square(a.data(), c.data(), n);
    else if (kernel == "vectoadd")
        add(a.data(), b.data(), c.data(), n);
    else if (kernel == "matrixmul_naive")
        matrices(a.data(), b.data(), c.data(), n);
    else if (kernel == "blackscholes")
        options(a.data(), b.data(), c.data(), n);
    else if (kernel == "computeq")
        q(a.data(), b.data(), c.data(), n, count);
    else if (kernel == "chain")
        chain(a.data(), c.data(), n);
    else
        return false;
    return true;
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
