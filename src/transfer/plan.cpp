// SPDX-License-Identifier: Apache-2.0
// Picks a strategy and applies what the options force, or what the tuner's figures say is fastest.
#include "transfer/plan.hpp"

#include "transfer/tuner/estimate.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace causeway::transfer {

namespace {

/// Of smaller pieces the hand-over takes longer than the read.
constexpr std::size_t smallest_piece = std::size_t{128} << 10;
constexpr std::size_t largest_piece = std::size_t{512} << 10;

/// What suits by rules, and a strategy's own plan, is kept unless figures promise more: they are not that exact.
constexpr double margin = 0.04;
/// Smaller blocks cost more than they bring, whatever figures say: those of so few bytes of a file are of reads that no
/// I/O thread had to come for, and with smaller ones of messages ranks mostly talk to each other.
constexpr std::size_t smallest_block = std::size_t{128} << 10, smallest_read = std::size_t{512} << 10,
                      smallest_message = std::size_t{256} << 10;
constexpr std::size_t greatest_block = std::size_t{16} << 20;
constexpr unsigned depths[] = {2, 3, 4, 6, 8, 16, 32};
constexpr std::size_t most_decisions = 1024;

/// Four classes from one power of two to the next.
std::size_t class_of(std::size_t bytes) {
    if (bytes < 8) return bytes;
    const auto octave = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
    return octave * 4 + ((bytes >> (octave - 2)) & 3);
}

/// The same for all sizes of a class, so that a choice does not depend on which came first.
std::size_t size_of_class(std::size_t which) {
    if (which < 8) return which;
    return (4 + which % 4) << (which / 4 - 2);
}

} // namespace

std::size_t round_block(std::size_t bytes, std::size_t smallest, std::size_t largest) {
    return std::clamp(std::bit_floor(std::max<std::size_t>(bytes, 1)), smallest, largest);
}

std::size_t whole_block(const route& way) {
    constexpr std::size_t smallest = 4096;
    const auto bytes = std::max(std::min(way.bytes, way.largest_block), smallest);
    return std::min(std::bit_ceil(bytes), way.largest_block);
}

planner::planner(const options& settings, const tuner* known) : m_options(settings), m_tuner(known) {
    m_strategies.push_back(make_direct_strategy());
    m_strategies.push_back(make_mapped_strategy());
    m_strategies.push_back(make_device_window_strategy());
    m_strategies.push_back(make_shared_window_strategy());
    m_strategies.push_back(make_pinned_strategy());
    m_strategies.push_back(make_pipelined_strategy());
}

bool forces_plans(const options& settings) {
    return settings[option::strategy] != 0 || settings[option::block] != 0 || settings[option::depth] != 0 ||
           settings[option::lanes] != 0;
}

plan planner::choose(const route& way) const {
    auto suitable = plan_that_suits(way);
    if (forces_plans(m_options)) {
        suitable.why = plan::reason::forced;
        return suitable;
    }
    const bool has_no_figures = suitable.direct ||
                                (way.device_window && (way.source.in_window || way.target.in_window ||
                                                       same_device(way.source.device, way.target.device)));
    // What figures of one stage at a time promise of stages that share processors and caches does not come true
    // (decision 5).
    if (m_tuner == nullptr || m_tuner->mode() == tuner_mode::off || has_no_figures || way.goes_through_caches() ||
        way.source.resource.empty() || way.target.resource.empty() || way.bytes == 0)
        return suitable;
    const auto& found = decide(way);
    if (!found.has_figures) return suitable;
    if (found.chosen != nullptr) {
        suitable = found.chosen->make(way);
        if (found.block_bytes != 0) suitable.block_bytes = found.block_bytes;
        if (found.depth != 0) suitable.depth = found.depth;
        suitable.io_threads = found.io_threads;
        suitable = within_limits(suitable, way);
    }
    suitable.why = plan::reason::measured;
    suitable.next_best = found.next_best;
    suitable.next_best_seconds = found.next_best_seconds;
    return suitable;
}

plan planner::plan_that_suits(const route& way) const {
    // The option's choices are the strategies in this order, behind "auto".
    const auto forced = m_options[option::strategy];
    const strategy* chosen = nullptr;
    if (forced != 0) {
        const auto& wanted = *m_strategies[forced - 1];
        if (wanted.can(way)) chosen = &wanted;
    } else {
        for (const auto& candidate : m_strategies)
            if (chosen == nullptr && candidate->can(way) && candidate->suits(way)) chosen = candidate.get();
    }
    if (chosen == nullptr) chosen = m_strategies.back().get();

    auto result = chosen->make(way);
    if (m_options[option::block] != 0) result.block_bytes = m_options[option::block];
    if (m_options[option::depth] != 0) result.depth = static_cast<unsigned>(m_options[option::depth]);
    // The I/O threads are there from the first transfer on; later, the option can only leave some idle.
    const auto wanted = m_options[option::lanes];
    result.io_threads = wanted != 0 ? std::min(way.io_threads, static_cast<unsigned>(wanted)) : way.io_threads;
    return within_limits(result, way);
}

plan planner::within_limits(plan made, const route& way) const {
    if (made.direct) {
        made.io_threads = 1;
        return made;
    }
    const bool staged = !made.map_source && !made.map_target && !way.source.has_memory && !way.target.has_memory;
    if (staged && !made.device_window) made.block_bytes = std::min(made.block_bytes, way.largest_block);
    made.block_bytes = std::min({made.block_bytes, way.source.largest_block, way.target.largest_block});
    made.block_bytes = std::max<std::size_t>(made.block_bytes, 1);
    made.depth = std::max(made.depth, 1u);
    const bool has_file = way.touches(medium::file);
    const auto io_threads = made.io_threads;
    made.io_threads = has_file ? std::min(io_threads, made.depth) : 1;
    made.piece_bytes = made.block_bytes;
    made.handed = made.io_threads;
    // Where the option leaves I/O threads idle, nothing may wait for them.
    if (io_threads < way.io_threads) return made;
    const auto wanted_pieces = io_threads + std::max(io_threads / 2, 1u);
    if (staged && way.source.kind == medium::file && !way.source.ordered) {
        // Blocks as copies like them, read in pieces as processors like them.
        made.io_threads = io_threads;
        made.piece_bytes = round_block(made.block_bytes / 4, smallest_piece, largest_piece);
        const auto pieces = (made.block_bytes + made.piece_bytes - 1) / made.piece_bytes;
        made.handed = std::min(made.depth, static_cast<unsigned>(wanted_pieces / pieces + 1));
    } else if (has_file) {
        made.handed = std::min(made.depth, wanted_pieces);
    }
    return made;
}

std::size_t planner::situation_hash::operator()(const situation& which) const {
    auto mixed = std::hash<std::string_view>()(which.source);
    for (const std::size_t part : {std::hash<std::string_view>()(which.target), which.size_class, which.largest_block,
                                   std::size_t{which.kinds} << 16 | which.io_threads})
        mixed = (mixed ^ part) * 0x9E3779B97F4A7C15;
    return mixed;
}

const planner::decision& planner::decide(const route& way) const {
    const auto version = m_tuner->version();
    if (m_decided_for != version || m_decisions.size() >= most_decisions) {
        m_decisions.clear();
        m_decided_for = version;
    }
    const auto kind_of = [](const endpoint_traits& end) {
        return static_cast<unsigned>(end.kind) << 3 | unsigned{end.maps_at_once} << 2 | unsigned{end.can_map} << 1 |
               unsigned{end.has_memory};
    };
    const situation key{way.source.resource,
                        way.target.resource,
                        class_of(way.bytes),
                        way.largest_block,
                        unsigned{way.both_ways} << 17 | unsigned{way.device_window} << 16 | kind_of(way.source) << 8 |
                            kind_of(way.target),
                        way.io_threads};
    const auto [entry, is_new] = m_decisions.try_emplace(key);
    if (is_new) {
        auto typical = way;
        typical.bytes = size_of_class(key.size_class);
        entry->second = search(typical);
    }
    return entry->second;
}

planner::decision planner::search(const route& way) const {
    const estimate figures(*m_tuner, way);
    const auto suitable = plan_that_suits(way);
    const auto expected = figures.seconds(suitable, way.bytes);
    if (!expected) return {};

    std::vector<candidate> all;
    // Small messages leave before their receive comes, which programs count on.
    const bool has_rank = way.touches(medium::rank);
    const bool may_be_eager = has_rank && way.bytes <= largest_eager;
    for (const auto& each : m_strategies)
        if (each->can(way) && each->name() != "direct" && (each->name() != "device-window" || !may_be_eager))
            if (const auto found = best_of(*each, way, figures)) all.push_back(*found);
    const auto less = [](const candidate& one, const candidate& other) { return one.seconds < other.seconds; };
    const auto best = std::min_element(all.begin(), all.end(), less);
    if (best == all.end()) return {};

    // The plain plan is what a program does by itself: all in one piece, one stage after the other.
    double plain = std::numeric_limits<double>::infinity();
    for (const auto& each : all) plain = std::min(plain, each.plain_seconds);
    auto result = best->found;
    if (best->seconds > *expected * (1 - margin) && *expected <= plain) result.chosen = nullptr;
    result.has_figures = true;
    const auto taken = result.chosen != nullptr ? result.chosen->name() : suitable.strategy;
    std::erase_if(all, [&](const auto& each) { return each.found.chosen->name() == taken; });
    if (const auto next = std::min_element(all.begin(), all.end(), less); next != all.end()) {
        result.next_best = next->found.chosen->name();
        result.next_best_seconds = next->seconds;
    }
    return result;
}

std::optional<planner::candidate> planner::best_of(const strategy& which, const route& way,
                                                   const estimate& figures) const {
    auto own = which.make(way);
    own.io_threads = way.io_threads;
    own = within_limits(own, way);
    const auto expected = figures.seconds(own, way.bytes);
    if (!expected) return {};
    candidate best{{.chosen = &which, .io_threads = own.io_threads}, *expected};
    if (own.depth == 1) best.plain_seconds = *expected;
    const bool has_file = way.touches(medium::file);
    // Blocks of windows are as large as their steps are slow to begin.
    if (own.device_window) return best;
    // A single block has no neighbours; what maps for a message leaves the blocks to MPI.
    if (own.depth == 1 || (!has_file && (own.map_source || own.map_target))) return best;
    // I/O threads share a block: what figures say of blocks that one reads does not hold.
    if (own.piece_bytes < own.block_bytes) return best;

    const auto try_plan = [&](std::size_t block, unsigned depth, unsigned io_threads) {
        auto made = own;
        made.block_bytes = block;
        made.depth = depth;
        made.io_threads = io_threads;
        made = within_limits(made, way);
        const auto seconds = figures.seconds(made, way.bytes);
        if (!seconds || *seconds >= best.seconds * (1 - margin)) return;
        best.seconds = *seconds;
        best.found.block_bytes = made.block_bytes;
        best.found.depth = made.depth;
        best.found.io_threads = made.io_threads;
    };
    const bool has_rank = way.touches(medium::rank);
    auto greatest = std::min(greatest_block, way.bytes - 1); // one block has no neighbours
    if (own.window && way.both_ways) greatest = std::min(greatest, largest_shared_both_ways);
    const auto least = has_rank ? smallest_message : way.source.kind == medium::file ? smallest_read : smallest_block;
    for (auto block = least; block <= greatest; block *= 2) {
        const auto blocks = (way.bytes + block - 1) / block;
        for (const auto depth : depths) {
            // Staging memory is also others'.
            if (depth > 2 && (block * depth > way.largest_block / 2 || depth >= 2 * blocks)) break;
            const auto most = has_file ? std::min(way.io_threads, depth) : 1;
            for (unsigned io_threads = 1; io_threads < most; io_threads *= 2) try_plan(block, depth, io_threads);
            try_plan(block, depth, most);
        }
    }
    return best;
}

} // namespace causeway::transfer
