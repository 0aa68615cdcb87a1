// SPDX-License-Identifier: Apache-2.0
// What all commands share: arguments, order in queues, events.
#pragma once

#include "runtime/registry.hpp"
#include "cl/calls.hpp"
#include "endpoints/device/device_endpoint.hpp"
#include "transfer/flow.hpp"

#include <memory>
#include <vector>

namespace causeway::core {

/// The last arguments of every command.
struct event_arguments {
    cl_uint count;
    const cl_event* list;
    cl_event* event;
};

/// What the device must let the host do, in OpenCL's terms: CL_MEM_HOST_* flags may forbid it.
enum class host_access { read, write };

struct checked_queue {
    cl_command_queue raw;
    cl::queue_facts facts;
};

/// Throws with OpenCL's code for a queue that cannot be used.
[[nodiscard]] checked_queue check_queue(cl_command_queue queue);

/// The checks of a buffer, in the order of clEnqueueReadBuffer's errors (OpenCL 1.2, section 5.2.2). Call them in this
/// order, with the wait list's check before the last. They throw for a buffer that is null or of another context, and
/// for a range beyond its end. They also throw for an access that its CL_MEM_HOST_* flags or a linked buffer's device
/// forbid.
[[nodiscard]] endpoints::buffer_location check_buffer(const checked_queue& queue, cl_mem buffer);
void check_access(const endpoints::buffer_location& location, host_access access);
void check_range(const endpoints::buffer_location& location, size_t offset, size_t bytes);

/// Whether a transfer of `bytes` of the buffer is faster through host memory than over a direct link.
[[nodiscard]] bool is_best_by_host(const endpoints::buffer_location& location, size_t bytes);

/// Throws for a list that does not fit its count, or events of other contexts than the given ones.
void check_wait_list(const event_arguments& events, cl_context context, cl_context other_context);

/// Throws mem_copy_overlap if the ranges share a byte; sub-buffers of one buffer count as that buffer.
void check_overlap(cl_mem first, size_t first_offset, cl_mem second, size_t second_offset, size_t first_size,
                   size_t second_size);

/// Everything checked, ready to go.
struct new_command {
    cl_command_type type = 0;
    const char* name = nullptr; ///< for users, of types that have none in enqueue(); lives as long as the process
    std::vector<checked_queue> queues; ///< in whose order it takes part; the first is the command's own
    std::vector<std::unique_ptr<transfer::flow>> flows;
    std::shared_ptr<endpoints::matched_envelope> envelope;
    /// Orders of the ends on a device: the source's in the last queue, the target's in the first. Null: no such end.
    endpoints::device_order source_order, target_order;
    bool is_one_copy = false; ///< if small enough, each of these ends moves by a single copy
    bool is_in_queues = true; ///< false: it waits for its wait list only, not for its queues
    cl_event* source_event = nullptr; ///< if not null, gets a second event of the command, of the last queue's context
    bool needs_mpi = false;
    bool crosses_devices = false; ///< moves between two devices of this process
};

/// Enqueues; waits if `blocking`. Returns the status of a blocking command, else CL_SUCCESS.
[[nodiscard]] cl_int enqueue(new_command made, cl_bool blocking, const event_arguments& events);

/// A flow from `source` to `target`.
[[nodiscard]] std::vector<std::unique_ptr<transfer::flow>>
one_flow(std::unique_ptr<transfer::endpoint> source, std::unique_ptr<transfer::endpoint> target, size_t bytes);

} // namespace causeway::core
