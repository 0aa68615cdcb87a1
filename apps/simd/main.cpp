// SPDX-License-Identifier: Apache-2.0
// Times the workloads in scalar code and in vectors, by one thread and by several, and checks that both compute the
// same.
#include "workloads.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using numbers = std::vector<float>;

numbers input_of(const workload& work) {
    numbers input(static_cast<std::size_t>(work.input_size));
    unsigned state = 7;
    for (float& number : input) {
        state = state * 1664525u + 1013904223u;
        number = static_cast<float>(state >> 8) / static_cast<float>(1 << 24) + 0.01f;
    }
    return input;
}

// Each thread takes a share of the items that follow one another, and works it off several times: a thread that has to
// be started is not what is asked.
double run_ms(const workload& work, const numbers& input, numbers& output, int threads, int times) {
    std::barrier<> all(threads);
    const auto share = [&](int t) {
        all.arrive_and_wait();
        for (int k = 0; k < times; ++k)
            work.run(input.data(), output.data(), work.items * t / threads, work.items * (t + 1) / threads);
        all.arrive_and_wait();
    };
    std::vector<std::jthread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(share, t);
    all.arrive_and_wait();
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < times; ++k) work.run(input.data(), output.data(), 0, work.items / threads);
    all.arrive_and_wait();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / times;
}

double best_ms(const workload& work, const numbers& input, numbers& output, int threads, int rounds) {
    constexpr double long_enough_ms = 2;
    const double once = run_ms(work, input, output, threads, 1);
    const int times = 1 + static_cast<int>(std::min(long_enough_ms / once, 1000.0));
    double best = INFINITY;
    for (int r = 0; r < rounds; ++r) best = std::min(best, run_ms(work, input, output, threads, times));
    return best;
}

bool same(const workload& work, const numbers& expected, const numbers& got) {
    double largest = 0;
    for (float number : expected) largest = std::max(largest, std::fabs(static_cast<double>(number)));
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (!(std::fabs(static_cast<double>(expected[i]) - static_cast<double>(got[i])) <= work.tolerance * largest))
            return false;
    return largest > 0;
}

int number_of(const char* text, const char* option) {
    char* end = nullptr;
    const long number = text ? std::strtol(text, &end, 10) : 0;
    if (number < 1 || number > 100000 || *end != '\0') {
        std::fprintf(stderr, "simd: %s needs a number from 1 to 100000, not '%s'\n", option, text ? text : "");
        std::exit(2);
    }
    return static_cast<int>(number);
}

} // namespace

int main(int argc, char** argv) {
    int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), rounds = 20;
    for (int i = 1; i < argc; i += 2) {
        if (std::strcmp(argv[i], "--threads") == 0) {
            threads = number_of(argv[i + 1], argv[i]);
        } else if (std::strcmp(argv[i], "--rounds") == 0) {
            rounds = number_of(argv[i + 1], argv[i]);
        } else {
            std::fprintf(stderr, "usage: simd [--threads N] [--rounds N]\n");
            return 2;
        }
    }
    std::printf("%-18s %12s %16s %10s %17s %10s\n", "ms", "scalar", "scalar, threads", "vectors", "vectors, threads",
                "speed-up");
    bool all_same = true;
    for (int w = 0; workloads_scalar[w].name; ++w) {
        const workload &scalar = workloads_scalar[w], &vector = workloads_vector[w];
        const numbers input = input_of(scalar);
        numbers expected(static_cast<std::size_t>(scalar.output_size)), got(expected.size());
        const double scalar_ms = best_ms(scalar, input, expected, 1, rounds);
        const double vector_ms = best_ms(vector, input, got, 1, rounds);
        bool agrees = same(scalar, expected, got);
        std::fill(got.begin(), got.end(), 0.0f);
        const double scalar_threads_ms = best_ms(scalar, input, got, threads, rounds);
        agrees &= same(scalar, expected, got);
        std::fill(got.begin(), got.end(), 0.0f);
        const double threads_ms = best_ms(vector, input, got, threads, rounds);
        agrees &= same(scalar, expected, got);
        std::printf("%-18s %12.4f %16.4f %10.4f %17.4f %9.2fx%s\n", scalar.name, scalar_ms, scalar_threads_ms,
                    vector_ms, threads_ms, scalar_ms / vector_ms, agrees ? "" : "   DIFFERS");
        all_same &= agrees;
    }
    std::printf("%s\n", all_same ? "all results agree" : "RESULTS DIFFER");
    return all_same ? 0 : 1;
}
