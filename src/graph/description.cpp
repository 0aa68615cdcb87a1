// SPDX-License-Identifier: Apache-2.0
// Refuses what cannot be a stream graph, in the words of its author.
#include "graph/description.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace causeway::graph {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw transfer_error(status::invalid_value, text); }

/// Sums and products of a few such sizes can be counted.
constexpr std::size_t most_bytes = std::size_t{1} << 46;

std::string in_quotes(const std::string& name) { return std::string("'").append(name).append("'"); }

/// Positions of one side of one node: 0, 1, 2, ... without a hole.
void check_positions(const node& owner, std::vector<std::size_t> positions, const char* side) {
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    for (std::size_t i = 0; i < positions.size(); ++i)
        if (positions[i] != i)
            refuse(in_quotes(owner.name) + " has an " + side + " at position " + std::to_string(positions[i]) +
                   ", but none at position " + std::to_string(i));
}

} // namespace

std::size_t description::add(node added) {
    if (added.name.empty()) refuse("a node has no name");
    if (m_numbers.contains(added.name)) refuse("there are two nodes with the name " + in_quotes(added.name));
    const bool stream = added.kind == node_kind::input || added.kind == node_kind::output;
    if (stream) take_token(added, added.token_bytes);
    m_numbers.emplace(added.name, m_nodes.size());
    m_nodes.push_back(std::move(added));
    return m_nodes.size() - 1;
}

void description::take_token(node& stream, std::size_t token_bytes) {
    if (token_bytes == 0) {
        stream.automatic = true;
        return;
    }
    if (stream.total_bytes != endless && stream.total_bytes % token_bytes != 0)
        refuse("the stream " + in_quotes(stream.name) + " of " + bytes_text(stream.total_bytes) +
               " does not divide into tokens of " + bytes_text(token_bytes));
    stream.token_bytes = token_bytes;
}

std::size_t description::find(std::string_view name) const {
    const auto found = m_numbers.find(std::string(name));
    if (found == m_numbers.end()) refuse("no node has the name '" + std::string(name) + "'");
    return found->second;
}

std::string description::text_of(const edge& named) const {
    return in_quotes(m_nodes[named.source].name) + " -> " + in_quotes(m_nodes[named.target].name);
}

void description::connect(edge added) {
    auto& source = m_nodes.at(added.source);
    auto& target = m_nodes.at(added.target);
    const auto text = text_of(added);
    if (source.kind == node_kind::output) refuse(text + ": " + in_quotes(source.name) + " is an output stream");
    if (target.kind == node_kind::input) refuse(text + ": " + in_quotes(target.name) + " is an input stream");
    if (added.produced_bytes == 0 || added.consumed_bytes == 0) refuse(text + ": a token has 0 bytes");
    for (const auto bytes :
         {added.produced_bytes, added.consumed_bytes, added.delay_bytes, added.before_bytes, added.after_bytes})
        if (bytes > most_bytes)
            refuse(text + ": " + bytes_text(bytes) + " are more than a token, window or delay can have, " +
                   bytes_text(most_bytes));
    const bool from_stream = source.kind == node_kind::input, to_stream = target.kind == node_kind::output;
    if (from_stream && source.token_bytes != 0 && added.produced_bytes != source.token_bytes)
        refuse(text + ": the edge begins with tokens of " + bytes_text(added.produced_bytes) +
               ", the stream has tokens of " + bytes_text(source.token_bytes));
    if (to_stream && target.token_bytes != 0 && added.consumed_bytes != target.token_bytes)
        refuse(text + ": the edge ends with tokens of " + bytes_text(added.consumed_bytes) +
               ", the stream has tokens of " + bytes_text(target.token_bytes));
    if ((from_stream && added.source_position != 0) || (to_stream && added.target_position != 0))
        refuse(text + ": a stream has position 0 only");
    if (to_stream && added.before_bytes + added.after_bytes != 0) refuse(text + ": an output stream has no window");
    if (!added.initial.empty() && added.initial.size() != added.delay_bytes)
        refuse(text + ": the delay is " + bytes_text(added.delay_bytes) + ", its initial values are " +
               bytes_text(added.initial.size()));
    for (const auto& other : m_edges) {
        if (other.target == added.target && other.target_position == added.target_position)
            refuse(text + ": input " + std::to_string(added.target_position) + " of " + in_quotes(target.name) +
                   " is connected already, with " + in_quotes(m_nodes[other.source].name));
        if (other.source == added.source && other.source_position == added.source_position &&
            other.produced_bytes != added.produced_bytes)
            refuse(text + ": output " + std::to_string(added.source_position) + " of " + in_quotes(source.name) +
                   " gives " + bytes_text(added.produced_bytes) + " here and " + bytes_text(other.produced_bytes) +
                   " to " + in_quotes(m_nodes[other.target].name));
    }
    auto new_source = source, new_target = target;
    if (from_stream && source.token_bytes == 0) take_token(new_source, added.produced_bytes);
    if (to_stream && target.token_bytes == 0) take_token(new_target, added.consumed_bytes);
    m_edges.push_back(std::move(added));
    if (from_stream) source = std::move(new_source);
    if (to_stream) target = std::move(new_target);
}

void description::check_complete() const {
    if (m_nodes.empty()) refuse("the graph has no nodes");
    std::vector<std::vector<std::size_t>> inputs(m_nodes.size()), outputs(m_nodes.size());
    for (const auto& each : m_edges) {
        outputs[each.source].push_back(each.source_position);
        inputs[each.target].push_back(each.target_position);
    }
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        if (inputs[i].empty() && outputs[i].empty()) refuse(in_quotes(m_nodes[i].name) + " is connected with nothing");
        check_positions(m_nodes[i], inputs[i], "input");
        check_positions(m_nodes[i], outputs[i], "output");
    }
}

} // namespace causeway::graph
