// SPDX-License-Identifier: Apache-2.0
// Random stream graphs: rates, fan-out, joins, loops, windows, host functions, two devices.
#pragma once

#include "graph/balance.hpp"
#include "graph/pipeline.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace causeway::graph::testing {

class random_graph {
  public:
    explicit random_graph(std::uint64_t seed) : m_random(seed) {
        periods = pick(0, 6);
        const auto count = pick(1, 8);
        for (std::size_t i = 0; i < count; ++i) add_worker();
        for (std::size_t i = 0; i < count; ++i) feed(i);
        for (auto extra = pick(0, 3); extra > 0; --extra) connect(pick(0, count - 1), pick(0, count - 1));
        for (std::size_t i = 0; i < count; ++i)
            if (m_outputs[i].empty() || chance(4)) add_output(i);
        // A loop that nothing leads into or out of would never end.
        for (std::size_t i = 0; i < count; ++i) {
            const auto balanced = balance_of(described);
            if (balanced.periods[balanced.island[i]] == endless) add_output(i);
        }
        for (std::size_t i = 0; i < 2; ++i) devices.push_back({.name = name("device ", i), .overlap = chance(2)});
        slack = pick(0, 2);
    }

    /// Workers come first.
    description described;
    std::vector<device_limits> devices;
    std::size_t slack = 0;
    std::uint64_t periods = 0;

  private:
    struct output {
        std::size_t bytes;
        bool taken = false; // by an edge with initial values, which others need not have
    };

    std::size_t pick(std::size_t least, std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(least, most)(m_random);
    }
    static std::string name(std::string kind, std::size_t number) { return kind.append(std::to_string(number)); }
    bool chance(std::size_t one_in) { return pick(1, one_in) == 1; }

    void add_worker() {
        static constexpr std::size_t counts[] = {1, 1, 1, 2, 3, 4, 6};
        m_repetitions.push_back(counts[pick(0, 6)]);
        const bool on_host = chance(4);
        described.add({.name = name("n", m_outputs.size()),
                       .kind = on_host ? node_kind::function : node_kind::kernel,
                       .where = on_host ? host : pick(0, 1)});
        m_outputs.emplace_back();
        m_inputs.push_back(0);
    }

    /// Each worker reads an earlier one or a stream of its own.
    void feed(std::size_t target) {
        if (target > 0 && !chance(4)) {
            connect(pick(0, target - 1), target);
            return;
        }
        const auto repetitions = std::size_t{1} << pick(0, 2);
        const auto period = std::lcm(repetitions, m_repetitions[target]) * pick(1, 9);
        const auto stream = described.add({.name = name("i", target),
                                           .kind = node_kind::input,
                                           .total_bytes = period * periods,
                                           .token_bytes = period / repetitions,
                                           .direct = chance(2)});
        join({.source = stream, .target = target, .produced_bytes = period / repetitions}, period, false);
        if (chance(4))
            join({.source = stream,
                  .target = pick(target, m_outputs.size() - 1),
                  .produced_bytes = period / repetitions},
                 period, false);
    }

    void connect(std::size_t source, std::size_t target) {
        auto& outputs = m_outputs[source];
        auto position = outputs.empty() ? 0 : pick(0, outputs.size());
        if (position < outputs.size() && outputs[position].taken) position = outputs.size();
        if (position == outputs.size())
            outputs.push_back(
                {std::lcm(m_repetitions[source], m_repetitions[target]) * pick(1, 9) / m_repetitions[source]});
        const auto period = outputs[position].bytes * m_repetitions[source];
        join({.source = source,
              .source_position = position,
              .target = target,
              .produced_bytes = outputs[position].bytes},
             period, target <= source);
    }

    /// Leaves the edge out if the target's rate does not fit; an output is then left to a stream.
    void join(edge made, std::size_t period, bool backwards) {
        const auto repetitions = m_repetitions[made.target];
        if (period % repetitions != 0) {
            if (described.nodes()[made.source].kind != node_kind::input) add_output(made.source, made.source_position);
            return;
        }
        made.target_position = m_inputs[made.target]++;
        made.consumed_bytes = period / repetitions;
        if (backwards) {
            // A period is always enough; less may be or not.
            made.delay_bytes = chance(4) ? pick(0, period) : period * pick(1, 2);
            if (first_edge_of(made) && chance(2)) {
                for (std::size_t i = 0; i < made.delay_bytes; ++i) made.initial.push_back(std::byte(pick(0, 255)));
                m_outputs[made.source][made.source_position].taken = true;
            }
        } else if (chance(3)) {
            made.before_bytes = pick(0, 2 * made.consumed_bytes);
            made.after_bytes = pick(0, 2 * made.consumed_bytes);
        }
        described.connect(std::move(made));
    }

    [[nodiscard]] bool first_edge_of(const edge& made) const {
        return std::none_of(described.edges().begin(), described.edges().end(), [&](const edge& other) {
            return other.source == made.source && other.source_position == made.source_position;
        });
    }

    void add_output(std::size_t source) {
        if (m_outputs[source].empty()) m_outputs[source].push_back({pick(1, 9)});
        add_output(source, pick(0, m_outputs[source].size() - 1));
    }
    void add_output(std::size_t source, std::size_t position) {
        const auto bytes = m_outputs[source][position].bytes;
        const auto stream = described.add({.name = name("o", described.nodes().size()),
                                           .kind = node_kind::output,
                                           .total_bytes = bytes * m_repetitions[source] * periods,
                                           .token_bytes = bytes,
                                           .direct = chance(2)});
        described.connect({.source = source,
                           .source_position = position,
                           .target = stream,
                           .produced_bytes = bytes,
                           .consumed_bytes = bytes});
    }

    std::mt19937_64 m_random;
    std::vector<std::size_t> m_repetitions, m_inputs; // by worker
    std::vector<std::vector<output>> m_outputs;        // by worker
};

} // namespace causeway::graph::testing
