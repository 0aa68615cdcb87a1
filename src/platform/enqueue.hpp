// SPDX-License-Identifier: Apache-2.0
// How every command gets to its driver: at once where the driver sees all that it waits for, else through the scheduler.
#pragma once

#include "platform/boundary.hpp"
#include "platform/memory.hpp"
#include "platform/scheduler.hpp"

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
};

/// Throws for a list that does not fit its count, for what is no event, and for events and memory objects of other contexts.
void check_command(const new_command& command);

/// Whether the driver can have the command now. If so, `raws` is its wait list. A failed wait throws nothing: it is found.
[[nodiscard]] obstacle look_at_waits(const new_command& command, raw_waits& raws);

/// Takes the way round: through memory objects' states and, if need be, the scheduler.
cl_int enqueue_in_turn(const new_command& command, issue_function issue);

/// Makes an event of the program for a command that its driver has.
void give_event(const new_command& command, cl_event raw, bool had_waits);

/// A command of the platform itself on the queue of a place. The context's order is held.
[[nodiscard]] ref<_cl_event> enqueue_copy(_cl_command_queue& queue, cl_command_type type, std::vector<ref<_cl_event>> waits,
                                          std::vector<ref<_cl_event>> orders, issue_function issue);

/// Checks and enqueues. `issue` is what an issue_function can be made of.
template <class Issue> cl_int enqueue(const new_command& command, Issue issue) {
    check_command(command);
    auto& queue = command.queue;
    if (!queue.context.spans() && queue.waiting_count.load(std::memory_order_acquire) == 0) {
        raw_waits raws;
        if (look_at_waits(command, raws).what == obstacle::sort::none) {
            // A marker or barrier in an out-of-order queue whose events are all over must not wait for the whole queue.
            const bool changes_meaning = raws.count() == 0 && command.wait_count != 0 && !queue.in_order() &&
                                         (command.type == CL_COMMAND_MARKER || command.type == CL_COMMAND_BARRIER);
            if (!changes_meaning) {
                cl_event raw = nullptr;
                const auto code = issue(command.blocking, raws.count(), raws.list(), command.event != nullptr ? &raw : nullptr);
                if (raw != nullptr) give_event(command, raw, raws.count() != 0);
                return code;
            }
        }
    }
    return enqueue_in_turn(command, issue_function(std::move(issue)));
}

} // namespace causeway::platform
