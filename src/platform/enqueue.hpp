// SPDX-License-Identifier: Apache-2.0
// How every command gets to its driver: at once where the driver sees all that it waits for, else through the
// scheduler.
#pragma once

#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/memory.hpp"
#include "platform/scheduler.hpp"

#include <functional>

namespace causeway::platform {

/// What all commands have.
struct new_command {
    _cl_command_queue& queue;
    cl_command_type type;
    cl_bool blocking = CL_FALSE;
    cl_uint wait_count = 0;
    const cl_event* wait_list = nullptr;
    cl_event* event = nullptr;
    std::span<const memory_use> uses = {};
    queue_order order = {};
    bool apart = false; ///< of the platform: ordered with all on its memory objects, whatever queues those are in
    _cl_mem* mapped = nullptr; ///< whose shadow it reads or writes: kept until it is over
    /// Fills the host memory that this command sends. Drivers may read it as soon as the command is enqueued (NVIDIA
    /// 580 does).
    _cl_event* filling = nullptr;
    _cl_event::ender who = _cl_event::ender::driver;
    bool reads_host = false; ///< a read that comes before it must have arrived in the program's memory
    _cl_command_queue* seen_in = nullptr; ///< the queue that the program knows, if it is not the one where it runs
    bool is_counted = true; ///< not a part of one that is
    ref<_cl_event>* made = nullptr; ///< gets its event for the platform, if it has one
    std::span<const ref<_cl_event>> parts = {}; ///< the other reads of which it is the last part
};

/// One that reads the program's memory when it runs.
[[nodiscard]] inline new_command reading_host(new_command command) {
    command.reads_host = true;
    return command;
}

/// Throws for a list that does not fit its count, for what is no event, and for events and memory objects of other
/// contexts.
void check_command(const new_command& command);

/// Whether the driver can have the command now; then `raws` is its wait list. A failed event in the list does not
/// throw.
[[nodiscard]] obstacle look_at_waits(const new_command& command, raw_waits& raws);

/// Takes the way round: through memory objects' states and, if need be, the scheduler.
cl_int enqueue_in_turn(const new_command& command, issue_function issue);

/// Makes an event of the program for a command that its driver has; one that is over for a null `raw`.
void give_event(const new_command& command, cl_event raw, bool had_waits);

/// A command of the platform itself on the queue of a driver context. The context's order is held.
[[nodiscard]] ref<_cl_event> enqueue_copy(_cl_command_queue& queue, cl_command_type type,
                                          std::vector<ref<_cl_event>> waits, std::vector<ref<_cl_event>> orders,
                                          issue_function issue, _cl_event::ender who = _cl_event::ender::driver);

/// A command that is over when all before it in the queue are. In an in-order queue it is a barrier, because a marker
/// of NVIDIA's driver also waits for kernels of other queues.
[[nodiscard]] ref<_cl_event> enqueue_mark(_cl_command_queue& queue);

/// Host memory that a command reads into: rows of bytes, in slices.
struct host_target {
    void* address;
    size_t row_bytes, rows = 1, slices = 1;
    size_t row_pitch = 0, slice_pitch = 0; ///< 0: packed

    [[nodiscard]] size_t bytes() const { return row_bytes * rows * slices; }
};

/// An array of lines has its lines in slices of one row.
[[nodiscard]] inline bool is_lines(const _cl_mem& image) { return image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY; }
[[nodiscard]] inline bool has_slices(const _cl_mem& image) {
    return is_lines(image) || image.type == CL_MEM_OBJECT_IMAGE2D_ARRAY || image.type == CL_MEM_OBJECT_IMAGE3D;
}

/// A region of an image with these pitches.
[[nodiscard]] inline host_target target_of(const _cl_mem& image, const std::array<size_t, 3>& region, void* address,
                                           const std::array<size_t, 2>& pitches) {
    const size_t row = image.image.pixel_bytes * region[0];
    return is_lines(image) ? host_target{address, row, 1, region[1], pitches[0], pitches[1]}
                           : host_target{address, row, region[1], region[2], pitches[0], pitches[1]};
}

/// A read in a cluster: what it reads, packed, into `staging` goes to `target` on every rank.
cl_int read_everywhere(const new_command& command, const host_target& target,
                       const std::shared_ptr<std::byte[]>& staging, issue_function issue);

/// Checks and enqueues. `issue` is what an issue_function can be made of.
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

/// As enqueue(), for commands that read into host memory: make_issue(address, row pitch, slice pitch) gives what to
/// issue.
template <class MakeIssue> cl_int enqueue_read(const new_command& command, const host_target& target,
                                               MakeIssue make_issue) {
    const auto& job = command.queue.context.job;
    if (job.is_alone()) return enqueue(command, make_issue(target.address, target.row_pitch, target.slice_pitch));
    // With room for how it ended.
    const auto staging = job.room_for_message(target.bytes() + sizeof(command_end));
    return read_everywhere(command, target, staging, issue_function(make_issue(staging.get(), size_t{0}, size_t{0})));
}

/// Enqueues the read of some bytes: command, first byte, count.
using read_function = std::function<cl_int(const new_command&, size_t, size_t)>;

/// A large read in a cluster, in parts: while one comes from the device, others travel and arrive. If the program
/// waits, a little memory that fits caches is enough. The event is the last part's.
cl_int read_in_parts(const new_command& command, size_t size, const read_function& read);
inline constexpr size_t most_in_one_part = size_t{4} << 20;

/// Reads `size` bytes, in parts where that is faster and nobody asks for the times of the whole.
template <class Read> cl_int enqueue_read_of(const new_command& command, size_t size, Read read) {
    const bool is_timed = command.event != nullptr && (command.queue.properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    const auto& job = command.queue.context.job;
    if (size <= most_in_one_part || is_timed || job.is_alone() || job.is_dry_run()) return read(command, 0, size);
    return read_in_parts(command, size, read);
}

} // namespace causeway::platform
