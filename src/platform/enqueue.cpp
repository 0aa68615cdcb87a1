// SPDX-License-Identifier: Apache-2.0
// The checks that all commands share, and the way round for those that their driver cannot have at once.
#include "platform/enqueue.hpp"

namespace causeway::platform {

namespace {

/// Hands the command to its driver if that can be, else to the scheduler.
void hand_over(_cl_command_queue& queue, waiting_command command, cl_int& code) {
    if (queue.waiting_count.load(std::memory_order_acquire) == 0) {
        raw_waits raws;
        obstacle found;
        for (const auto& wait : command.waits)
            if (found.what == obstacle::sort::none) found = look_at(*wait, &queue.where, false, raws);
        for (const auto& order : command.orders)
            if (found.what == obstacle::sort::none) found = look_at(*order, &queue.where, true, raws);
        if (found.what == obstacle::sort::failed) {
            command.event->finish(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            return;
        }
        if (found.what == obstacle::sort::none) {
            cl_event raw = nullptr;
            code = command.issue(CL_FALSE, raws.count(), raws.list(), &raw);
            if (raw != nullptr)
                command.event->issued_as(raw, raws.count() != 0);
            else
                command.event->finish(code);
            return;
        }
    }
    command.issue.detach();
    scheduler::of_process().defer(queue, std::move(command));
}

/// Its driver would wait for the whole queue if it got the command without its events.
issue_function own_meaning(_cl_command_queue& queue, issue_function issue) {
    return [&queue, issue = std::move(issue)](cl_bool blocking, cl_uint count, const cl_event* list,
                                              cl_event* event) mutable -> cl_int {
        return count == 0 && !queue.in_order() ? CL_SUCCESS : issue(blocking, count, list, event);
    };
}

} // namespace

void check_command(const new_command& command) {
    require((command.wait_count == 0) == (command.wait_list == nullptr), CL_INVALID_EVENT_WAIT_LIST);
    const auto* const context = &command.queue.context;
    for (cl_uint i = 0; i < command.wait_count; ++i)
        require(checked(command.wait_list[i], CL_INVALID_EVENT_WAIT_LIST).context.get() == context, CL_INVALID_CONTEXT);
    for (const auto& use : command.uses) require(use.object->context.get() == context, CL_INVALID_CONTEXT);
}

obstacle look_at_waits(const new_command& command, raw_waits& raws) {
    for (cl_uint i = 0; i < command.wait_count; ++i)
        if (const auto found = look_at(*command.wait_list[i], &command.queue.where, false, raws);
            found.what != obstacle::sort::none)
            return found;
    return {};
}

void give_event(const new_command& command, cl_event raw, bool had_waits) {
    auto made = ref<_cl_event>::adopt(new _cl_event(command.queue, command.type));
    made->issued_as(raw, had_waits);
    *command.event = made.give();
}

cl_int enqueue_in_turn(const new_command& command, issue_function issue) {
    auto& queue = command.queue;
    auto event = ref<_cl_event>::adopt(new _cl_event(queue, command.type));
    waiting_command made{event, {}, {}, std::move(issue), command.order};
    for (cl_uint i = 0; i < command.wait_count; ++i) made.waits.emplace_back(command.wait_list[i]);
    if ((command.type == CL_COMMAND_MARKER || command.type == CL_COMMAND_BARRIER) && command.wait_count != 0)
        made.issue = own_meaning(queue, std::move(made.issue));
    cl_int code = CL_SUCCESS;
    if (queue.context.spans()) {
        const std::lock_guard lock(queue.context.order);
        for (const auto& use : command.uses) bring(*use.object, queue.where, use.how, made.waits, made.orders);
        hand_over(queue, std::move(made), code);
        if (code == CL_SUCCESS)
            for (const auto& use : command.uses) note_use(*use.object, queue.where, use.how, *event);
    } else {
        hand_over(queue, std::move(made), code);
    }
    if (code != CL_SUCCESS) return code;
    if (command.blocking != CL_FALSE) {
        scheduler::of_process().wait_for(*event);
        code = std::min(event->status(), CL_SUCCESS);
    }
    // The event is one that the program has only now.
    if (command.event != nullptr) *command.event = event.give();
    return code;
}

ref<_cl_event> enqueue_copy(_cl_command_queue& queue, cl_command_type type, std::vector<ref<_cl_event>> waits,
                            std::vector<ref<_cl_event>> orders, issue_function issue) {
    auto event = ref<_cl_event>::adopt(new _cl_event(queue, type));
    cl_int code = CL_SUCCESS;
    hand_over(queue, {event, std::move(waits), std::move(orders), std::move(issue), {}}, code);
    check(code);
    queue.flush();
    return event;
}

} // namespace causeway::platform
