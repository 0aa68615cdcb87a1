// SPDX-License-Identifier: Apache-2.0
// Solves the balance equations of synchronous data flow by walking along the edges with fractions.
#include "graph/balance.hpp"

#include "base/error.hpp"

#include <numeric>

namespace causeway::graph {

namespace {

/// More firings than this in a period are a mistake, or would not fit into any memory.
constexpr std::uint64_t most_repetitions = 1 << 20;

[[noreturn]] void refuse(const std::string& text) { throw transfer_error(status::invalid_value, text); }

struct fraction {
    std::uint64_t over = 0, under = 1;

    /// this * multiplier / divisor
    [[nodiscard]] fraction times(std::uint64_t multiplier, std::uint64_t divisor) const {
        const auto rate = std::gcd(multiplier, divisor);
        multiplier /= rate;
        divisor /= rate;
        const auto up = std::gcd(over, divisor), down = std::gcd(multiplier, under);
        fraction result;
        if (__builtin_mul_overflow(over / up, multiplier / down, &result.over) ||
            __builtin_mul_overflow(under / down, divisor / up, &result.under))
            return {};
        return result;
    }
    [[nodiscard]] bool operator==(const fraction&) const = default;
};

class solver {
  public:
    explicit solver(const description& described)
        : m_described(described), m_rates(described.nodes().size()), m_edges_of(described.nodes().size()) {
        m_result.repetitions.resize(m_rates.size());
        m_result.island.resize(m_rates.size());
        const auto& edges = described.edges();
        for (std::size_t i = 0; i < edges.size(); ++i) {
            m_edges_of[edges[i].source].push_back(i);
            m_edges_of[edges[i].target].push_back(i);
        }
    }

    balance solve() {
        for (std::size_t first = 0; first < m_rates.size(); ++first) {
            if (m_rates[first].over != 0) continue;
            walk(first);
            scale();
            count_periods();
        }
        return std::move(m_result);
    }

  private:
    /// Gives each node of the island of `first` its firings as a multiple of those of `first`.
    void walk(std::size_t first) {
        m_members.assign(1, first);
        m_rates[first] = {1, 1};
        for (std::size_t at = 0; at < m_members.size(); ++at) {
            for (const auto index : m_edges_of[m_members[at]]) {
                const auto& each = m_described.edges()[index];
                const bool forwards = each.source == m_members[at];
                const auto other = forwards ? each.target : each.source;
                const auto rate = forwards ? m_rates[each.source].times(each.produced_bytes, each.consumed_bytes)
                                           : m_rates[each.target].times(each.consumed_bytes, each.produced_bytes);
                if (rate.over == 0) refuse_size(each);
                if (m_rates[other].over == 0) {
                    m_rates[other] = rate;
                    m_members.push_back(other);
                } else if (m_rates[other] != rate) {
                    refuse_rates(each);
                }
            }
        }
    }

    void scale() {
        std::uint64_t unders = 1;
        for (const auto member : m_members) {
            const auto under = m_rates[member].under;
            if (__builtin_mul_overflow(unders / std::gcd(unders, under), under, &unders)) refuse_size(member);
        }
        std::uint64_t common = 0;
        for (const auto member : m_members) {
            auto& count = m_result.repetitions[member];
            if (__builtin_mul_overflow(m_rates[member].over, unders / m_rates[member].under, &count))
                refuse_size(member);
            common = std::gcd(common, count);
        }
        for (const auto member : m_members) {
            auto& count = m_result.repetitions[member];
            count /= std::max<std::uint64_t>(common, 1);
            if (count > most_repetitions) refuse_size(member);
            m_result.island[member] = m_result.periods.size();
        }
    }

    void count_periods() {
        auto periods = endless;
        std::size_t says = 0;
        for (const auto member : m_members) {
            const auto& each = m_described.nodes()[member];
            const bool stream = each.kind == node_kind::input || each.kind == node_kind::output;
            if (!stream || each.total_bytes == endless) continue;
            const auto tokens = each.total_bytes / each.token_bytes;
            const auto repetitions = m_result.repetitions[member];
            if (tokens % repetitions != 0)
                refuse("the stream '" + each.name + "' has " + std::to_string(tokens) +
                       " tokens, but the graph takes them " + std::to_string(repetitions) + " at a time");
            if (periods != endless && periods != tokens / repetitions) {
                const auto& other = m_described.nodes()[says];
                refuse("the stream '" + each.name + "' lasts for " + std::to_string(tokens / repetitions) +
                       " periods of the graph and '" + other.name + "' for " + std::to_string(periods));
            }
            periods = tokens / repetitions;
            says = member;
        }
        m_result.periods.push_back(periods);
    }

    [[nodiscard]] const std::string& name(std::size_t index) const { return m_described.nodes()[index].name; }

    [[noreturn]] void refuse_rates(const edge& each) const {
        // With these firings of the source the target would have to fire another number of times than other edges say.
        const auto per_source = m_rates[each.target].times(m_rates[each.source].under, m_rates[each.source].over);
        refuse("the rates do not fit: " + m_described.text_of(each) + " brings " + bytes_text(each.produced_bytes) +
               " per firing of '" + name(each.source) + "' and takes " + bytes_text(each.consumed_bytes) +
               " per firing of '" + name(each.target) + "', but by the other edges '" + name(each.target) + "' fires " +
               std::to_string(per_source.over) + (per_source.under == 1 ? "" : "/" + std::to_string(per_source.under)) +
               " times for each firing of '" + name(each.source) + "'");
    }
    [[noreturn]] void refuse_size(const edge& each) const {
        refuse("the rates of " + m_described.text_of(each) + ", " + std::to_string(each.produced_bytes) + " and " +
               std::to_string(each.consumed_bytes) + " bytes, need too many firings until they meet");
    }
    [[noreturn]] void refuse_size(std::size_t member) const {
        refuse("the rates of the graph make '" + name(member) + "' fire more than " + std::to_string(most_repetitions) +
               " times until they meet");
    }

    const description& m_described;
    std::vector<fraction> m_rates; // of firings, relative to the first of the island; over is 0 while unknown
    std::vector<std::vector<std::size_t>> m_edges_of;
    std::vector<std::size_t> m_members; // of the island under way
    balance m_result;
};

} // namespace

balance balance_of(const description& described) { return solver(described).solve(); }

} // namespace causeway::graph
