// SPDX-License-Identifier: Apache-2.0
// Distributions (the paper's section 3): which node holds which unit of an allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace causeway::tasks {

enum class distribution : std::uint8_t {
    standard = 0, ///< the system decides, by first touch
    fine = 1,     ///< units round robin
    coarse = 2,   ///< allocations round robin
    local = 3,    ///< the node of the thread that allocates
    plugin = 4,
};

/// From "standard", "fine", "coarse" or "local"; none for other words.
[[nodiscard]] std::optional<distribution> distribution_of(std::string_view word);

/// The program's own distribution: returns the node of a unit. Must be a pure function.
using unit_placement = std::function<unsigned(std::uint64_t unit, std::uint64_t units, unsigned nodes)>;

/// The bytes of one allocation. Nodes are indices into machine::nodes.
struct extent {
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0; ///< in whole units
    std::uint64_t unit = 0;
    distribution how = distribution::standard;
    unsigned nodes = 1; ///< nodes that it is spread over
    unsigned node = 0;  ///< the node of all bytes (coarse, local)
    const unsigned* turns = nullptr; ///< those nodes in their order (fine), owned by who made the layout

    /// For `fine`: units count from address 0, as in the kernel's interleaving.
    [[nodiscard]] unsigned turn_of(std::uintptr_t address) const { return turns[(address / unit) % nodes]; }
    /// Adds to counts[node] the bytes of [from, from + size) on each node; the range lies within. Not for plugins.
    void count(std::uintptr_t from, std::uint64_t size, std::uint64_t* counts) const;
};

/// An extent, and where its bytes are.
struct layout : extent {
    unit_placement place; ///< for distribution::plugin

    [[nodiscard]] unsigned node_of(std::uintptr_t address) const {
        if (how == distribution::fine) return turn_of(address);
        if (how == distribution::plugin) return place((address - begin) / unit, bytes / unit, nodes);
        return node;
    }
};

} // namespace causeway::tasks
