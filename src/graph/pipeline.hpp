// SPDX-License-Identifier: Apache-2.0
// A stream graph made ready to run: who does what on which queue, through which buffers.
#pragma once

#include "graph/description.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::graph {

/// Runs firings in order: a device's queue, or the host's thread.
enum class lane_kind { host, copy_in, compute, copy_out };
struct lane {
    lane_kind kind = lane_kind::host;
    memory_space where = host;
};

/// A node, or a copy that the compiler put between two memory spaces.
enum class actor_kind { input, kernel, function, output, copy_in, copy_out };

/// A ring buffer in one memory space, with one writer and any number of readers. Positions count bytes from the
/// writer's first; those before 0 are there when the run begins.
struct channel {
    /// One edge at its target's end.
    struct reader {
        std::size_t actor = 0, position = 0;
        std::size_t consumed_bytes = 0, delay_bytes = 0, before_bytes = 0, after_bytes = 0;
        std::vector<std::size_t> edges; ///< of the description; a copy serves several

        [[nodiscard]] std::size_t window_bytes() const { return before_bytes + consumed_bytes + after_bytes; }
        /// The first position that firing `number` sees.
        [[nodiscard]] std::int64_t begin(std::uint64_t number) const {
            return static_cast<std::int64_t>(number * consumed_bytes) -
                   static_cast<std::int64_t>(delay_bytes + before_bytes);
        }
    };
    memory_space where = host;
    std::size_t writer = 0, position = 0;
    std::size_t produced_bytes = 0;
    std::size_t period_bytes = 0; ///< what one period of the graph brings
    std::size_t buffers = 1;      ///< periods that the ring holds
    /// Bytes of each of the OpenCL buffers that make up the ring. No token crosses from one to the next; if a window
    /// would, the whole ring is one buffer.
    std::size_t cell_bytes = 0;
    std::size_t initial_bytes = 0; ///< before position 0
    std::vector<std::byte> initial; ///< values of the last of them; zeros before
    std::vector<reader> readers;

    [[nodiscard]] std::size_t ring_bytes() const { return buffers * period_bytes; }
    [[nodiscard]] std::size_t offset_of(std::int64_t position) const {
        const auto size = static_cast<std::int64_t>(ring_bytes());
        return static_cast<std::size_t>((position % size + size) % size);
    }
};

struct actor {
    struct input {
        std::size_t channel = 0, reader = 0;
    };
    actor_kind kind = actor_kind::kernel;
    std::size_t node = 0; ///< a copy: the node whose output it copies
    std::size_t lane = 0;
    std::size_t stage = 0;
    std::size_t island = 0;
    std::uint64_t repetitions = 1; ///< firings in one period
    std::vector<input> inputs; ///< by position
    std::vector<std::size_t> outputs; ///< channels, by position
};

struct pipeline {
    std::vector<lane> lanes;
    std::vector<actor> actors; ///< in topological order, but for edges that close a loop
    std::vector<channel> channels;
    std::vector<std::uint64_t> periods; ///< of each island
    std::size_t stages = 0;
};

/// What the compiler must know of a device.
struct device_limits {
    std::string name;
    std::uint64_t memory_bytes = endless;
    std::uint64_t buffer_bytes = endless; ///< of one buffer
    bool own_memory = true; ///< not shared with the host
    /// Separate queues for copies in, kernels and copies out; else one for all, and no second buffers.
    bool overlap = true;
};

/// Throws transfer_error, with a text that names nodes and numbers, if the graph cannot run. Its status is
/// invalid_value for a wrong graph, invalid_operation for a deadlock, and mem_object_allocation_failure if memory is
/// short. `slack` is the number of buffers beyond those that overlap needs, for stages whose times vary.
[[nodiscard]] pipeline compile(const description& described, const std::vector<device_limits>& devices,
                               std::size_t slack = 0);

/// Bytes that the pipeline needs in the memory space `where`.
[[nodiscard]] std::uint64_t memory_bytes(const pipeline& compiled, memory_space where);

/// Stages, buffers and bytes as text, with the predicted time of a period. `measured` and `estimated`: each actor's
/// seconds per firing. Estimates count where nothing was measured. Either may be empty.
[[nodiscard]] std::string explain(const description& described, const pipeline& compiled,
                                  const std::vector<device_limits>& devices, const std::vector<double>& measured = {},
                                  const std::vector<double>& estimated = {});
/// The graph in the language of Graphviz.
[[nodiscard]] std::string to_dot(const description& described, const pipeline& compiled,
                                 const std::vector<device_limits>& devices);

/// "copy in of 'input'", "'blur'".
[[nodiscard]] std::string name_of(const description& described, const actor& named);

} // namespace causeway::graph
