// SPDX-License-Identifier: Apache-2.0
// What the simulator runs: allocations, and tasks with their work and regions.
#pragma once

#include "tasks/distribution.hpp"
#include "tasks/region.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace causeway::tasks::simulator {

inline constexpr std::uint32_t none = ~0u;

struct simulated_allocation {
    std::uint64_t bytes = 0;
    distribution how = distribution::standard;
    std::uint32_t by = none;  ///< the task that allocates it when it begins; none: the program, before it spawns
    std::uintptr_t begin = 0; ///< set by program::allocate()
};

/// Work in operations; the cost model turns them into seconds.
struct work {
    double multiplies = 0, others = 0;
    double seconds = 0; ///< measured seconds, the same on every machine; 0: none
};

struct simulated_task {
    std::uint32_t parent = none; ///< it is spawned when that one begins
    std::uint32_t group = 0;     ///< regions order the tasks of one group, in the order of spawning
    bool waits_for_children = false;
    work its;
    std::vector<region> regions;
    std::vector<double> passes; ///< of each region: how often its bytes come from memory, where no cache has them;
                ///< empty: once
    unsigned steps = 1; ///< the task runs as this many steps, each with an equal share of the work and, in order, of
                        ///< the regions
};

struct program {
    std::string name;
    std::vector<simulated_allocation> allocations;
    std::vector<simulated_task> tasks; ///< parents before their children

    /// Adds an allocation at addresses of its own; returns its begin.
    std::uintptr_t allocate(std::uint64_t bytes, distribution how, std::uint32_t by = none);

  private:
    std::uintptr_t m_next = first_address;

  public:
    static constexpr std::uintptr_t first_address = std::uintptr_t{1} << 40;
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 34;
};

/// The programs of the paper's Table 4 with its inputs, and one like Strassen's: "map", "reduction", "vecmul",
/// "matmul", "jacobi", "sparselu", "strassen". `tiles` takes the inputs for the TILEPro64. Throws transfer_error for
/// another name.
[[nodiscard]] program paper_program(const std::string& name, distribution how, bool tiles);

/// The distribution that the paper's Table 4 advises.
[[nodiscard]] distribution advised_distribution(const std::string& name);

/// The names above.
[[nodiscard]] std::span<const char* const> paper_program_names();

} // namespace causeway::tasks::simulator
