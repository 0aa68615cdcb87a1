// SPDX-License-Identifier: Apache-2.0
// Fake nodes, a serial interpreter of the description and a simulator of queues.
#include "unit/graph/interpreters.hpp"

#include "graph/balance.hpp"
#include "graph/firing_rules.hpp"

#include <algorithm>
#include <deque>

namespace causeway::graph::testing {

namespace {

std::uint64_t mix(std::uint64_t value) {
    value ^= value >> 31;
    value *= 0x9e3779b97f4a7c15ull;
    return value ^ (value >> 29);
}

class serial_interpreter {
  public:
    explicit serial_interpreter(const description& described)
        : m_described(described), m_nodes(described.nodes().size()), m_streams(described.edges().size()) {
        const auto balanced = balance_of(described);
        for (std::size_t i = 0; i < m_nodes.size(); ++i)
            m_nodes[i].target = balanced.repetitions[i] * balanced.periods[balanced.island[i]];
        for (std::size_t i = 0; i < described.edges().size(); ++i) {
            const auto& each = described.edges()[i];
            at(m_nodes[each.target].inputs, each.target_position) = i;
            at(m_nodes[each.source].outputs, each.source_position).push_back(i);
            m_streams[i].resize(each.before_bytes, std::byte{0});
            auto initial = each.initial;
            initial.resize(each.delay_bytes, std::byte{0});
            m_streams[i].insert(m_streams[i].end(), initial.begin(), initial.end());
        }
    }

    std::optional<results> run() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t i = 0; i < m_nodes.size(); ++i)
                while (fire(i)) moved = true;
        }
        for (const auto& each : m_nodes)
            if (each.fired < each.target) return {};
        return std::move(m_results);
    }

  private:
    struct state {
        std::vector<std::size_t> inputs;
        std::vector<std::vector<std::size_t>> outputs;
        std::uint64_t fired = 0, target = 0;
    };

    template <class Value> static Value& at(std::vector<Value>& values, std::size_t index) {
        if (values.size() <= index) values.resize(index + 1);
        return values[index];
    }

    bool fire(std::size_t number) {
        auto& self = m_nodes[number];
        if (self.fired == self.target) return false;
        std::vector<bytes> seen;
        for (const auto index : self.inputs) {
            const auto& each = m_described.edges()[index];
            auto& stream = m_streams[index];
            const auto begin = self.fired * each.consumed_bytes, end = begin + each.window_bytes();
            if (end > stream.size() && m_nodes[each.source].fired < m_nodes[each.source].target) return false;
            bytes window(each.window_bytes(), std::byte{0});
            if (begin < stream.size())
                std::copy(stream.begin() + static_cast<std::ptrdiff_t>(begin),
                          stream.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(end, stream.size())),
                          window.begin());
            seen.push_back(std::move(window));
        }
        std::vector<bytes> given;
        if (m_described.nodes()[number].kind == node_kind::input) {
            const auto token = m_described.nodes()[number].token_bytes;
            given.emplace_back();
            for (std::size_t i = 0; i < token; ++i) given[0].push_back(input_byte(number, self.fired * token + i));
        } else if (m_described.nodes()[number].kind == node_kind::output) {
            auto& result = m_results[number];
            result.insert(result.end(), seen[0].begin(), seen[0].end());
        } else {
            std::vector<std::size_t> sizes;
            for (const auto& out : self.outputs) sizes.push_back(m_described.edges()[out.front()].produced_bytes);
            given = compute(number, seen, sizes);
        }
        for (std::size_t position = 0; position < self.outputs.size(); ++position)
            for (const auto index : self.outputs[position])
                m_streams[index].insert(m_streams[index].end(), given[position].begin(), given[position].end());
        ++self.fired;
        return true;
    }

    const description& m_described;
    std::vector<state> m_nodes;
    std::vector<bytes> m_streams;
    results m_results;
};

class simulator {
  public:
    simulator(const description& described, const pipeline& compiled, std::uint64_t seed)
        : m_described(described), m_pipeline(compiled), m_rules(compiled), m_random(seed),
          m_waiting(compiled.actors.size()), m_queues(compiled.lanes.size()), m_issued(compiled.actors.size(), 0),
          m_complete(compiled.actors.size(), 0), m_freed(compiled.channels.size()) {
        for (std::size_t i = 0; i < compiled.channels.size(); ++i) {
            const auto& ring = compiled.channels[i];
            m_memory.emplace_back(ring.ring_bytes(), poison);
            m_freed[i] = -static_cast<std::int64_t>(ring.initial_bytes);
            for (auto position = m_freed[i]; position < 0; ++position) {
                const auto from_end = static_cast<std::size_t>(-position);
                byte_of(i, position) = from_end <= ring.initial.size() ? ring.initial[ring.initial.size() - from_end]
                                                                       : std::byte{0};
            }
        }
    }

    simulated_run run() {
        while (m_run.complaint.empty()) {
            // All that may happen next: an actor is given a firing, a firing goes into its lane once those before it
            // are in theirs, a lane begins its next, a lane ends its present one.
            m_choices.clear();
            for (std::size_t i = 0; i < m_pipeline.actors.size(); ++i) {
                if (!m_waiting[i]) {
                    if (m_rules.can_fire(i)) m_choices.push_back({choice::give, i});
                } else if (follows(*m_waiting[i], m_issued)) {
                    m_choices.push_back({choice::issue, i});
                }
            }
            for (std::size_t i = 0; i < m_queues.size(); ++i) {
                if (m_queues[i].empty()) continue;
                if (m_queues[i].front().begun) {
                    m_choices.push_back({choice::end, i});
                } else if (follows(m_queues[i].front(), m_complete)) {
                    m_choices.push_back({choice::begin, i});
                }
            }
            if (m_choices.empty()) break;
            const auto [what, index] = m_choices[std::uniform_int_distribution<std::size_t>(0, m_choices.size() -
                                                                                                   1)(m_random)];
            if (what == choice::give) give(index);
            if (what == choice::issue) {
                m_queues[m_pipeline.actors[index].lane].push_back(std::move(*m_waiting[index]));
                m_waiting[index].reset();
                ++m_issued[index];
            }
            if (what == choice::begin) begin(m_queues[index].front());
            if (what == choice::end) {
                end(m_queues[index].front());
                m_queues[index].pop_front();
            }
        }
        for (std::size_t i = 0; i < m_pipeline.actors.size() && m_run.complaint.empty(); ++i)
            if (!m_rules.ended(i)) m_run.complaint = name_of(m_described, m_pipeline.actors[i]) + " stopped half-way";
        return std::move(m_run);
    }

  private:
    static constexpr std::byte poison{0xDB};
    enum class choice { give, issue, begin, end };
    struct work {
        firing what;
        firing_needs needs;
        std::vector<bytes> seen;
        bool begun = false;
    };

    std::byte& byte_of(std::size_t channel, std::int64_t position) {
        return m_memory[channel][m_pipeline.channels[channel].offset_of(position)];
    }

    void give(std::size_t index) {
        work made{.what = {index, m_rules.fired(index)}};
        m_rules.fire(index, made.needs);
        for (const auto& each : made.needs.after)
            if (each.number + m_rules.history(each.actor) < m_rules.fired(each.actor))
                m_run.complaint = "a firing is named that is older than the history";
        m_waiting[index] = std::move(made);
    }

    [[nodiscard]] static bool follows(const work& next, const std::vector<std::uint64_t>& counts) {
        return std::all_of(next.needs.after.begin(), next.needs.after.end(),
                           [&](const firing& each) { return counts[each.actor] > each.number; });
    }

    std::vector<bytes> look(const work& at) {
        std::vector<bytes> seen;
        for (const auto& in : m_pipeline.actors[at.what.actor].inputs) {
            const auto& reader = m_pipeline.channels[in.channel].readers[in.reader];
            auto& window = seen.emplace_back(reader.window_bytes());
            const auto first = reader.begin(at.what.number);
            for (std::size_t i = 0; i < window.size(); ++i)
                window[i] = byte_of(in.channel, first + static_cast<std::int64_t>(i));
        }
        return seen;
    }

    template <class Value> void write(const work& at, std::size_t position, Value value) {
        const auto index = m_pipeline.actors[at.what.actor].outputs[position];
        const auto size = m_pipeline.channels[index].produced_bytes;
        const auto first = static_cast<std::int64_t>(at.what.number * size);
        for (std::size_t i = 0; i < size; ++i) byte_of(index, first + static_cast<std::int64_t>(i)) = value(i);
    }

    void begin(work& started) {
        for (const auto& zeros : started.needs.zero_filled)
            for (auto position = zeros.begin; position < zeros.end; ++position)
                byte_of(zeros.channel, position) = std::byte{0};
        started.seen = look(started);
        for (std::size_t i = 0; i < m_pipeline.actors[started.what.actor].outputs.size(); ++i)
            write(started, i, [](std::size_t) { return poison; });
        started.begun = true;
    }

    void end(work& ending) {
        const auto& self = m_pipeline.actors[ending.what.actor];
        const auto seen = look(ending);
        if (seen != ending.seen) m_run.complaint = name_of(m_described, self) + " read while somebody wrote";
        std::vector<bytes> given;
        switch (self.kind) {
        case actor_kind::input: {
            const auto token = m_described.nodes()[self.node].token_bytes;
            for (std::size_t position = 0; position < self.outputs.size(); ++position)
                write(ending, position,
                      [&](std::size_t i) { return input_byte(self.node, ending.what.number * token + i); });
            break;
        }
        case actor_kind::output: {
            auto& result = m_run.delivered[self.node];
            result.insert(result.end(), seen[0].begin(), seen[0].end());
            break;
        }
        case actor_kind::copy_in:
        case actor_kind::copy_out: given = seen; break;
        default: {
            std::vector<std::size_t> sizes;
            for (const auto out : self.outputs) sizes.push_back(m_pipeline.channels[out].produced_bytes);
            given = compute(self.node, seen, sizes);
        }
        }
        for (std::size_t position = 0; position < given.size(); ++position)
            write(ending, position, [&](std::size_t i) { return given[position][i]; });
        ++m_complete[ending.what.actor];
        for (const auto& in : self.inputs) poison_freed(in.channel);
    }

    /// What all readers have left behind is nobody's.
    void poison_freed(std::size_t index) {
        const auto& ring = m_pipeline.channels[index];
        auto lowest = std::numeric_limits<std::int64_t>::max();
        for (const auto& reader : ring.readers) lowest = std::min(lowest, reader.begin(m_complete[reader.actor]));
        for (; m_freed[index] < lowest; ++m_freed[index]) byte_of(index, m_freed[index]) = poison;
    }

    const description& m_described;
    const pipeline& m_pipeline;
    firing_rules m_rules;
    std::mt19937_64 m_random;
    std::vector<std::optional<work>> m_waiting; // by actor
    std::vector<std::deque<work>> m_queues; // by lane
    std::vector<std::uint64_t> m_issued, m_complete;
    std::vector<std::int64_t> m_freed; // positions of each channel before this one are nobody's
    std::vector<bytes> m_memory;
    std::vector<std::pair<choice, std::size_t>> m_choices;
    simulated_run m_run;
};

} // namespace

std::byte input_byte(std::size_t node, std::uint64_t position) {
    return static_cast<std::byte>(mix(mix(node + 1) + position) >> 17);
}

std::vector<bytes> compute(std::size_t node, const std::vector<bytes>& seen,
                           const std::vector<std::size_t>& output_bytes) {
    auto value = mix(node + 77);
    for (const auto& window : seen)
        for (const auto each : window) value = mix(value + static_cast<std::uint64_t>(each) + 1);
    std::vector<bytes> given;
    for (const auto size : output_bytes) {
        auto& out = given.emplace_back(size);
        for (auto& each : out) each = static_cast<std::byte>((value = mix(value + 3)) >> 23);
    }
    return given;
}

std::optional<results> run_serially(const description& described) { return serial_interpreter(described).run(); }

simulated_run run_simulated(const description& described, const pipeline& compiled, std::uint64_t seed) {
    return simulator(described, compiled, seed).run();
}

} // namespace causeway::graph::testing
