// SPDX-License-Identifier: Apache-2.0
// The commands of CL/cl_data_transfer.h in a cluster: libcauseway, which the program is linked with, has them followed
// by all ranks, and runs them on one.
#include "platform/transfer_commands.hpp"

#include "platform/collectives.hpp"
#include "platform/entry_points.hpp"
#include "platform/noted_call.hpp"
#include "platform/remote_answer.hpp"

#include <algorithm>
#include <array>

namespace causeway::platform {

namespace {

/// Calls libcauseway with the driver's queue and buffers.
struct issue_transfer {
    _cl_command_queue& on;
    std::vector<ref<_cl_mem>> buffers;
    decltype(cluster_transfer::issue) call;

    cl_int operator()(cl_bool, cl_uint count, const cl_event* list, cl_event* event) const {
        std::vector<void*> raws;
        for (const auto& buffer : buffers) raws.push_back(buffer->raw(on.where));
        return call(on.raw.raw(), raws.data(), count, reinterpret_cast<void* const*>(list),
                    reinterpret_cast<void**>(event));
    }
};

/// Runs on the queue of another rank's driver context for steps, in the order of `seen`, where the program has enqueued
/// it.
cl_int enqueue_aside(new_command command, _cl_command_queue& seen, issue_transfer issue) {
    std::vector<cl_event> waits(command.wait_list, command.wait_list + command.wait_count);
    ref<_cl_event> before;
    if (seen.in_order()) {
        before = enqueue_mark(seen);
        waits.push_back(before.get());
    }
    cl_event made = nullptr;
    command.wait_count = static_cast<cl_uint>(waits.size());
    command.wait_list = waits.empty() ? nullptr : waits.data();
    auto* const wanted = std::exchange(command.event, &made);
    command.apart = true;
    command.seen_in = &seen;
    const auto code = enqueue(command, std::move(issue));
    if (made == nullptr) return code;
    auto event = ref<_cl_event>::adopt(made);
    const auto behind = seen.in_order() ? &entry::clEnqueueBarrierWithWaitList : &entry::clEnqueueMarkerWithWaitList;
    check(behind(&seen, 1, &made, nullptr));
    if (wanted != nullptr) *wanted = event.give();
    return code;
}

} // namespace

bool owns_queue(void* queue) { return queue != nullptr && static_cast<_cl_command_queue*>(queue)->is(kind::queue); }

bool owns_event(void* event) { return event != nullptr && static_cast<_cl_event*>(event)->is(kind::event); }

int enqueue_transfer(const cluster_transfer& given) {
    auto& job = cluster::of_process();
    const bool is_noted = job.begin_call(api_call::transfer, argument_of(static_cast<cl_command_queue>(given.queue)),
                                         argument_of(given.type), argument_of(given.blocking), argument_of(given.waits),
                                         argument_of(given.event));
    const auto result = guard([&] {
        auto& seen = checked(static_cast<cl_command_queue>(given.queue), CL_INVALID_COMMAND_QUEUE);
        std::vector<memory_use> uses;
        std::vector<ref<_cl_mem>> held;
        for (const auto& use : given.uses) {
            held.emplace_back(&checked(static_cast<cl_mem>(use.buffer), CL_INVALID_MEM_OBJECT));
            note(*held.back());
            uses.push_back({held.back().get(), use.writes ? access::write : access::read});
        }
        auto& driver_contexts = seen.context.driver_contexts;
        const bool aside = given.on_rank >= 0 && given.on_rank != seen.where.rank;
        const auto there = std::find_if(driver_contexts.begin(), driver_contexts.end(), [&](const driver_context& one) {
            return one.rank == given.on_rank && !one.for_queries;
        });
        require(!aside || there != driver_contexts.end(), CL_INVALID_OPERATION);
        auto& on = aside ? *there->steps : seen;
        new_command command{on,
                            given.type,
                            static_cast<cl_bool>(given.blocking),
                            given.waits,
                            reinterpret_cast<const cl_event*>(given.list),
                            reinterpret_cast<cl_event*>(given.event),
                            uses};
        command.who = _cl_event::ender::foreign;
        issue_transfer issue{on, std::move(held), given.issue};
        return aside ? enqueue_aside(command, seen, std::move(issue)) : enqueue(command, std::move(issue));
    });
    if (is_noted) job.end_call();
    return result;
}

int copy_between_queues(const cluster_copy& given) {
    return guard([&]() -> cl_int {
        auto& to = checked(static_cast<cl_command_queue>(given.target_queue), CL_INVALID_COMMAND_QUEUE);
        auto& source = checked(static_cast<cl_mem>(given.source), CL_INVALID_MEM_OBJECT);
        auto& target = checked(static_cast<cl_mem>(given.target), CL_INVALID_MEM_OBJECT);
        const auto* const list = reinterpret_cast<const cl_event*>(given.list);
        cl_event made = nullptr;
        if (given.bytes == 0) {
            check(entry::clEnqueueMarkerWithWaitList(&to, given.waits, list, &made));
        } else {
            const std::array queues{&to, static_cast<cl_command_queue>(given.source_queue)};
            const collective all(queues, given.type, given.bytes, given.waits, list);
            std::vector<ref<_cl_event>> delivered{
                all.deliver(all.part_of(source, given.from, to), to, target, given.to)};
            all.give(delivered, &made);
        }
        auto event = ref<_cl_event>::adopt(made);
        const auto code = given.blocking ? std::min(wait_everywhere(*event), CL_SUCCESS) : CL_SUCCESS;
        if (given.event != nullptr) *given.event = event.give();
        return code;
    });
}

void when_over_here(void* handle, std::function<void(void*)> act) {
    auto& event = *static_cast<_cl_event*>(handle);
    if (event.is_users() || !is_here(event)) return;
    // Until then the scheduler keeps the event.
    scheduler::of_process().after(event, [&event, act = std::move(act)](cl_int) {
        if (const auto raw = event.raw(); raw != nullptr) act(raw);
    });
}

int transfer_info(void* handle, const std::function<int(void*, std::size_t, void*, std::size_t*)>& ask,
                  std::size_t size, void* value, std::size_t* size_ret) {
    return guard([&] {
        auto& event = checked(static_cast<cl_event>(handle), CL_INVALID_EVENT);
        require(!event.is_users() && event.where == nullptr && event.rank >= 0, CL_INVALID_EVENT);
        return answer_of(event.context->job, event.rank, {size, value, size_ret},
                         [&](size_t room, void* where, size_t* used) -> cl_int {
                             const auto raw = event.raw();
                             return raw == nullptr ? CL_INVALID_OPERATION : ask(raw, room, where, used); // not begun
                         });
    });
}

} // namespace causeway::platform
