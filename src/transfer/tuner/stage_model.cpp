// SPDX-License-Identifier: Apache-2.0
// Draws the curve of a stage through measurements, and moves it with what is seen later.
#include "transfer/tuner/stage_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace causeway::transfer {

namespace {

constexpr double least_seconds = 1e-9, most_seconds = 1e6;
constexpr double least_bandwidth = 1e3, most_bandwidth = 1e14;
/// Of the way to what was seen, in ratios, and how far a single sample is believed.
constexpr double weight = 0.25, most_believed = 2;

double believed(double ratio) { return std::clamp(ratio, 1 / most_believed, most_believed); }

/// The straight line through two points, at `bytes`.
double between(double bytes, double size, double seconds, double next_size, double next_seconds) {
    return seconds + (next_seconds - seconds) * (bytes - size) / (next_size - size);
}

} // namespace

stage_model stage_model::line(double latency, double bandwidth, double ceiling) {
    stage_model made{.ceiling = ceiling};
    for (std::size_t i = 0; i < points; ++i) made.seconds_at[i] = latency + size_of(i) / bandwidth;
    return made;
}

double stage_model::seconds(double bytes) const {
    if (bytes <= size_of(0)) return seconds_at.front();
    std::size_t next = 1;
    while (next + 1 < points && bytes > size_of(next)) ++next;
    return between(bytes, size_of(next - 1), seconds_at[next - 1], size_of(next), seconds_at[next]);
}

double stage_model::bandwidth() const {
    const double more = seconds_at[points - 1] - seconds_at[points - 3];
    return std::clamp((size_of(points - 1) - size_of(points - 3)) / std::max(more, least_seconds), least_bandwidth, most_bandwidth);
}

stage_model fit(std::span<const stage_sample> samples) {
    struct mean {
        double sum = 0, count = 0;
    };
    std::map<double, mean> alone;
    double fastest = 0;
    for (const auto& each : samples) {
        const double seconds = std::clamp(each.seconds, least_seconds, most_seconds);
        if (each.company > 1) {
            fastest = std::max(fastest, each.company * each.bytes / seconds);
        } else {
            alone[each.bytes].sum += seconds;
            alone[each.bytes].count += 1;
        }
    }
    stage_model made;
    for (std::size_t i = 0; i < stage_model::points; ++i) {
        const double size = stage_model::size_of(i);
        double seconds = least_seconds;
        auto above = alone.lower_bound(size);
        if (alone.size() == 1) {
            seconds = alone.begin()->second.sum / alone.begin()->second.count * std::max(1.0, size / alone.begin()->first);
        } else if (!alone.empty()) {
            // Beyond the samples the line through the two that are nearest goes on.
            if (above == alone.begin()) ++above;
            if (above == alone.end()) --above;
            const auto below = std::prev(above);
            const auto mean_of = [](const auto& which) { return which->second.sum / which->second.count; };
            seconds = between(size, below->first, mean_of(below), above->first, mean_of(above));
            // ... but not below what a tenth of the first one took.
            seconds = std::max(seconds, mean_of(alone.begin()) / 10);
        }
        made.seconds_at[i] = std::clamp(seconds, i > 0 ? made.seconds_at[i - 1] : least_seconds, most_seconds);
    }
    made.ceiling = std::clamp(fastest > 0 ? fastest : made.bandwidth(), least_bandwidth, most_bandwidth);
    return made;
}

void correct(stage_model& known, const stage_sample& seen) {
    if (!(seen.bytes > 0) || !(seen.seconds > 0)) return;
    const double expected = known.seconds(seen.bytes);
    if (seen.company > 1) {
        const double found = seen.company * seen.bytes / seen.seconds;
        // Operations that take no longer than alone have not met the limit, unless they show that it is higher.
        if (found < known.ceiling && seen.seconds <= expected) return;
        known.ceiling = std::clamp(known.ceiling * std::pow(believed(found / known.ceiling), weight), least_bandwidth, most_bandwidth);
        return;
    }
    // The points on both sides move, each as near as it is.
    const double step = std::log(believed(seen.seconds / expected)) * weight;
    const double place = std::clamp(std::log2(seen.bytes / stage_model::size_of(0)) / 2, 0.0, stage_model::points - 1.0);
    auto& times = known.seconds_at;
    for (std::size_t i = 0; i < stage_model::points; ++i) {
        const double distance = std::abs(place - static_cast<double>(i));
        if (distance < 1) times[i] = std::clamp(times[i] * std::exp(step * (1 - distance)), least_seconds, most_seconds);
    }
    // A point that has passed its neighbours takes them along.
    const auto middle = static_cast<std::size_t>(std::lround(place));
    for (std::size_t i = middle + 1; i < stage_model::points; ++i) times[i] = std::max(times[i], times[i - 1]);
    for (std::size_t i = middle; i > 0; --i) times[i - 1] = std::min(times[i - 1], times[i]);
}

} // namespace causeway::transfer
