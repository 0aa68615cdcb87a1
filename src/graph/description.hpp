// SPDX-License-Identifier: Apache-2.0
// A stream graph as its author describes it: nodes, and edges with rates in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace causeway::graph {

enum class node_kind { input, kernel, function, output };

/// Where a node keeps its bytes: a device's memory, by the device's index in the graph, or `host`.
using memory_space = std::size_t;
inline constexpr memory_space host = std::numeric_limits<memory_space>::max();

/// Size of a stream whose length is not known beforehand.
inline constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();

struct node {
    std::string name;
    node_kind kind = node_kind::kernel;
    memory_space where = host;            ///< of a kernel: its device
    std::uint64_t total_bytes = 0; ///< of a stream: all of it, or `endless`
    std::size_t token_bytes = 0;   ///< of a stream: what one firing brings or takes; 0 until an edge says it
    bool page_locked = false;      ///< of a direct stream: its memory is page-locked, so copies run at full speed
    bool automatic = false;        ///< of a stream: its token may be any multiple of token_bytes
    std::uint64_t batch = 1;       ///< how many of the smallest tokens a token has
    bool direct = false;           ///< of a stream: copy commands can reach its memory, without staging
};

/// From an output of one node to an input of another. A node fires again and again; each firing takes `consumed_bytes`
/// from each input and gives `produced_bytes` to each output (synchronous data flow, Lee and Messerschmitt 1987).
struct edge {
    std::size_t source = 0, source_position = 0;
    std::size_t target = 0, target_position = 0;
    std::size_t produced_bytes = 0, consumed_bytes = 0;
    /// Initial tokens, in bytes, before the source's first output; a loop needs some. Their values are in `initial`,
    /// else zeros.
    std::size_t delay_bytes = 0;
    std::vector<std::byte> initial;
    /// Halo: bytes on either side of the consumed ones that the target reads too; zeros beyond the stream's ends.
    std::size_t before_bytes = 0, after_bytes = 0;

    /// What one firing of the target sees.
    [[nodiscard]] std::size_t window_bytes() const { return before_bytes + consumed_bytes + after_bytes; }
};

/// Checks each node and edge when it is added: throws transfer_error(invalid_value), whose text names them.
class description {
  public:
    /// Gives the node's number. A stream with a token of 0 bytes is automatic.
    std::size_t add(node added);
    void connect(edge added);
    [[nodiscard]] std::size_t find(std::string_view name) const;

    [[nodiscard]] const std::vector<node>& nodes() const { return m_nodes; }
    [[nodiscard]] const std::vector<edge>& edges() const { return m_edges; }
    [[nodiscard]] std::vector<edge>& edges() { return m_edges; }
    [[nodiscard]] std::vector<node>& nodes() { return m_nodes; }

    /// Checks what only the whole graph shows: unconnected streams, missing positions. Throws as above.
    void check_complete() const;

    /// "'blur' -> 'edges'".
    [[nodiscard]] std::string text_of(const edge& named) const;

  private:
    void take_token(node& stream, std::size_t token_bytes);

    std::vector<node> m_nodes;
    std::vector<edge> m_edges;
    std::unordered_map<std::string, std::size_t> m_numbers;
};

} // namespace causeway::graph
