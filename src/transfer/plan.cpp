// SPDX-License-Identifier: Apache-2.0
// Picks a strategy and applies what the options force.
#include "transfer/plan.hpp"

#include <algorithm>
#include <bit>

namespace causeway::transfer {

namespace {
/// Of smaller pieces the hand-over takes longer than the read.
constexpr std::size_t smallest_piece = std::size_t{128} << 10;
constexpr std::size_t largest_piece = std::size_t{512} << 10;
} // namespace

std::size_t round_block(std::size_t bytes, std::size_t smallest, std::size_t largest) {
    return std::clamp(std::bit_floor(std::max<std::size_t>(bytes, 1)), smallest, largest);
}

planner::planner(const options& settings) : m_options(settings) {
    m_strategies.push_back(make_direct_strategy());
    m_strategies.push_back(make_mapped_strategy());
    m_strategies.push_back(make_shared_window_strategy());
    m_strategies.push_back(make_pinned_strategy());
    m_strategies.push_back(make_pipelined_strategy());
}

plan planner::choose(route way) const {
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
    if (result.direct) return result;
    const bool staged = !result.map_source && !result.map_target && !way.source.has_memory && !way.target.has_memory;
    if (staged) result.block_bytes = std::min(result.block_bytes, way.largest_block);
    result.block_bytes = std::min({result.block_bytes, way.source.largest_block, way.target.largest_block});
    result.block_bytes = std::max<std::size_t>(result.block_bytes, 1);
    result.depth = std::max(result.depth, 1u);
    const bool has_file = way.source.kind == medium::file || way.target.kind == medium::file;
    // The workers are there from the first transfer on; later, the option can only leave some idle.
    const auto wanted = m_options[option::lanes];
    const auto lanes = wanted != 0 ? std::min(way.lanes, static_cast<unsigned>(wanted)) : way.lanes;
    result.lanes = has_file ? std::min(lanes, result.depth) : 1;
    result.piece_bytes = result.block_bytes;
    result.handed = result.lanes;
    // Where the option leaves workers idle, nothing may wait for them.
    if (lanes < way.lanes) return result;
    const auto wanted_pieces = lanes + lanes / 2;
    if (staged && way.source.kind == medium::file && !way.source.ordered) {
        // Blocks as copies like them, read in pieces as processors like them.
        result.lanes = lanes;
        result.piece_bytes = round_block(result.block_bytes / 4, smallest_piece, largest_piece);
        const auto pieces = (result.block_bytes + result.piece_bytes - 1) / result.piece_bytes;
        result.handed = std::min(result.depth, static_cast<unsigned>(wanted_pieces / pieces + 1));
    } else if (has_file) {
        result.handed = std::min(result.depth, wanted_pieces);
    }
    return result;
}

} // namespace causeway::transfer
