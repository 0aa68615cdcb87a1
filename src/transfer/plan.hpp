// SPDX-License-Identifier: Apache-2.0
// How a flow moves its bytes, and the strategies that decide it.
#pragma once

#include "base/options.hpp"
#include "transfer/carrier.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace causeway::transfer {

/// The strategy's name in plans of the tuner's own transfers.
inline constexpr std::string_view measuring_strategy = "measuring";

/// How one flow moves: a strategy's way, block size, depth and I/O threads.
struct plan {
    std::string_view strategy;
    std::size_t block_bytes = 0;
    unsigned depth = 1; ///< blocks in flight
    unsigned io_threads = 1;     ///< that read or write files at once
    unsigned handed = 1;         ///< blocks queued for I/O threads: a few more than threads, so that none runs dry
    std::size_t piece_bytes = 0; ///< what one I/O thread reads of a block; 0: all of it
    bool map_source = false;
    bool map_target = false;
    bool direct = false; ///< the target takes the bytes from the source itself
    bool window = false; ///< staging memory is shared with another process, if it can be
    bool device_window = false; ///< staging memory is the target's device's, if it can be
    std::string_view without_window; ///< the strategy to name if no window can be had
    enum class reason { rules, measured, forced } why = reason::rules;
    std::string_view next_best;   ///< the best of the other strategies by the figures; empty if there are none
    double next_best_seconds = 0; ///< its predicted time
};

/// A flow as strategies see it: its two ends, its size, and the limits on its plan.
struct route {
    static constexpr std::size_t largest_of_caches = std::size_t{1} << 20; ///< bytes: blocks this large stay in caches

    endpoint_traits source, target;
    std::size_t bytes = 0;
    unsigned io_threads = 1; ///< the most that a plan may use: what there are, and what both ends can use
    std::size_t largest_block = 0; ///< the staging cap holds two of these
    bool direct = false; ///< the target can take the bytes from the source itself
    bool device_window = false; ///< blocks of the source can come to windows of the target's device
    bool both_ways = false; ///< the command has another flow beside this one

    /// True if the engines' own threads copy at both devices: then no thread of a driver wakes for each block.
    [[nodiscard]] bool copies_itself() const {
        return (source.maps_at_once && target.is_near_in_place) || (target.maps_at_once && source.is_near_in_place);
    }
    [[nodiscard]] std::size_t smallest_through_caches() const {
        return copies_itself() ? largest_of_caches / 8 : largest_of_caches;
    }
    /// For two ranks of a node, if the memory of at least one of their devices is host memory. From
    /// smallest_through_caches() on, two processors that copy through caches beat one that copies from process to
    /// process, if there is memory for several blocks.
    [[nodiscard]] bool goes_through_caches() const {
        return bytes >= smallest_through_caches() && largest_block >= 4 * largest_of_caches &&
               ((source.can_map && target.is_near_device) || (target.can_map && source.is_near_device));
    }
    [[nodiscard]] bool touches(medium which) const { return source.kind == which || target.kind == which; }
    /// True if blocks are written to a file one after the other, because its lock admits one writer.
    [[nodiscard]] bool has_one_writer() const { return target.kind == medium::file && target.most_io_threads == 1; }
};

/// A way to build plans. The planner's constructor lists them in order of preference.
class strategy {
  public:
    virtual ~strategy() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Whether it can move bytes on this route at all.
    [[nodiscard]] virtual bool can(const route& way) const = 0;
    /// Whether to take it when nothing is forced. Asked in order of preference.
    [[nodiscard]] virtual bool suits(const route& way) const = 0;
    [[nodiscard]] virtual plan make(const route& way) const = 0;
};

[[nodiscard]] std::unique_ptr<strategy> make_direct_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_mapped_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_device_window_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_shared_window_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_pinned_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_pipelined_strategy();

class estimate;
class tuner;

/// Picks the plan of a flow: what the options force, else the fastest by the tuner's figures, else by rules. Engine's
/// thread.
class planner {
  public:
    /// `known` may be null, and outlives the planner.
    explicit planner(const options& settings, const tuner* known = nullptr);
    [[nodiscard]] plan choose(const route& way) const;

    [[nodiscard]] const tuner* known() const { return m_tuner; }

    /// In the order in which flows ask them.
    [[nodiscard]] const std::vector<make_carrier>& carriers() const { return m_carriers; }
    /// From now on flows ask this one first.
    void prefer(make_carrier one) { m_carriers.insert(m_carriers.begin(), one); }

  private:
    /// What the tuner's figures change in the plan of plan_that_suits(); 0 keeps the strategy's own value.
    struct decision {
        const strategy* chosen = nullptr; ///< null: the plan that suits is as good
        std::size_t block_bytes = 0;
        unsigned depth = 0, io_threads = 0;
        std::string_view next_best;
        double next_best_seconds = 0;
        bool has_figures = false;
    };
    /// The best plan of one strategy.
    struct candidate {
        decision found;
        double seconds = 0;
        double plain_seconds = std::numeric_limits<double>::infinity(); ///< of its own plan, if that has depth 1
    };
    /// Routes that get the same decision.
    struct situation {
        std::string_view source, target;
        std::size_t size_class, largest_block;
        unsigned kinds, io_threads;
        bool operator==(const situation&) const = default;
    };
    struct situation_hash {
        std::size_t operator()(const situation& which) const;
    };

    [[nodiscard]] plan plan_that_suits(const route& way) const;
    [[nodiscard]] plan within_limits(plan made, const route& way) const;
    [[nodiscard]] const decision& decide(const route& way) const;
    [[nodiscard]] decision search(const route& way) const;
    [[nodiscard]] std::optional<candidate> best_of(const strategy& which, const route& way,
                                                   const estimate& figures) const;

    const options& m_options;
    const tuner* m_tuner;
    std::vector<std::unique_ptr<strategy>> m_strategies;
    std::vector<make_carrier> m_carriers{standard_carriers().begin(), standard_carriers().end()};
    mutable std::unordered_map<situation, decision, situation_hash> m_decisions;
    mutable std::uint64_t m_decided_for = 0; // the tuner's version
};

/// Whether the options leave the planner no choice.
[[nodiscard]] bool forces_plans(const options& settings);

/// By the rules, a transfer of at most this size moves in one block, if staging memory holds four of them.
inline constexpr std::size_t largest_whole = std::size_t{512} << 10;
/// The largest value of the option `eager`.
inline constexpr std::size_t largest_eager = std::size_t{64} << 10;
/// From this size on, a link between devices is faster than the way through the host.
inline constexpr std::size_t smallest_linked = std::size_t{1} << 20;
/// The largest block for transfers both ways at once through the host. Their copies wait for one another: 4 MiB reached
/// 86 % of the bandwidth of 2 MiB (two H200).
inline constexpr std::size_t largest_shared_both_ways = std::size_t{2} << 20;

/// Power of two nearest below `bytes`, within the limits.
[[nodiscard]] std::size_t round_block(std::size_t bytes, std::size_t smallest, std::size_t largest);

/// One block for all bytes, if staging memory holds it. A power of two, so that the pool can reuse it.
[[nodiscard]] std::size_t whole_block(const route& way);

} // namespace causeway::transfer
