// SPDX-License-Identifier: Apache-2.0
// Fits the line of a stage to measurements, and moves it with what is seen later.
#include "transfer/tuner/stage_model.hpp"

#include <algorithm>
#include <cmath>

namespace causeway::transfer {

namespace {

constexpr double least_latency = 10e-9;
constexpr double least_bandwidth = 1e3, most_bandwidth = 1e14;
/// Of the way to what was seen, in ratios, and how far a single sample is believed.
constexpr double weight = 0.25, most_believed = 2;

double believed(double ratio) { return std::clamp(ratio, 1 / most_believed, most_believed); }

void keep_sane(stage_model& model) {
    model.latency = std::max(model.latency, least_latency);
    model.bandwidth = std::clamp(model.bandwidth, least_bandwidth, most_bandwidth);
    model.ceiling = std::clamp(model.ceiling, least_bandwidth, most_bandwidth);
}

} // namespace

stage_model fit(std::span<const stage_sample> samples) {
    // Least squares of (seconds - latency - bytes * slope) / seconds.
    double one = 0, x = 0, xx = 0, y = 0, xy = 0;
    double fastest = 0, longest = 0, largest = 0;
    for (const auto& each : samples) {
        const double seconds = std::max(each.seconds, 1e-9);
        if (each.company > 1) {
            fastest = std::max(fastest, each.company * each.bytes / seconds);
            continue;
        }
        const double counts = 1 / (seconds * seconds);
        one += counts;
        x += counts * each.bytes;
        xx += counts * each.bytes * each.bytes;
        y += counts * seconds;
        xy += counts * seconds * each.bytes;
        longest = std::max(longest, seconds);
        largest = std::max(largest, each.bytes);
    }
    const double determinant = one * xx - x * x;
    double latency = determinant > 0 ? (y * xx - xy * x) / determinant : 0;
    double slope = determinant > 0 ? (one * xy - x * y) / determinant : 0;
    // What does not grow with the bytes has no slope: a map that copies nothing.
    if (slope <= 0) {
        slope = 0;
        latency = one > 0 ? y / one : longest;
    }
    if (latency < 0) {
        latency = 0;
        slope = xx > 0 ? xy / xx : 0;
    }
    stage_model made{.latency = latency, .bandwidth = slope > 0 ? 1 / slope : most_bandwidth};
    made.ceiling = fastest > 0 ? fastest : made.bandwidth;
    keep_sane(made);
    return made;
}

void correct(stage_model& known, const stage_sample& seen) {
    if (!(seen.bytes > 0) || !(seen.seconds > 0)) return;
    if (seen.company > 1) {
        const double found = seen.company * seen.bytes / seen.seconds;
        const bool is_limited = seen.bytes * seen.company / known.ceiling > known.seconds(seen.bytes);
        // Operations that are slow by themselves say nothing of the limit, unless they are faster than it.
        if (is_limited || found > known.ceiling || known.seconds(seen.bytes) < seen.seconds)
            known.ceiling *= std::pow(believed(found / known.ceiling), weight);
    } else {
        // Each part moves as far as it is responsible.
        const double expected = known.seconds(seen.bytes);
        const double share = known.latency / expected;
        const double step = std::log(believed(seen.seconds / expected)) * weight / (share * share + (1 - share) * (1 - share));
        known.latency *= std::exp(step * share);
        known.bandwidth /= std::exp(step * (1 - share));
    }
    keep_sane(known);
}

} // namespace causeway::transfer
