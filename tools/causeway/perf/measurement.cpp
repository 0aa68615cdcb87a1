// SPDX-License-Identifier: Apache-2.0
// From samples to rows: medians, the limit from its parts.
#include "perf/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace perf {

double comparison::sample(const way& each) const {
    if (in_a_row == 1) return each.run();
    (void)each.run();
    double seconds = 0;
    for (int i = 0; i < in_a_row; ++i) seconds += each.run();
    return seconds / in_a_row;
}

void comparison::add_naive(std::function<double()> run, std::function<void()> check, std::string how) {
    ways.push_back(way{"naive", role::naive, std::move(run), std::move(check), {}, {}, std::move(how)});
}

void comparison::add_ours(const forced_plan& forced, std::function<double()> run, std::function<void()> check,
                          std::shared_ptr<used_plan> used) {
    ways.push_back(way{forced.strategy, role::ours, std::move(run), std::move(check), forced, std::move(used), {}});
}

void comparison::add_limit(std::string part, std::string how, std::function<double()> run,
                           std::function<void()> check) {
    ways.push_back(way{std::move(part), role::limit, std::move(run), std::move(check), {}, {}, std::move(how)});
}

void comparison::add_shown(std::string part, std::string how, std::function<double()> run,
                           std::function<void()> check) {
    ways.push_back(way{std::move(part), role::shown, std::move(run), std::move(check), {}, {}, std::move(how)});
}

std::vector<std::size_t> order_of_round(std::size_t count, std::size_t round) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto zigzag = i % 2 == 1 ? (i + 1) / 2 : (count - i / 2) % count;
        order[i] = (zigzag + round) % count;
    }
    if (count % 2 == 1 && round / count % 2 == 1) std::reverse(order.begin(), order.end());
    return order;
}

evaluation evaluate(const comparison& compared, const std::vector<std::vector<double>>& samples) {
    evaluation result;
    std::map<std::string, double> parts; // the fastest way of each
    std::optional<double> naive;
    for (std::size_t i = 0; i < compared.ways.size(); ++i) {
        const auto& each = compared.ways[i];
        const auto seconds = apps::quartiles_of(samples[i]);
        if (!std::isfinite(seconds.median) || seconds.median <= 0)
            throw std::runtime_error(compared.route + ", " + each.name + ": no time was measured");
        switch (each.is) {
        case role::naive:
            naive = naive ? std::min(*naive, seconds.median) : seconds.median;
            if (!each.how.empty())
                result.parts.push_back({compared.route, compared.bytes, each.name, each.how, seconds.median, false});
            break;
        case role::limit: {
            const auto [known, is_new] = parts.try_emplace(each.name, seconds.median);
            if (!is_new) known->second = std::min(known->second, seconds.median);
            result.parts.push_back({compared.route, compared.bytes, each.name, each.how, seconds.median});
            break;
        }
        case role::shown:
            result.parts.push_back({compared.route, compared.bytes, each.name, each.how, seconds.median, false});
            break;
        case role::ours:
            result.rows.push_back(
                {compared.route, each.forced.strategy, compared.bytes, *each.used, seconds, samples[i].size()});
            break;
        }
    }
    double limit = 0;
    for (const auto& [name, seconds] : parts)
        limit = compared.rule == limit_rule::sum ? limit + seconds : std::max(limit, seconds);
    if (!naive || limit <= 0) throw std::logic_error(compared.route + ": no naive way or no limit");
    // What code by hand reaches, the machine can do.
    result.naive_is_limit = *naive < limit;
    limit = std::min(limit, *naive);
    for (auto& each : result.rows) {
        each.naive_seconds = *naive;
        each.limit_seconds = limit;
    }
    return result;
}

bool own_choice::is_as_good() const {
    constexpr double almost = 1.05;
    return over_best() <= almost || own.seconds.median <= best.seconds.upper;
}

std::vector<own_choice> own_choices(const std::vector<row>& rows) {
    std::vector<own_choice> found;
    for (auto first = rows.begin(); first != rows.end();) {
        const auto end = std::find_if(first, rows.end(), [&](const row& each) {
            return each.route != first->route || each.size_bytes != first->size_bytes;
        });
        const auto best = std::min_element(
            first + 1, end, [](const row& one, const row& other) { return one.seconds.median < other.seconds.median; });
        if (best != end) found.push_back({*first, *best});
        first = end;
    }
    return found;
}

} // namespace perf
