// SPDX-License-Identifier: Apache-2.0
// Decides by byte counts which actor may fire next, and after which earlier firings.
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

/// Dependences of a firing. Lanes run in order, so only the last firing of each actor is named.
struct firing_needs {
    std::vector<firing> after; ///< complete before it begins
    std::vector<firing> inputs; ///< of these, those that wrote what it reads
    std::vector<channel_range> zero_filled; ///< to zero first, on the actor's own lane: what a window reads beyond the
                                            ///< end

    void clear() {
        after.clear();
        inputs.clear();
        zero_filled.clear();
    }
};

/// A state machine that counts firings when they are handed out, not when they end. The caller puts a firing into its
/// lane once its dependences are in theirs, and makes it wait for their completion. Never blocks. One thread.
class firing_rules {
  public:
    explicit firing_rules(const pipeline& compiled);

    /// Starts again, for the given periods of each island.
    void restart(const std::vector<std::uint64_t>& periods);
    /// Undoes the last firing of an actor that has no inputs: its stream was at its end.
    void take_back(std::size_t actor);
    /// Sets the number of periods after which an island's streams end. No actor of it may have fired beyond that.
    void end_after(std::size_t island, std::uint64_t periods);

    [[nodiscard]] bool can_fire(std::size_t actor) const;
    /// Counts the next firing and fills `needs`. Call only if can_fire().
    void fire(std::size_t actor, firing_needs& needs);

    [[nodiscard]] std::uint64_t fired(std::size_t actor) const { return m_fired[actor]; }
    [[nodiscard]] bool ended(std::size_t actor) const { return m_fired[actor] >= m_targets[actor]; }
    /// How many of an actor's last firings others may still depend on.
    [[nodiscard]] std::size_t history(std::size_t actor) const { return m_history[actor]; }

  private:
    struct tail {
        std::int64_t end = 0;
        firing filler;
    };

    [[nodiscard]] std::int64_t need(const channel::reader& reader) const {
        return reader.begin(m_fired[reader.actor]) + static_cast<std::int64_t>(reader.window_bytes());
    }
    /// The first position that some reader still needs.
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
