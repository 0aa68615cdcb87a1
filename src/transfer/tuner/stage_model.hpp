// SPDX-License-Identifier: Apache-2.0
// What is known of one stage: how long an operation takes, alone and beside others.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace causeway::transfer {

/// What a resource (a device, a file system, a class of peers) does with the bytes of a block. `link`: a device brings
/// them to memory of another, or ranks of the class let theirs do so; `link_in`: a device takes them from such memory.
enum class operation : unsigned char {
    copy_in,
    copy_out,
    map_in,
    map_out,
    read,
    write,
    send,
    receive,
    window,
    link,
    link_in
};

/// As the file of figures and `causeway tune` call them, in order.
inline constexpr std::array<std::string_view, 11> operation_names = {
    "copy in", "copy out", "map in", "map out", "read", "write", "send", "receive", "window", "link", "link in"};

/// The time of one operation alone, at seven sizes: a curve, because caches, thresholds and polling pauses bend it.
/// Several at once: each adds at least `gap` seconds, and together they move `ceiling` bytes per second. All values are
/// positive; times never fall with size.
struct stage_model {
    static constexpr std::size_t points = 7;
    [[nodiscard]] static constexpr double size_of(std::size_t point) {
        return static_cast<double>(std::size_t{4096} << 2 * point); // 4 KiB to 16 MiB
    }

    std::array<double, points> seconds_at{};
    double gap = 0; ///< seconds
    double ceiling = 0; ///< bytes per second

    /// A straight line: `latency`, and the bytes at `bandwidth` per second.
    [[nodiscard]] static stage_model line(double latency, double bandwidth, double ceiling, double gap = 1e-9);

    [[nodiscard]] double seconds(double bytes) const;
    /// What one of several at once adds to their time.
    [[nodiscard]] double share(double bytes) const { return gap + bytes / ceiling; }
    /// The curve as a line: the smallest operation's seconds; bytes per second from the difference of two large ones.
    [[nodiscard]] double latency() const { return seconds_at.front(); }
    [[nodiscard]] double bandwidth() const;
};

/// Operations of about `bytes` that took `seconds` each while `company` of them, itself included, were under way.
struct stage_sample {
    double bytes = 0, seconds = 0;
    double company = 1;
};

/// What one transfer shows of a stage: one sample of its operations alone, one of those in company. Allocates nothing.
class sample_pair {
  public:
    void add(const stage_sample& one) { m_samples[m_count++] = one; }
    [[nodiscard]] const stage_sample* begin() const { return m_samples.data(); }
    [[nodiscard]] const stage_sample* end() const { return m_samples.data() + m_count; }

  private:
    std::array<stage_sample, 2> m_samples;
    std::size_t m_count = 0;
};

/// Adds to `into` one of the faster of several `runs` of a plan, because other programs slow some down. With
/// `several_at_once` only blocks in company count: one alone was waiting for the other end.
void add_typical(std::span<const sample_pair> runs, bool several_at_once, std::vector<stage_sample>& into);

/// Fits the curve to samples of operations alone, gap and ceiling to samples in company. Without the latter, operations
/// are taken to follow one another.
[[nodiscard]] stage_model fit(operation what, std::span<const stage_sample> samples);

/// Moves `known` part of the way to `seen`, near that size. One sample changes no time by more than a quarter.
void correct(stage_model& known, const stage_sample& seen);

} // namespace causeway::transfer
