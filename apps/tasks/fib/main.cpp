// SPDX-License-Identifier: Apache-2.0
// Times fib by each library that was found, interleaved, and compares with the fastest of the others.
#include "tasks/fib/fib.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace task_fib;
constexpr std::chrono::milliseconds until_threads_sleep{300};

constexpr const char* usage_line = "usage: task_fib [--n N] [--rounds N] [--idle] [--reverse] [THREADS]...\n";

[[noreturn]] void usage(const std::string& why) {
    std::fprintf(stderr, "task_fib: %s\n%s", why.c_str(), usage_line);
    std::exit(2);
}

void help() {
    std::printf("%s"
                "Times a task for each call of fib(N), by each library that was found, in turns.\n"
                "  --n N       computes fib(N), 1 to 50 (30)\n"
                "  --rounds N  how often; medians and quartiles are printed (5)\n"
                "  --idle      instead, the processor time of threads that have nothing to do\n"
                "  --reverse   the libraries in the opposite order\n"
                "  THREADS     counts of threads (1, and one for each processor)\n",
                usage_line);
}

/// Also the number of calls that spawn, for n + 1, and one.
long serial(int n) { return n < 2 ? n : serial(n - 1) + serial(n - 2); }

double tasks_of(int n) { return static_cast<double>(serial(n + 1) - 1); }

/// The number for a library that takes so long: a run ends in some two seconds on however many threads.
int number_for(int n, double seconds_per_task) {
    constexpr double longest_run = 2;
    while (n > 16 && tasks_of(n) * seconds_per_task > longest_run) --n;
    return n;
}

/// False if a library computes another number.
bool time_all(int n, unsigned rounds, unsigned threads, bool reverse) {
    auto all = of_causeway();
    for (const auto& more : {of_onetbb(), of_openmp(), of_taskflow()}) all.insert(all.end(), more.begin(), more.end());
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (reverse) std::reverse(order.begin(), order.end());
    std::vector<int> numbers(all.size(), 0);
    std::vector<std::vector<double>> times(all.size()); // of a task
    bool right = true;
    for (unsigned round = 0; round < rounds; ++round)
        for (const auto each : order) {
            // Threads of the library before spin for a while without work: libomp's for 200 ms.
            std::this_thread::sleep_for(until_threads_sleep);
            const auto solver = all[each].make(threads);
            const auto time_task = [&](int number) {
                const auto begin = std::chrono::steady_clock::now();
                const long value = solver->run(number);
                const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
                if (value != serial(number)) {
                    std::fprintf(stderr, "task_fib: %s: fib(%d) is not %ld\n", all[each].name.c_str(), number, value);
                    right = false;
                }
                return passed.count() / tasks_of(number);
            };
            (void)time_task(std::min(n, 10)); // threads are there
            if (round == 0) {
                // A short run of many threads times their waking up: on to longer ones.
                int number = std::min(n, 16);
                double seconds = time_task(number);
                while (number < n && seconds * tasks_of(number) < 0.05) {
                    number = std::min(n, number + 3);
                    seconds = time_task(number);
                }
                numbers[each] = number_for(n, seconds);
            }
            times[each].push_back(time_task(numbers[each]));
        }
    double fastest = std::numeric_limits<double>::infinity();
    for (auto& its : times) std::sort(its.begin(), its.end());
    for (std::size_t each = of_causeway().size(); each < all.size(); ++each)
        fastest = std::min(fastest, times[each][times[each].size() / 2]);
    for (std::size_t each = 0; each < all.size(); ++each) {
        const auto& its = times[each];
        std::printf("%7u %-20s %10.1f %10.1f %10.1f", threads, all[each].name.c_str(), 1e9 * its[its.size() / 2],
                    1e9 * its[its.size() / 4], 1e9 * its[its.size() * 3 / 4]);
        if (fastest < std::numeric_limits<double>::infinity()) std::printf(" %8.2f", its[its.size() / 2] / fastest);
        if (numbers[each] != n) std::printf("   fib(%d)", numbers[each]);
        std::printf("\n");
    }
    std::fflush(stdout);
    return right;
}

/// Processor time that each library's threads take while they have nothing to do.
void time_idleness(unsigned threads) {
    std::printf("%7s %-20s %14s\n", "threads", "library", "of a core, idle");
    auto all = of_causeway();
    for (const auto& more : {of_onetbb(), of_openmp(), of_taskflow()}) all.insert(all.end(), more.begin(), more.end());
    for (const auto& each : all) {
        const auto solver = each.make(threads);
        (void)solver->run(16);
        std::this_thread::sleep_for(until_threads_sleep);
        const auto begin = std::clock();
        std::this_thread::sleep_for(std::chrono::seconds(1));
        std::printf("%7u %-20s %12.2f %%\n", threads, each.name.c_str(),
                    100.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        std::fflush(stdout);
    }
}

int act(int argc, char** argv) {
    int n = 30;
    unsigned rounds = 5;
    bool idle = false, reverse = false;
    std::vector<unsigned> counts;
    for (int each = 1; each < argc; ++each) {
        const std::string_view word = argv[each];
        if (word == "--help" || word == "-h") {
            help();
            return 0;
        }
        if (word == "--idle" || word == "--reverse") {
            (word == "--idle" ? idle : reverse) = true;
            continue;
        }
        const bool is_option = word == "--n" || word == "--rounds";
        if (is_option && ++each == argc) usage(std::string(word) + " wants a value");
        const long value = std::strtol(argv[each], nullptr, 10);
        if (value < 1 || value > 4096) usage("a number above 0, not " + std::string(argv[each]));
        if (word == "--n")
            n = static_cast<int>(std::min(value, 50l));
        else if (word == "--rounds")
            rounds = static_cast<unsigned>(value);
        else
            counts.push_back(static_cast<unsigned>(value));
    }
    if (counts.empty()) counts = {1, std::max(1u, std::thread::hardware_concurrency())};
    if (idle) {
        for (const auto threads : counts) time_idleness(threads);
        return 0;
    }
    std::printf("fib(%d), medians of %u rounds: wall time for each task\n", n, rounds);
    std::printf("%7s %-20s %10s %10s %10s %8s\n", "threads", "library", "ns/task", "quartiles", "", "of best");
    std::fflush(stdout);
    bool right = true;
    for (const auto threads : counts) right = time_all(n, rounds, threads, reverse) && right;
    return right ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return act(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "task_fib: %s\n", error.what());
        return 1;
    }
}
