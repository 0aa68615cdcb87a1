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

double sane_bandwidth(double found) { return std::clamp(found, least_bandwidth, most_bandwidth); }
double sane_seconds(double found) { return std::clamp(found, least_seconds, most_seconds); }

double believed(double ratio) { return std::clamp(ratio, 1 / most_believed, most_believed); }

/// The straight line through two points, at `bytes`.
double between(double bytes, double size, double seconds, double next_size, double next_seconds) {
    return seconds + (next_seconds - seconds) * (bytes - size) / (next_size - size);
}

} // namespace

stage_model stage_model::line(double latency, double bandwidth, double ceiling, double gap) {
    stage_model made{.gap = gap, .ceiling = ceiling};
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
    return sane_bandwidth((size_of(points - 1) - size_of(points - 3)) / std::max(more, least_seconds));
}

namespace {

/// Times of operations by their size, and where two sizes are needed the line goes on.
class line_of_means {
  public:
    void add(double bytes, double seconds) {
        auto& mean = m_means[bytes];
        mean.sum += sane_seconds(seconds);
        mean.count += 1;
    }
    [[nodiscard]] bool empty() const { return m_means.empty(); }
    [[nodiscard]] double at(double size) const {
        if (m_means.size() == 1) return mean_of(m_means.begin()) * std::max(1.0, size / m_means.begin()->first);
        auto above = m_means.lower_bound(size);
        if (above == m_means.begin()) ++above;
        if (above == m_means.end()) --above;
        const auto below = std::prev(above);
        const double found = between(size, below->first, mean_of(below), above->first, mean_of(above));
        // Below the smallest one the line may fall to a tenth, and no further.
        return std::max(found, mean_of(m_means.begin()) / 10);
    }

  private:
    struct mean {
        double sum = 0, count = 0;
    };
    using all_means = std::map<double, mean>;
    static double mean_of(all_means::const_iterator which) { return which->second.sum / which->second.count; }
    all_means m_means;
};

} // namespace

void add_typical(std::span<const sample_pair> runs, bool several_at_once, std::vector<stage_sample>& into) {
    std::vector<stage_sample> alike;
    for (const auto& run : runs)
        for (const auto& each : run)
            if ((each.company > 1) == several_at_once) alike.push_back(each);
    if (alike.empty()) return;
    const auto chosen = alike.begin() + static_cast<std::ptrdiff_t>(alike.size() / 4);
    std::nth_element(alike.begin(), chosen, alike.end(),
                     [](const auto& one, const auto& other) { return one.seconds < other.seconds; });
    into.push_back(*chosen);
}

stage_model fit(operation what, std::span<const stage_sample> samples) {
    line_of_means alone, together;
    for (const auto& each : samples) {
        if (each.company > 1) {
            together.add(each.bytes, each.seconds / each.company);
        } else {
            alone.add(each.bytes, each.seconds);
        }
    }
    stage_model made;
    for (std::size_t i = 0; i < stage_model::points; ++i)
        made.seconds_at[i] = std::clamp(alone.empty() ? least_seconds : alone.at(stage_model::size_of(i)),
                                        i > 0 ? made.seconds_at[i - 1] : least_seconds, most_seconds);
    // One of several takes no longer than it would alone; but those who write to one file hinder one another.
    const auto share_of = [&](std::size_t point) {
        const double own = made.seconds_at[point];
        if (together.empty()) return own;
        const double shared = together.at(stage_model::size_of(point));
        return what == operation::write ? shared : std::min(own, shared);
    };
    constexpr std::size_t small = 2, large = stage_model::points - 2; // 64 KiB, 4 MiB
    const double more = std::max(share_of(large) - share_of(small), least_seconds);
    made.ceiling = sane_bandwidth((stage_model::size_of(large) - stage_model::size_of(small)) / more);
    made.gap = sane_seconds(share_of(small) - stage_model::size_of(small) / made.ceiling);
    return made;
}

void correct(stage_model& known, const stage_sample& seen) {
    if (!(seen.bytes > 0) || !(seen.seconds > 0)) return;
    const double expected = seen.company > 1 ? known.share(seen.bytes) * seen.company : known.seconds(seen.bytes);
    const double step = std::log(believed(seen.seconds / expected)) * weight;
    if (seen.company > 1) {
        // Operations that take no longer than alone have not met the limit, unless they show that it is higher.
        if (step > 0 && seen.seconds <= known.seconds(seen.bytes)) return;
        // Gap and ceiling move as far as they are responsible; a gap that is nothing can still grow.
        const double gap = std::max(known.gap, 1e-7);
        const double part = gap / (gap + seen.bytes / known.ceiling), whole = part * part + (1 - part) * (1 - part);
        known.gap = sane_seconds(gap * std::exp(step * part / whole));
        known.ceiling = sane_bandwidth(known.ceiling * std::exp(-step * (1 - part) / whole));
        return;
    }
    // The points on both sides move, each as near as it is.
    const double last = stage_model::points - 1;
    const double position = std::clamp(std::log2(seen.bytes / stage_model::size_of(0)) / 2, 0.0, last);
    auto& times = known.seconds_at;
    for (std::size_t i = 0; i < stage_model::points; ++i) {
        const double distance = std::abs(position - static_cast<double>(i));
        if (distance < 1) times[i] = sane_seconds(times[i] * std::exp(step * (1 - distance)));
    }
    // A point that has passed its neighbours takes them along.
    const auto middle = static_cast<std::size_t>(std::lround(position));
    for (std::size_t i = middle + 1; i < stage_model::points; ++i) times[i] = std::max(times[i], times[i - 1]);
    for (std::size_t i = middle; i > 0; --i) times[i - 1] = std::min(times[i - 1], times[i]);
}

} // namespace causeway::transfer
