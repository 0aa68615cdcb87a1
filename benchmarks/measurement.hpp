// SPDX-License-Identifier: Apache-2.0
// Ways of doing one thing, timed in turn, and what the times say beside the limit of the machine.
#pragma once

#include "common/statistics.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace benchmarks {

/// What a way is to the others: the naive code, ours, part of the limit, or shown for information.
enum class role { naive, ours, limit, shown };

/// How the limit follows from its parts: the slowest one, for what overlaps, or one after the other.
enum class limit_rule { slowest, sum };

struct way {
    std::string name;
    role is = role::shown;
    std::function<double()> run{};     // does it once and returns seconds
    std::function<void()> check{};     // throws if the data of the last run is wrong; may be empty
    std::function<std::string()> plan{}; // how the last run moved its bytes; may be empty
};

struct comparison {
    std::string route;
    std::size_t bytes = 0; // 0 where it is not about bytes
    limit_rule rule = limit_rule::slowest;
    std::vector<way> ways;
};

/// What is known of one way after all runs. Seconds are those of one run.
struct line {
    std::string route, way, plan;
    std::size_t bytes = 0;
    bool is_limit = false;
    apps::quartiles seconds{};
    std::optional<double> times_naive, over_limit_seconds, percent_of_limit;
};

/// Runs every way once to warm up and then `rounds` times, in turn: A B C, A B C, ... Checks the data after each run;
/// a failure names route, size and way.
std::vector<line> measure(const comparison& compared, int rounds);

/// As measure(), for times taken elsewhere: `samples[i]` are those of way `i`.
std::vector<line> evaluate(const comparison& compared, const std::vector<std::vector<double>>& samples);

/// Prints `lines` as rows of one table, the last column the per cent of the limit. `heading` prints its head first.
enum class heading { no, yes };
void print(const std::vector<line>& lines, heading head);

[[nodiscard]] std::string size_text(std::size_t bytes);

template <class Action>
double seconds_of(Action action) {
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace benchmarks
