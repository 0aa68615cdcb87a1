// SPDX-License-Identifier: Apache-2.0
// Large tokens share the cost of commands among more bytes, small ones fill the pipeline sooner: tries every divisor.
#include "graph/token_size.hpp"

#include <algorithm>

namespace causeway::graph {

namespace {

// What it costs to begin a command, and bytes per second, on devices with memory of their own, on processors and in the
// thread that executes. Only their ratios matter, and the optimum is flat.
constexpr double device_fixed = 5e-6, device_rate = 25e9;
/// What another queue takes to hear of a command's end.
constexpr double device_told = 12e-6;
/// Copies between a device and memory that is not page-locked.
constexpr double pageable_rate = 10e9;
constexpr double processor_fixed = 30e-6, processor_rate = 4e9;
constexpr double host_fixed = 1e-6, host_rate = 16e9;

/// A larger token must be worth its memory.
constexpr double near_enough = 1.02;

bool has_loop(const description& described, const std::vector<std::size_t>& island, std::size_t which) {
    std::vector<std::size_t> open(described.nodes().size(), 0), ready;
    for (const auto& each : described.edges()) ++open[each.target];
    std::size_t left = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
        if (island[i] != which) continue;
        ++left;
        if (open[i] == 0) ready.push_back(i);
    }
    std::vector<std::vector<std::size_t>> targets(open.size());
    for (const auto& each : described.edges()) targets[each.source].push_back(each.target);
    while (!ready.empty()) {
        const auto next = ready.back();
        ready.pop_back();
        --left;
        for (const auto target : targets[next])
            if (--open[target] == 0) ready.push_back(target);
    }
    return left > 0;
}

/// Divisors of `number` up to `most`, in order; a stream may have so many tokens that trying them all takes minutes.
std::vector<std::uint64_t> divisors_of(std::uint64_t number, std::uint64_t most) {
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 1; i <= most && i <= number / i; ++i) {
        if (number % i != 0) continue;
        found.push_back(i);
        if (i != number / i && number / i <= most) found.push_back(number / i);
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace

std::vector<firing_cost> estimated_costs(const description& described, const pipeline& smallest,
                                         const std::vector<device_limits>& devices) {
    std::vector<firing_cost> costs;
    for (const auto& each : smallest.actors) {
        std::size_t bytes = 0;
        for (const auto& in : each.inputs) bytes += smallest.channels[in.channel].readers[in.reader].consumed_bytes;
        for (const auto out : each.outputs) bytes += smallest.channels[out].produced_bytes;
        const auto where = smallest.lanes[each.lane].where;
        if (where == host) {
            costs.push_back({host_fixed, static_cast<double>(bytes) / host_rate});
        } else if (devices[where].own_memory) {
            const bool stream = each.kind == actor_kind::input || each.kind == actor_kind::output;
            const bool pageable = stream && !described.nodes()[each.node].page_locked;
            costs.push_back({device_fixed + (devices[where].overlap ? device_told : 0),
                             static_cast<double>(bytes) / (pageable ? pageable_rate : device_rate)});
        } else {
            costs.push_back({processor_fixed, static_cast<double>(bytes) / processor_rate});
        }
    }
    return costs;
}

std::vector<firing_cost> measured_costs(std::vector<firing_cost> estimated, const std::vector<double>& seconds,
                                        const pipeline& smallest, const std::vector<std::uint64_t>& batches) {
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        if (seconds[i] <= 0) continue;
        const auto batch = static_cast<double>(batches[smallest.actors[i].island]);
        estimated[i].unit_seconds = std::max(seconds[i] - estimated[i].fixed_seconds, seconds[i] / 10) / batch;
    }
    return estimated;
}

double predicted_seconds(const pipeline& smallest, const std::vector<firing_cost>& costs, std::size_t island,
                         std::uint64_t batch) {
    std::vector<double> load(smallest.lanes.size(), 0);
    double filling = 0;
    for (std::size_t i = 0; i < smallest.actors.size(); ++i) {
        const auto& each = smallest.actors[i];
        if (each.island != island) continue;
        const auto period = (costs[i].fixed_seconds + costs[i].unit_seconds * static_cast<double>(batch)) *
                            static_cast<double>(each.repetitions);
        filling += period;
        load[each.lane] += period;
    }
    const auto periods = static_cast<double>(smallest.periods[island]) / static_cast<double>(batch);
    return filling + (periods - 1) * *std::max_element(load.begin(), load.end());
}

std::vector<std::uint64_t> choose_batches(const description& described, const balance& balanced,
                                          const pipeline& smallest, const std::vector<firing_cost>& costs,
                                          std::size_t most_bytes) {
    std::vector<std::uint64_t> chosen(balanced.periods.size(), 1);
    for (std::size_t island = 0; island < chosen.size(); ++island) {
        const auto periods = balanced.periods[island];
        bool left_to_us = periods != endless && periods > 1;
        for (std::size_t i = 0; i < described.nodes().size(); ++i) {
            const auto& each = described.nodes()[i];
            const bool stream = each.kind == node_kind::input || each.kind == node_kind::output;
            if (stream && balanced.island[i] == island) left_to_us = left_to_us && each.automatic;
        }
        if (!left_to_us || has_loop(described, balanced.island, island)) continue;
        std::size_t largest = 1;
        for (const auto& ring : smallest.channels)
            if (smallest.actors[ring.writer].island == island) largest = std::max(largest, ring.period_bytes);
        std::vector<std::pair<std::uint64_t, double>> tried;
        for (const auto batch : divisors_of(periods, std::max<std::uint64_t>(1, most_bytes / largest)))
            tried.emplace_back(batch, predicted_seconds(smallest, costs, island, batch));
        const auto best = std::min_element(tried.begin(), tried.end(), [](const auto& a, const auto& b) {
                              return a.second < b.second;
                          })->second;
        chosen[island] = std::find_if(tried.begin(), tried.end(), [&](const auto& each) {
                             return each.second <= best * near_enough;
                         })->first;
    }
    return chosen;
}

description with_batches(const description& described, const balance& balanced,
                         const std::vector<std::uint64_t>& batches) {
    auto made = described;
    for (std::size_t i = 0; i < made.nodes().size(); ++i) {
        auto& each = made.nodes()[i];
        each.batch = batches[balanced.island[i]];
        each.token_bytes *= each.batch;
    }
    for (auto& each : made.edges()) {
        const auto batch = batches[balanced.island[each.source]];
        each.produced_bytes *= batch;
        each.consumed_bytes *= batch;
    }
    return made;
}

} // namespace causeway::graph
