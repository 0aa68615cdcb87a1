// SPDX-License-Identifier: Apache-2.0
// A firing reads after what it reads was written, and writes after what it overwrites was read: all hazards there are.
#include "graph/firing_rules.hpp"

#include <algorithm>
#include <limits>

namespace causeway::graph {

namespace {

constexpr auto nowhere = std::numeric_limits<std::int64_t>::max();

std::int64_t as_signed(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

} // namespace

firing_rules::firing_rules(const pipeline& compiled)
    : m_pipeline(compiled), m_history(compiled.actors.size(), 1), m_written(compiled.channels.size()),
      m_tails(compiled.channels.size()) {
    const auto keep = [this](std::size_t actor, std::size_t buffers) {
        const auto firings = buffers * m_pipeline.actors[actor].repetitions + 2;
        m_history[actor] = std::max<std::size_t>(m_history[actor], firings);
    };
    for (const auto& ring : compiled.channels) {
        keep(ring.writer, ring.buffers);
        for (const auto& reader : ring.readers) keep(reader.actor, ring.buffers);
    }
    restart(compiled.periods);
}

void firing_rules::restart(const std::vector<std::uint64_t>& periods) {
    m_fired.assign(m_pipeline.actors.size(), 0);
    m_targets.assign(m_pipeline.actors.size(), endless);
    std::fill(m_written.begin(), m_written.end(), 0);
    for (auto& each : m_tails) each.clear();
    for (std::size_t island = 0; island < periods.size(); ++island)
        if (periods[island] != endless) end_after(island, periods[island]);
}

void firing_rules::end_after(std::size_t island, std::uint64_t periods) {
    for (std::size_t i = 0; i < m_targets.size(); ++i)
        if (m_pipeline.actors[i].island == island) m_targets[i] = periods * m_pipeline.actors[i].repetitions;
}

void firing_rules::take_back(std::size_t index) {
    --m_fired[index];
    for (const auto out : m_pipeline.actors[index].outputs)
        m_written[out] -= as_signed(m_pipeline.channels[out].produced_bytes);
}

std::int64_t firing_rules::lowest(const channel& ring) const {
    auto position = nowhere;
    for (const auto& reader : ring.readers)
        if (!ended(reader.actor)) position = std::min(position, reader.begin(m_fired[reader.actor]));
    return position;
}

bool firing_rules::can_fire(std::size_t index) const {
    if (ended(index)) return false;
    const auto& self = m_pipeline.actors[index];
    for (const auto& in : self.inputs) {
        const auto& ring = m_pipeline.channels[in.channel];
        const auto until = need(ring.readers[in.reader]);
        if (until <= m_written[in.channel]) continue;
        // Beyond the end there are zeros, for which there must be room.
        if (!ended(ring.writer) || until - as_signed(ring.ring_bytes()) > lowest(ring)) return false;
    }
    for (const auto out : self.outputs) {
        const auto& ring = m_pipeline.channels[out];
        if (m_written[out] + as_signed(ring.produced_bytes) - as_signed(ring.ring_bytes()) > lowest(ring)) return false;
    }
    return true;
}

void firing_rules::add_readers(const channel& ring, std::int64_t overwritten_until, std::size_t self,
                               firing_needs& needs) const {
    const auto old = overwritten_until - as_signed(ring.ring_bytes());
    for (const auto& reader : ring.readers) {
        const auto begin = old + as_signed(reader.delay_bytes + reader.before_bytes);
        if (begin <= 0 || reader.actor == self || m_fired[reader.actor] == 0) continue;
        const auto last = static_cast<std::uint64_t>((begin - 1) / as_signed(reader.consumed_bytes));
        needs.after.push_back({reader.actor, std::min(last, m_fired[reader.actor] - 1)});
    }
}

void firing_rules::add_input(std::size_t self, const actor::input& in, firing_needs& needs) {
    const auto& ring = m_pipeline.channels[in.channel];
    const auto& reader = ring.readers[in.reader];
    const auto begin = reader.begin(m_fired[self]), until = need(reader);
    const auto last_byte = std::min(until, as_signed(m_fired[ring.writer] * ring.produced_bytes)) - 1;
    if (last_byte >= std::max<std::int64_t>(begin, 0) && ring.writer != self)
        needs.inputs.push_back({ring.writer, static_cast<std::uint64_t>(last_byte) / ring.produced_bytes});
    auto& tails = m_tails[in.channel];
    for (std::size_t i = 0; i < tails.size(); ++i) {
        const auto from = i == 0 ? as_signed(m_fired[ring.writer] * ring.produced_bytes) : tails[i - 1].end;
        if (from < until && begin < tails[i].end && tails[i].filler.actor != self)
            needs.after.push_back(tails[i].filler);
    }
    auto& written = m_written[in.channel];
    if (until <= written) return;
    needs.zero_filled.push_back({in.channel, written, until});
    add_readers(ring, until, self, needs);
    tails.push_back({until, {self, m_fired[self]}});
    written = until;
}

void firing_rules::fire(std::size_t index, firing_needs& needs) {
    needs.clear();
    const auto& self = m_pipeline.actors[index];
    for (const auto& in : self.inputs) add_input(index, in, needs);
    needs.after.insert(needs.after.end(), needs.inputs.begin(), needs.inputs.end());
    for (const auto out : self.outputs) {
        auto& written = m_written[out];
        written += as_signed(m_pipeline.channels[out].produced_bytes);
        add_readers(m_pipeline.channels[out], written, index, needs);
    }
    ++m_fired[index];
}

} // namespace causeway::graph
