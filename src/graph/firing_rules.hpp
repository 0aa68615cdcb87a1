// SPDX-License-Identifier: Apache-2.0
// Counts bytes: which actor may be handed its next firing, and what that firing comes after.
#pragma once

#include "graph/pipeline.hpp"

#include <cstdint>
#include <vector>

namespace causeway::graph {

/// One firing of one actor.
struct firing {
    std::size_t actor = 0;
    std::uint64_t number = 0;
};

/// A range of positions of a channel.
struct channel_range {
    std::size_t channel = 0;
    std::int64_t begin = 0, end = 0;
};

/// What a firing comes after. Lanes keep their order, so only the last of an actor's firings is named.
struct firing_needs {
    std::vector<firing> after; ///< complete before it begins
    std::vector<firing> inputs; ///< of these, those that wrote what it reads
    std::vector<channel_range> zero_filled; ///< first, by the actor's own lane: what a window sees beyond the end

    void clear() {
        after.clear();
        inputs.clear();
        zero_filled.clear();
    }
};

/// A state machine that counts firings when they are handed out, not when they end. Its driver puts a firing into its
/// lane once those that it needs are in theirs, and lets it begin only after they are complete. Copies nothing and
/// waits for nothing. One thread.
class firing_rules {
  public:
    explicit firing_rules(const pipeline& compiled);

    /// Back to the beginning, for so many periods of each island.
    void restart(const std::vector<std::uint64_t>& periods);
    /// Undoes the last firing of an actor that has no inputs: its stream was at its end.
    void take_back(std::size_t actor);
    /// Says after how many periods the streams of an island end. None of its actors may have fired beyond that.
    void end_after(std::size_t island, std::uint64_t periods);

    [[nodiscard]] bool can_fire(std::size_t actor) const;
    /// Fires; `needs` is filled with what comes before. Call only if it can.
    void fire(std::size_t actor, firing_needs& needs);

    [[nodiscard]] std::uint64_t fired(std::size_t actor) const { return m_fired[actor]; }
    [[nodiscard]] bool ended(std::size_t actor) const { return m_fired[actor] >= m_targets[actor]; }
    /// Firings of an actor that others may still name.
    [[nodiscard]] std::size_t history(std::size_t actor) const { return m_history[actor]; }

  private:
    struct tail {
        std::int64_t end = 0;
        firing filler;
    };

    [[nodiscard]] std::int64_t need(const channel::reader& reader) const {
        return reader.begin(m_fired[reader.actor]) + static_cast<std::int64_t>(reader.window_bytes());
    }
    /// No reader wants what is before this position any more.
    [[nodiscard]] std::int64_t lowest(const channel& ring) const;
    void add_readers(const channel& ring, std::int64_t overwritten_until, std::size_t self, firing_needs& needs) const;
    void add_input(std::size_t self, const actor::input& in, firing_needs& needs);

    const pipeline& m_pipeline;
    std::vector<std::uint64_t> m_fired, m_targets; // by actor
    std::vector<std::size_t> m_history;
    std::vector<std::int64_t> m_written; // by channel, with the zeros beyond the end
    std::vector<std::vector<tail>> m_tails; // by channel: who wrote those zeros
};

} // namespace causeway::graph
