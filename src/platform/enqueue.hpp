// SPDX-License-Identifier: Apache-2.0
// Sends each command to its driver: at once if the driver can see all that it waits for, else through the scheduler.
#pragma once

#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/memory.hpp"
#include "platform/scheduler.hpp"

#include <functional>

namespace causeway::platform {

/// What all commands have in common. Borrowed: lives as long as the call.
struct new_command {
    _cl_command_queue& queue;
    cl_command_type type;
    cl_bool blocking = CL_FALSE;
    cl_uint wait_count = 0;
    const cl_event* wait_list = nullptr;
    cl_event* event = nullptr;
    std::span<const memory_use> uses = {};
    queue_order order = {};
    bool apart = false; ///< a command of the platform: ordered with all commands on its memory objects, in any queue
    _cl_mem* mapped = nullptr; ///< object whose shadow it reads or writes; kept alive until it is over
    /// Event that fills the host memory which this command sends. Must be over before the driver gets the command,
    /// which may read the memory at once (NVIDIA 580 does).
    _cl_event* filling = nullptr;
    _cl_event::ender who = _cl_event::ender::driver;
    bool reads_host = false; ///< reads the program's memory when it runs, so earlier reads must have arrived there
    _cl_command_queue* seen_in = nullptr; ///< the program's queue, if it runs in another
    bool is_counted = true; ///< false for a part of a command that is counted itself
    ref<_cl_event>* made = nullptr; ///< receives its event, for the platform's own use; may be null
    std::span<const ref<_cl_event>> parts = {}; ///< for the last part of a large read: the parts before it
};

/// `command`, marked as reading the program's memory when it runs.
[[nodiscard]] inline new_command reading_host(new_command command) {
    command.reads_host = true;
    return command;
}

/// Throws for a wait list that does not fit its count, invalid events, and events or memory objects of other contexts.
void check_command(const new_command& command);

/// Whether the driver can have the command now; then `raws` is its wait list. A failed event in the list does not
/// throw.
[[nodiscard]] obstacle look_at_waits(const new_command& command, raw_waits& raws);

/// The slow path: updates memory objects' states and, if need be, defers to the scheduler.
cl_int enqueue_in_turn(const new_command& command, issue_function issue);

/// Makes the program's event for a command that its driver has as `raw`; if null, an event that is over.
void give_event(const new_command& command, cl_event raw, bool had_waits);

/// A command of the platform itself on the queue of a driver context. The context's order is held.
[[nodiscard]] ref<_cl_event> enqueue_copy(_cl_command_queue& queue, cl_command_type type,
                                          std::vector<ref<_cl_event>> waits, std::vector<ref<_cl_event>> orders,
                                          issue_function issue, _cl_event::ender who = _cl_event::ender::driver);

/// A marker: over when all commands before it in the queue are. In an in-order queue it is a barrier, because a marker
/// of NVIDIA's driver also waits for kernels of other queues.
[[nodiscard]] ref<_cl_event> enqueue_mark(_cl_command_queue& queue);

/// Host memory that a command reads into: rows of bytes, in slices.
struct host_target {
    void* address;
    size_t row_bytes, rows = 1, slices = 1;
    size_t row_pitch = 0, slice_pitch = 0; ///< 0: packed

    [[nodiscard]] size_t bytes() const { return row_bytes * rows * slices; }
};

/// A 1D image array: each line is a slice of one row.
[[nodiscard]] inline bool is_lines(const _cl_mem& image) { return image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY; }
[[nodiscard]] inline bool has_slices(const _cl_mem& image) {
    return is_lines(image) || image.type == CL_MEM_OBJECT_IMAGE2D_ARRAY || image.type == CL_MEM_OBJECT_IMAGE3D;
}

/// Host memory for a region of an image, with these row and slice pitches.
[[nodiscard]] inline host_target target_of(const _cl_mem& image, const std::array<size_t, 3>& region, void* address,
                                           const std::array<size_t, 2>& pitches) {
    const size_t row = image.image.pixel_bytes * region[0];
    return is_lines(image) ? host_target{address, row, 1, region[1], pitches[0], pitches[1]}
                           : host_target{address, row, region[1], region[2], pitches[0], pitches[1]};
}

/// A read in a cluster: reads packed bytes into `staging`, then copies them to `target` on every rank.
cl_int read_everywhere(const new_command& command, const host_target& target,
                       const std::shared_ptr<std::byte[]>& staging, issue_function issue);

/// Checks and enqueues a command. `issue` converts to issue_function.
template <class Issue> cl_int enqueue(const new_command& command, Issue issue) {
    check_command(command);
    auto& queue = command.queue;
    if (!queue.context.spans() && command.mapped == nullptr &&
        queue.waiting_count.load(std::memory_order_acquire) == 0) {
        raw_waits raws;
        if (look_at_waits(command, raws).what == obstacle::sort::none) {
            // A marker or barrier in an out-of-order queue whose events are all over must not wait for the whole
            // queue.
            const bool changes_meaning = raws.count() == 0 && command.wait_count != 0 && !queue.in_order() &&
                                         (command.type == CL_COMMAND_MARKER || command.type == CL_COMMAND_BARRIER);
            if (!changes_meaning) {
                cl_event raw = nullptr;
                const auto code = issue(command.blocking, raws.count(), raws.list(),
                                        command.event != nullptr ? &raw : nullptr);
                if (code == CL_SUCCESS && command.event != nullptr) give_event(command, raw, raws.count() != 0);
                return code;
            }
        }
    }
    return enqueue_in_turn(command, issue_function(std::move(issue)));
}

/// As enqueue(), for commands that read into host memory: make_issue(address, row pitch, slice pitch) returns the issue
/// callable.
template <class MakeIssue> cl_int enqueue_read(const new_command& command, const host_target& target,
                                               MakeIssue make_issue) {
    const auto& job = command.queue.context.job;
    if (job.is_alone()) return enqueue(command, make_issue(target.address, target.row_pitch, target.slice_pitch));
    // The message also carries the command's end.
    const auto staging = job.room_for_message(target.bytes() + sizeof(command_end));
    return read_everywhere(command, target, staging, issue_function(make_issue(staging.get(), size_t{0}, size_t{0})));
}

/// Enqueues the read of a byte range: (command, offset, count).
using read_function = std::function<cl_int(const new_command&, size_t, size_t)>;

/// A large read in a cluster, pipelined: while one part comes from the device, others travel. A blocking read reuses
/// little memory, which fits caches. The event is the last part's.
cl_int read_in_parts(const new_command& command, size_t size, const read_function& read);
inline constexpr size_t most_in_one_part = size_t{4} << 20;

/// Reads `size` bytes, in parts if large and if the event is not profiled.
template <class Read> cl_int enqueue_read_of(const new_command& command, size_t size, Read read) {
    const bool is_timed = command.event != nullptr && (command.queue.properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    const auto& job = command.queue.context.job;
    if (size <= most_in_one_part || is_timed || job.is_alone() || job.is_dry_run()) return read(command, 0, size);
    return read_in_parts(command, size, read);
}

} // namespace causeway::platform
