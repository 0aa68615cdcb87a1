// SPDX-License-Identifier: Apache-2.0
// Compares ways of doing one transfer with one another and with the machine's limit.
#pragma once

#include "common/statistics.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace perf {

/// Ends the program: nothing that it has measured can be believed.
struct wrong_data : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The role of a way: what users write by hand, ours, a part of the limit, or only shown.
enum class role { naive, ours, limit, shown };

/// How the limit follows from its parts: the slowest one if they overlap, else their sum.
enum class limit_rule { slowest, sum };

/// Strategy "auto" and block 0 leave the choice to the library.
struct forced_plan {
    std::string strategy = "auto";
    std::size_t block_bytes = 0;
};

/// The plan by which a transfer moved its bytes, as it reports.
struct used_plan {
    std::string strategy;
    std::size_t block_bytes = 0;
    unsigned depth = 0, io_threads = 0;
    bool operator==(const used_plan&) const = default;
};

struct way {
    std::string name; // of a part of the limit: what it is. Parts of one name are alternatives: the fastest counts
    role is = role::limit;
    std::function<double()> run;  // does it once and returns seconds
    std::function<void()> check;  // throws wrong_data if the last run moved wrong bytes; may be empty
    forced_plan forced;           // ours only
    std::shared_ptr<used_plan> used; // ours only: by the last run
    std::string how;              // of a limit, of several naive ways, or shown: how it was measured
};

struct comparison {
    std::string route;
    std::size_t bytes = 0;
    limit_rule rule = limit_rule::slowest;
    std::vector<way> ways;
    int in_a_row = 1; // a sample is the mean of so many runs of a way; if more than one, a run that does not count
                      // comes first

    /// Takes a sample of `each`, in seconds.
    [[nodiscard]] double sample(const way& each) const;

    /// Of several the fastest counts; those with a text of `how` are listed.
    void add_naive(std::function<double()> run, std::function<void()> check, std::string how = {});
    void add_ours(const forced_plan& forced, std::function<double()> run, std::function<void()> check,
                  std::shared_ptr<used_plan> used);
    void add_limit(std::string part, std::string how, std::function<double()> run, std::function<void()> check = {});
    void add_shown(std::string part, std::string how, std::function<double()> run, std::function<void()> check = {});
};

/// One line of the table. Seconds are those of one transfer.
struct row {
    std::string route, strategy;
    std::size_t size_bytes = 0;
    used_plan plan;
    apps::quartiles seconds{};
    std::size_t samples = 0;
    double limit_seconds = 0, naive_seconds = 0;

    [[nodiscard]] double bytes_per_second() const { return double(size_bytes) / seconds.median; }
    [[nodiscard]] double limit_bytes_per_second() const { return double(size_bytes) / limit_seconds; }
    [[nodiscard]] double naive_bytes_per_second() const { return double(size_bytes) / naive_seconds; }
    [[nodiscard]] double percent_of_limit() const { return 100 * limit_seconds / seconds.median; }
};

/// One part of a limit as measured, or what is shown beside it.
struct limit_part {
    std::string route;
    std::size_t size_bytes = 0;
    std::string name, how;
    double seconds = 0;
    bool counts = true;
};

struct evaluation {
    std::vector<row> rows;
    std::vector<limit_part> parts;
    bool naive_is_limit = false; ///< it was faster than what the parts amount to
};

/// The ways' numbers in the order in which a round runs them. In `count` rounds, or twice as many if it is odd, each
/// way comes equally often at each position, and behind each other one (a Williams design, E. J. Williams, 1949).
[[nodiscard]] std::vector<std::size_t> order_of_round(std::size_t count, std::size_t round);

/// `samples[i]` are the seconds of way `i`. Throws if a time is no positive number, so that every row has every figure.
evaluation evaluate(const comparison& compared, const std::vector<std::vector<double>>& samples);

/// The library's own choice for one route and size, beside the fastest of those that were forced.
struct own_choice {
    row own, best;

    [[nodiscard]] double over_best() const { return own.seconds.median / best.seconds.median; }
    /// At most 5 % slower, or within the other's quartiles.
    [[nodiscard]] bool is_as_good() const;
    /// The best forced plan was the same one, so any difference is noise.
    [[nodiscard]] bool is_same_plan() const { return own.plan == best.plan; }
};

/// Of all routes and sizes for which something was forced. `rows` as evaluate() gives them: the library's own choice
/// comes first.
std::vector<own_choice> own_choices(const std::vector<row>& rows);

template <class Action> double seconds_of(Action action) {
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace perf
