// SPDX-License-Identifier: Apache-2.0
// Three loops over three arrays, one piece for each processor.
#include "study/bandwidth.hpp"

#include "system_facts.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace study {

namespace {

constexpr std::size_t piece = std::size_t{4} << 20; ///< doubles of one array and thread: 32 MiB
constexpr int rounds = 6;

struct arrays {
    std::unique_ptr<double[]> a = std::make_unique_for_overwrite<double[]>(piece);
    std::unique_ptr<double[]> b = std::make_unique_for_overwrite<double[]>(piece);
    std::unique_ptr<double[]> c = std::make_unique_for_overwrite<double[]>(piece);
    volatile double sum = 0; ///< so that reading is not left out
};

void fill(arrays& of) {
    for (std::size_t i = 0; i < piece; ++i) {
        of.a[i] = 0;
        of.b[i] = static_cast<double>(i);
        of.c[i] = 1;
    }
}

void read(arrays& of) {
    double sums[8] = {};
    for (std::size_t i = 0; i < piece; i += 8)
        for (std::size_t j = 0; j < 8; ++j) sums[j] += of.b[i + j];
    double sum = 0;
    for (const double each : sums) sum += each;
    of.sum = sum;
}

void copy(arrays& of) {
    for (std::size_t i = 0; i < piece; ++i) of.a[i] = of.b[i];
}

void triad(arrays& of) {
    for (std::size_t i = 0; i < piece; ++i) of.a[i] = of.b[i] + 3.0 * of.c[i];
}

} // namespace

double bandwidth::best() const { return std::max({read, copy, triad}); }

bandwidth measure_bandwidth() {
    const auto threads = static_cast<std::ptrdiff_t>(std::max(1U, causeway_tool::usable_processors()));
    std::barrier together(threads);
    bandwidth found;
    const auto work = [&](bool is_first) {
        arrays mine;
        fill(mine);
        const auto time = [&](void (*loop)(arrays&), double arrays_moved, double& best) {
            for (int round = 0; round < rounds; ++round) {
                together.arrive_and_wait();
                const auto begin = std::chrono::steady_clock::now();
                loop(mine);
                together.arrive_and_wait();
                const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
                const auto bytes = arrays_moved * static_cast<double>(piece * sizeof(double)) *
                                   static_cast<double>(threads);
                if (is_first) best = std::max(best, bytes / lasted.count() / 1e9);
            }
        };
        double unused = 0;
        time(read, 1, is_first ? found.read : unused);
        time(copy, 2, is_first ? found.copy : unused);
        time(triad, 3, is_first ? found.triad : unused);
    };
    std::vector<std::jthread> others;
    for (std::ptrdiff_t i = 1; i < threads; ++i) others.emplace_back(work, false);
    work(true);
    return found;
}

} // namespace study
