// SPDX-License-Identifier: Apache-2.0
// The checks that all commands share, and the way round for those that their driver cannot have at once.
#include "platform/enqueue.hpp"

#include "platform/behind.hpp"

#include <algorithm>
#include <cstring>

namespace causeway::platform {

namespace {

/// What a dry run does instead of a command.
cl_int nothing(cl_bool, cl_uint, const cl_event*, cl_event*) { return CL_SUCCESS; }

/// Hands the command to its driver if that can be, else to the scheduler. A refusal ends the command's event, too.
cl_int hand_over(_cl_command_queue& queue, waiting_command command) {
    if (queue.context.job.is_dry_run()) command.issue = issue_function(nothing);
    if (queue.waiting_count.load(std::memory_order_acquire) == 0) {
        raw_waits raws;
        const auto found = look_at_all(command, queue, raws);
        if (found.what == obstacle::sort::failed) {
            command.event->finish(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            return CL_SUCCESS;
        }
        if (found.what == obstacle::sort::none) {
            cl_event raw = nullptr;
            const auto code = guard([&] { return command.issue(CL_FALSE, raws.count(), raws.list(), &raw); });
            if (raw != nullptr)
                command.event->issued_as(raw, raws.count() != 0);
            else
                command.event->finish_now(code);
            return code;
        }
    }
    const auto code = guard([&] {
        command.issue.detach();
        return CL_SUCCESS;
    });
    if (code == CL_SUCCESS)
        scheduler::of_process().defer(queue, std::move(command));
    else
        command.event->finish(code);
    return code;
}

/// Its driver would wait for the whole queue if it got the command without its events.
issue_function own_meaning(_cl_command_queue& queue, issue_function issue) {
    return [&queue, issue = std::move(issue)](cl_bool blocking, cl_uint count, const cl_event* list,
                                              cl_event* event) mutable -> cl_int {
        return count == 0 && !queue.in_order() ? CL_SUCCESS : issue(blocking, count, list, event);
    };
}

void count(cluster& job, const new_command& command) {
    auto& counts = job.counts;
    ++counts.all;
    if (!command.queue.where.here) ++counts.virtual_ones;
    switch (command.type) {
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_WRITE_BUFFER_RECT:
    case CL_COMMAND_WRITE_IMAGE: ++counts.writes; break;
    case CL_COMMAND_READ_BUFFER:
    case CL_COMMAND_READ_BUFFER_RECT:
    case CL_COMMAND_READ_IMAGE: ++counts.reads; break;
    case CL_COMMAND_COPY_BUFFER:
    case CL_COMMAND_COPY_BUFFER_RECT:
    case CL_COMMAND_COPY_IMAGE: ++counts.copies; break;
    case CL_COMMAND_NDRANGE_KERNEL:
    case CL_COMMAND_TASK: ++counts.kernels; break;
    default: break;
    }
}

/// What a command overwrites is lost if the command does not run, as it does if what it waits for fails. By the list
/// alone, which is the same on every rank, unlike the state of events.
access use_of(const new_command& command, const memory_use& use) {
    return use.how == access::overwrite && command.wait_count != 0 ? access::write : use.how;
}

/// What a command on another rank's device has to be noted for here: where memory objects are then, and which of this
/// rank's events it waits for. The context's order is held.
void follow(const new_command& command) {
    auto& there = command.queue.where;
    // In the order in which the command's rank listens: events first, see with_waits().
    for (cl_uint i = 0; i < command.wait_count; ++i) {
        auto& event = *command.wait_list[i];
        if (event.rank >= 0 && is_here(event)) tell(event, there.rank);
    }
    std::vector<ref<_cl_event>> none;
    for (const auto& use : command.uses) bring(*use.object, there, use_of(command, use), none, none);
    for (const auto& use : command.uses) note_use(*use.object, there, use_of(command, use), nullptr);
}

/// The paper's section 3.7: the command touches nothing that this rank has to know of.
bool may_be_dropped(const new_command& command) {
    return command.wait_count == 0 && !command.uses.empty() &&
           std::all_of(command.uses.begin(), command.uses.end(), [](const memory_use& use) {
               const auto* const attached = use.object->root().attached;
               return attached != nullptr && !attached->here;
           });
}

_cl_command_queue& queue_seen(const new_command& command) {
    return command.seen_in != nullptr ? *command.seen_in : command.queue;
}

/// The code that the call returns, on every rank. Only the rank that runs the command knows it, and asking that rank
/// keeps all ranks in step. So ranks ask only for a blocking command that may fail by its wait list or on another rank,
/// or that may pass pending user events. The rank that runs the command has waited for its end; here, every rank also
/// waits for the events that the command is behind.
cl_int result_everywhere(const new_command& command, cl_int code, const std::vector<ref<_cl_event>>& behind) {
    auto& queue = command.queue;
    const bool may_fail = command.wait_count != 0 || command.who == _cl_event::ender::foreign;
    struct {
        cl_int code;
        bool passes_users;
    } found{code, queue.where.here && passes_users(queue_seen(command), behind)};
    if (command.blocking != CL_FALSE) {
        if (may_fail || queue.is_behind_users) found = queue.context.job.from(queue.where.rank, found);
        wait_for_all(behind, found.passes_users);
        if (may_fail) return found.code;
    }
    queue.refuse(code);
    return CL_SUCCESS;
}

ref<_cl_event> make_event(const new_command& command) {
    return ref<_cl_event>::adopt(
        new _cl_event(queue_seen(command), command.type, command.who, command.queue.where.rank));
}

/// The command's memory objects whose end the program is told of, on every rank: the same ones everywhere.
std::vector<ref<_cl_mem>> kept_by(const new_command& command) {
    std::vector<ref<_cl_mem>> kept;
    const auto& job = command.queue.context.job;
    if (job.is_over() || job.is_dry_run()) return kept;
    const std::lock_guard lock(command.queue.context.order);
    for (const auto& use : command.uses)
        if (use.object->outlives_commands()) kept.emplace_back(use.object);
    return kept;
}

/// Keeps them until the command is over, wherever it runs.
void keep_until_over(_cl_event& event, std::vector<ref<_cl_mem>> objects) {
    if (objects.empty()) return;
    {
        const std::lock_guard lock(event.context->order);
        tell_all(event);
    }
    // The program sees the end when what is in front of the command has ended here, too.
    scheduler::of_process().after(event, [&event, objects = std::move(objects)](cl_int) {
        const bool passes = is_here(event) ? passes_users(event) : event.end().passes_users;
        scheduler::of_process().after_all(passes ? without_users(event.behind) : event.behind, [objects] {});
    });
}

cl_int enqueue_elsewhere(const new_command& command) {
    auto kept = kept_by(command);
    const bool is_dropped = kept.empty() && may_be_dropped(command);
    const bool is_seen = command.event != nullptr || command.blocking != CL_FALSE;
    if (is_dropped) ++command.queue.context.job.counts.dropped;
    std::vector<ref<_cl_event>> behind;
    if (!is_dropped || is_seen) {
        const std::lock_guard lock(command.queue.context.order);
        if (!is_dropped) follow(command);
        behind = go_behind(command);
    }
    const auto code = result_everywhere(command, CL_SUCCESS, behind);
    if (command.event != nullptr || !kept.empty()) {
        auto event = make_event(command);
        event->behind = std::move(behind);
        if (event->context->job.is_dry_run()) event->finish_as({CL_COMPLETE, CL_SUCCESS}); // no rank says so
        keep_until_over(*event, std::move(kept));
        if (command.event != nullptr) *command.event = event.give();
    }
    return code;
}

/// The command's own wait list, and what its memory objects wait for. The context's order is held where it spans
/// driver contexts.
waiting_command with_waits(const new_command& command, ref<_cl_event> event, issue_function issue) {
    waiting_command made{std::move(event), {}, {}, {}, std::move(issue), command.order};
    if (command.reads_host) made.orders = made.event->behind;
    made.filling = ref<_cl_event>(command.filling);
    for (cl_uint i = 0; i < command.wait_count; ++i) {
        auto& wait = *command.wait_list[i];
        if (wait.rank >= 0 && !is_here(wait)) listen(wait);
        made.waits.emplace_back(&wait);
    }
    for (const auto& use : command.uses)
        bring(*use.object, command.queue.where, use_of(command, use), made.waits, made.orders);
    if (command.apart && command.queue.context.spans())
        for (const auto& use : command.uses) come_after(*use.object, command.queue.where, use.how, made.orders);
    return made;
}

/// Drivers hold their memory objects while a command uses them; the shadow is ours.
void keep_mapped(const new_command& command, _cl_event& event) {
    if (command.mapped == nullptr) return;
    scheduler::of_process().after(event, [held = ref<_cl_mem>(command.mapped)](cl_int) {});
}

} // namespace

namespace {

/// What other devices of the context can use, this one may not. Drivers would find out when they make their object, on
/// one rank.
void check_device(const _cl_mem& object, const _cl_device_id& device) {
    require(!object.is_image() || ask<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) != CL_FALSE, CL_INVALID_OPERATION);
    require(is_aligned(object, device), CL_MISALIGNED_SUB_BUFFER_OFFSET);
}

} // namespace

void check_command(const new_command& command) {
    require((command.wait_count == 0) == (command.wait_list == nullptr), CL_INVALID_EVENT_WAIT_LIST);
    const auto* const context = &command.queue.context;
    for (cl_uint i = 0; i < command.wait_count; ++i) {
        const auto& event = checked(command.wait_list[i], CL_INVALID_EVENT_WAIT_LIST);
        require(event.context.get() == context, CL_INVALID_CONTEXT);
        note(event);
    }
    for (const auto& use : command.uses) {
        require(use.object->context.get() == context, CL_INVALID_CONTEXT);
        check_device(*use.object, *command.queue.device);
    }
}

obstacle look_at_waits(const new_command& command, raw_waits& raws) {
    for (cl_uint i = 0; i < command.wait_count; ++i)
        if (const auto found = look_at(*command.wait_list[i], command.queue, false, raws);
            found.what != obstacle::sort::none)
            return found;
    return {};
}

void give_event(const new_command& command, cl_event raw, bool had_waits) {
    auto made = ref<_cl_event>::adopt(new _cl_event(command.queue, command.type));
    if (raw != nullptr)
        made->issued_as(raw, had_waits);
    else
        made->finish_now(CL_COMPLETE);
    *command.event = made.give();
}

cl_int enqueue_in_turn(const new_command& command, issue_function issue) {
    auto& queue = command.queue;
    auto& job = queue.context.job;
    if (!job.is_alone()) count(job, command);
    if (!queue.where.here) return enqueue_elsewhere(command);
    auto event = make_event(command);
    if ((command.type == CL_COMMAND_MARKER || command.type == CL_COMMAND_BARRIER) && command.wait_count != 0)
        issue = own_meaning(queue, std::move(issue));
    cl_int code = CL_SUCCESS;
    if (queue.context.spans()) {
        const std::lock_guard lock(queue.context.order);
        if (!job.is_alone()) event->behind = go_behind(command);
        code = hand_over(queue, with_waits(command, event, std::move(issue)));
        // Other ranks count a refused command as one that runs, and fails.
        if (code == CL_SUCCESS || !job.is_alone())
            for (const auto& use : command.uses)
                note_use(*use.object, queue.where, use_of(command, use), event.get(), command.apart);
    } else {
        auto waiting = command;
        waiting.uses = {}; // the driver's affair
        code = hand_over(queue, with_waits(waiting, event, std::move(issue)));
    }
    if (code != CL_SUCCESS && job.is_alone()) return code;
    keep_mapped(command, *event);
    if (command.blocking != CL_FALSE) {
        scheduler::of_process().wait_for(*event);
        code = std::min(event->status(), CL_SUCCESS);
    }
    if (!job.is_alone()) {
        code = result_everywhere(command, code, event->behind);
        keep_until_over(*event, kept_by(command));
    }
    if (command.made != nullptr) *command.made = event;
    // The event is one that the program has only now.
    if (command.event != nullptr) *command.event = event.give();
    return code;
}

ref<_cl_event> enqueue_copy(_cl_command_queue& queue, cl_command_type type, std::vector<ref<_cl_event>> waits,
                            std::vector<ref<_cl_event>> orders, issue_function issue, _cl_event::ender who) {
    auto event = ref<_cl_event>::adopt(new _cl_event(queue, type, who));
    check(hand_over(queue, {event, std::move(waits), std::move(orders), {}, std::move(issue), {}}));
    queue.flush();
    return event;
}

namespace {

void unpack(const host_target& to, const std::byte* from) {
    const size_t row_pitch = to.row_pitch == 0 ? to.row_bytes : to.row_pitch;
    const size_t slice_pitch = to.slice_pitch == 0 ? row_pitch * to.rows : to.slice_pitch;
    for (size_t z = 0; z < to.slices; ++z)
        for (size_t y = 0; y < to.rows; ++y, from += to.row_bytes)
            std::memcpy(static_cast<std::byte*>(to.address) + z * slice_pitch + y * row_pitch, from, to.row_bytes);
}

} // namespace

cl_int read_everywhere(const new_command& command, const host_target& target,
                       const std::shared_ptr<std::byte[]>& staging, issue_function issue) {
    check_command(command);
    auto& queue = command.queue;
    auto& job = queue.context.job;
    if (command.is_counted) count(job, command);
    auto& plan = scheduler::of_process();
    // It ends on each rank when the bytes are there.
    auto event = ref<_cl_event>::adopt(new _cl_event(queue, command.type, _cl_event::ender::every_rank));
    auto* const end_value = staging.get() + target.bytes();
    {
        const std::lock_guard lock(queue.context.order);
        auto behind = go_behind(command);
        behind.insert(behind.end(), command.parts.begin(), command.parts.end());
        put_behind(queue, event);
        // Bytes come from different ranks, in any order: they go to the program's memory in the order of the reads.
        const std::vector parts(command.parts.begin(), command.parts.end());
        const auto arrive = [event, target, staging, end_value, behind, parts, &plan] {
            command_end end;
            std::memcpy(&end, end_value, sizeof end);
            plan.after_all(end.passes_users ? without_users(behind) : behind,
                           [event, target, staging, end, parts, &plan]() mutable {
                               for (const auto& part : parts) end.status = std::min(end.status, part->known_end());
                               if (end.status == CL_COMPLETE) unpack(target, staging.get());
                               plan.end(*event, end);
                           });
        };
        auto pass_on = job.spread(queue.where.rank, staging, target.bytes() + sizeof(command_end), arrive);
        if (queue.where.here) {
            auto own = ref<_cl_event>::adopt(new _cl_event(queue, command.type));
            queue.refuse(hand_over(queue, with_waits(command, own, std::move(issue))));
            plan.after(*own, [&own = *own, arrive, pass_on = std::move(pass_on), end_value, behind](cl_int) {
                auto end = own.end();
                end.passes_users = passes_users(*own.queue, behind);
                std::memcpy(end_value, &end, sizeof end);
                pass_on();
                arrive();
            });
        } else {
            follow(command);
        }
    }
    keep_mapped(command, *event);
    keep_until_over(*event, kept_by(command));
    cl_int code = CL_SUCCESS;
    if (command.blocking != CL_FALSE) {
        plan.wait_for(*event);
        code = std::min(event->status(), CL_SUCCESS);
    }
    if (command.made != nullptr) *command.made = event;
    if (command.event != nullptr) *command.event = event.give();
    return code;
}

cl_int read_in_parts(const new_command& command, size_t size, const read_function& read) {
    constexpr size_t most_under_way = 4; // of one that the program waits for
    std::vector<ref<_cl_event>> parts;
    size_t at = 0;
    for (; size - at > most_in_one_part; at += most_in_one_part) {
        if (command.blocking != CL_FALSE && parts.size() >= most_under_way)
            scheduler::of_process().wait_for(*parts[parts.size() - most_under_way]);
        auto part = command;
        part.blocking = CL_FALSE;
        part.event = nullptr;
        part.is_counted = at == 0;
        part.made = &parts.emplace_back();
        check(read(part, at, most_in_one_part));
    }
    // The last one is over, or fails, with all before it. Its driver does not wait for them: they end when the host has
    // their bytes, and would keep all that comes behind from the device until then.
    auto last = command;
    last.is_counted = false;
    last.parts = parts;
    return read(last, at, size - at);
}

} // namespace causeway::platform
