// SPDX-License-Identifier: Apache-2.0
// A few sizes all over the range, then steps from the best one.
#include "study/size_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace study {

namespace {

std::size_t product(const shape& of) {
    return std::accumulate(of.begin(), of.end(), std::size_t{1}, std::multiplies<>());
}

shape divisors_of(std::size_t number, std::size_t largest) {
    shape found;
    for (std::size_t i = 1; i * i <= number; ++i) {
        if (number % i != 0) continue;
        if (i <= largest) found.push_back(i);
        if (i != number / i && number / i <= largest) found.push_back(number / i);
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// The largest divisor that is not larger.
std::size_t at_most(const shape& divisors, std::size_t wanted) {
    const auto above = std::upper_bound(divisors.begin(), divisors.end(), std::max<std::size_t>(wanted, 1));
    return *std::prev(above);
}
/// The smallest one that is not smaller, or the largest.
std::size_t at_least(const shape& divisors, std::size_t wanted) {
    const auto found = std::lower_bound(divisors.begin(), divisors.end(), wanted);
    return found == divisors.end() ? divisors.back() : *found;
}

} // namespace

std::vector<shape> all_sizes(const size_limits& limits) {
    std::vector<shape> all{{}};
    for (std::size_t d = 0; d < limits.global.size(); ++d) {
        std::vector<shape> longer;
        for (const auto& begun : all)
            for (const auto each : divisors_of(limits.global[d], std::min(limits.largest[d], limits.largest_group))) {
                auto size = begun;
                size.push_back(each);
                if (product(size) <= limits.largest_group) longer.push_back(std::move(size));
            }
        all = std::move(longer);
    }
    return all;
}

size_search::size_search(size_limits limits, shape own)
    : m_limits(std::move(limits)), m_possible(all_sizes(m_limits).size()) {
    for (std::size_t d = 0; d < m_limits.global.size(); ++d)
        m_divisors.push_back(divisors_of(m_limits.global[d], std::min(m_limits.largest[d], m_limits.largest_group)));
    // The last one comes first. Steps find the shape: of several dimensions few sizes are looked at before them.
    if (m_limits.global.size() == 1) {
        for (const std::size_t items : {std::size_t{1}, std::size_t{8}, std::size_t{1024}, std::size_t{32},
                                        m_limits.largest_group, std::size_t{256}})
            m_planned.push_back(filled(items));
    } else {
        m_planned = {squared(16), filled(m_limits.largest_group), squared(256), filled(128)};
    }
    if (!own.empty()) m_planned.push_back(std::move(own));
}

std::size_t size_search::most_trials() const { return std::max<std::size_t>(12, m_possible / 20); }

bool size_search::is_new(const shape& size) const {
    return !m_tried.contains(size) && product(size) <= m_limits.largest_group;
}

shape size_search::filled(std::size_t items) const {
    shape size;
    std::size_t left = std::min(items, m_limits.largest_group);
    for (const auto& divisors : m_divisors) {
        size.push_back(at_most(divisors, left));
        left = std::max<std::size_t>(left / size.back(), 1);
    }
    return size;
}

shape size_search::squared(std::size_t items) const {
    const auto dimensions = static_cast<double>(m_divisors.size());
    const auto edge = static_cast<std::size_t>(
        std::pow(static_cast<double>(std::min(items, m_limits.largest_group)), 1 / dimensions));
    shape size;
    for (const auto& divisors : m_divisors) size.push_back(at_most(divisors, edge));
    return size;
}

/// Twice and half as much in each dimension, and from one dimension to another.
void size_search::add_steps(const shape& from) {
    const auto larger = [&](std::size_t d) { return at_least(m_divisors[d], from[d] * 2); };
    const auto smaller = [&](std::size_t d) { return at_most(m_divisors[d], from[d] / 2); };
    for (std::size_t d = 0; d < from.size(); ++d)
        for (std::size_t other = 0; other < from.size(); ++other) {
            if (other == d) continue;
            auto size = from;
            size[d] = larger(d);
            size[other] = smaller(other);
            m_planned.push_back(std::move(size));
        }
    for (std::size_t d = 0; d < from.size(); ++d)
        for (const auto next : {smaller(d), larger(d)}) {
            auto size = from;
            size[d] = next;
            m_planned.push_back(std::move(size));
        }
}

std::optional<shape> size_search::next() {
    if (trials() >= most_trials()) return {};
    for (;;) {
        while (!m_planned.empty()) {
            auto size = std::move(m_planned.back());
            m_planned.pop_back();
            if (is_new(size)) return size;
        }
        // Near the best first; with trials left, near those behind it: one time says little of two sizes that are
        // nearly as good.
        const std::pair<const shape, std::optional<double>>* from = nullptr;
        for (const auto& each : m_tried)
            if (each.second && !m_stepped_from.contains(each.first) &&
                (from == nullptr || *each.second < *from->second))
                from = &each;
        if (from == nullptr) return {};
        m_stepped_from.insert(from->first);
        add_steps(from->first);
    }
}

void size_search::tell(const shape& size, std::optional<double> seconds) { m_tried[size] = seconds; }

std::optional<shape> best_in_rounds(std::vector<timed_size> sizes, const runs_in_turn& again) {
    std::sort(sizes.begin(), sizes.end());
    for (const auto& [most, rounds] : {std::pair{8U, 2U}, std::pair{4U, 3U}, std::pair{2U, 4U}}) {
        if (sizes.size() > most) sizes.resize(most);
        if (sizes.size() < 2) break;
        std::vector<shape> few;
        for (const auto& [seconds, size] : sizes) few.push_back(size);
        const auto times = again(few, rounds);
        if (!times) continue; // fewer may still have the time
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i].first = std::min(sizes[i].first, times->at(i));
        std::sort(sizes.begin(), sizes.end());
    }
    return sizes.empty() ? std::nullopt : std::optional(sizes.front().second);
}

} // namespace study
