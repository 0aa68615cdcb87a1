// SPDX-License-Identifier: Apache-2.0
// Command queues, events, and waiting for them.
#include "platform/queue.hpp"

#include "platform/behind.hpp"
#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/driver_queues.hpp"
#include "platform/entry_points.hpp"
#include "platform/observer.hpp"
#include "platform/scheduler.hpp"

#include <algorithm>

using namespace causeway::platform;

_cl_command_queue::_cl_command_queue(owner whose, _cl_context& of, _cl_device_id& on, driver_context& at,
                                     cl_command_queue_properties as)
    : object(own_kind), context(of), held_context(whose == owner::program ? &of : nullptr), device(&on), where(at),
      driver(*at.from), properties(as) {
    if (!at.here) return;
    if (!observer::all().empty()) as |= CL_QUEUE_PROFILING_ENABLE;
    cl_int code = CL_SUCCESS;
    raw = driver_object<cl_command_queue>(where.calls().clCreateCommandQueue(where.context.raw(), on.raw, as, &code));
    check(code);
    if (!context.job.is_alone()) driver_queues::of_process().add(raw.raw());
}

_cl_command_queue::~_cl_command_queue() {
    if (!raw) return;
    const bool is_finished = driver.quirks.hangs_in_last_release && !in_order();
    if (is_finished) (void)raw.calls().clFinish(raw.raw());
    if (!context.job.is_alone()) driver_queues::of_process().remove(raw.raw(), is_finished);
}

namespace causeway::platform::entry {

namespace {

/// cl_khr_priority_hints and cl_khr_throttle_hints: one of three values, which need not mean anything.
bool is_hint(cl_queue_properties name, cl_queue_properties value) {
    return (name == CL_QUEUE_PRIORITY_KHR || name == CL_QUEUE_THROTTLE_KHR) && (value == 1 || value == 2 || value == 4);
}

ref<_cl_command_queue> create(cl_context context, cl_device_id device, cl_command_queue_properties properties) {
    auto& of = checked(context, CL_INVALID_CONTEXT);
    auto& on = checked(device, CL_INVALID_DEVICE);
    auto& at = of.driver_context_of(of.device_of(on));
    constexpr cl_command_queue_properties known = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    require((properties & ~known) == 0, CL_INVALID_VALUE);
    return ref<_cl_command_queue>::adopt(
        new _cl_command_queue(_cl_command_queue::owner::program, of, on, at, properties));
}

} // namespace

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int* code) {
    return make_everywhere(code, [&] { return create(context, device, properties); });
}

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties* list, cl_int* code) {
    return make_everywhere(code, [&] {
        cl_command_queue_properties properties = 0;
        std::vector<cl_queue_properties> given;
        if (list != nullptr) {
            for (; *list != 0; list += 2) {
                const bool only_advises = is_hint(list[0], list[1]);
                require(list[0] == CL_QUEUE_PROPERTIES || list[0] == CL_QUEUE_SIZE || only_advises, CL_INVALID_VALUE);
                require(only_advises || (list[0] == CL_QUEUE_PROPERTIES &&
                                         (list[1] & (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)) == 0),
                        CL_INVALID_QUEUE_PROPERTIES);
                if (!only_advises) properties = list[1];
                note(list[1]);
                given.insert(given.end(), {list[0], list[1]});
            }
            given.push_back(0);
        }
        auto made = create(context, device, properties);
        made->property_list = std::move(given);
        return made;
    });
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) { return retain(queue, CL_INVALID_COMMAND_QUEUE); }

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
    if (queue == nullptr || !queue->is(kind::queue)) return CL_INVALID_COMMAND_QUEUE;
    queue->flush(); // as the specification has it
    // The last that its driver may be asked of its commands, if nobody waits for anything any more.
    for (auto* const each : observer::all()) each->settle();
    if (queue->references() == 1) let_go_when_over(*queue);
    return release(queue, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue handle, cl_command_queue_info name, size_t size, void* value,
                                         size_t* size_ret) {
    return guard([&] {
        const auto& queue = checked(handle, CL_INVALID_COMMAND_QUEUE);
        const answer to(size, value, size_ret);
        switch (name) {
        case CL_QUEUE_CONTEXT: return to(static_cast<cl_context>(&queue.context));
        case CL_QUEUE_DEVICE: return to(static_cast<cl_device_id>(queue.device.get()));
        case CL_QUEUE_REFERENCE_COUNT: return to(queue.references());
        case CL_QUEUE_PROPERTIES: return to(queue.properties);
        case CL_QUEUE_PROPERTIES_ARRAY: return to.list(std::span<const cl_queue_properties>(queue.property_list));
        case CL_QUEUE_DEVICE_DEFAULT: return to(static_cast<cl_command_queue>(nullptr));
        case CL_QUEUE_SIZE: return CL_INVALID_COMMAND_QUEUE;
        default: return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clFlush(cl_command_queue handle) {
    return guard([&] {
        auto& queue = checked(handle, CL_INVALID_COMMAND_QUEUE);
        // Commands that still wait are flushed when their turn comes.
        return queue.raw ? queue.calls().clFlush(queue.raw.raw()) : CL_SUCCESS;
    });
}

namespace {

cl_int finish_by_driver(const _cl_command_queue& queue) {
    const watchdog::wait waiting("a driver that finishes a queue");
    return queue.calls().clFinish(queue.raw.raw());
}

} // namespace

cl_int CL_API_CALL clFinish(cl_command_queue handle) {
    return guard([&] {
        auto& queue = checked(handle, CL_INVALID_COMMAND_QUEUE);
        if (queue.raw) scheduler::of_process().wait_for_turns(queue);
        auto code = queue.raw ? finish_by_driver(queue) : CL_SUCCESS;
        scheduler::of_process().wait_for_outcomes(queue);
        if (const auto refused = queue.refused.exchange(CL_SUCCESS); code == CL_SUCCESS) code = refused;
        auto& job = queue.context.job;
        if (job.is_alone()) return code;
        struct {
            cl_int code;
            bool passes_users;
        } found{code, queue.where.here && passes_users(queue, all_behind(queue))};
        if (!job.is_over()) found = job.from(queue.where.rank, found);
        wait_for_all(all_behind(queue), found.passes_users);
        for (auto* const each : observer::all()) each->settle();
        return found.code;
    });
}

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* code) {
    return make(code, [&] { return ref<_cl_event>::adopt(new _cl_event(checked(context, CL_INVALID_CONTEXT))); });
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event handle, cl_int status) {
    return guard([&]() -> cl_int {
        auto& event = checked(handle, CL_INVALID_EVENT);
        require(event.is_users(), CL_INVALID_EVENT);
        require(status <= CL_COMPLETE, CL_INVALID_VALUE);
        scheduler::of_process().set(event, status);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clRetainEvent(cl_event event) { return retain(event, CL_INVALID_EVENT); }
cl_int CL_API_CALL clReleaseEvent(cl_event event) { return release(event, CL_INVALID_EVENT); }

cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* list) {
    return guard([&]() -> cl_int {
        require(count != 0 && list != nullptr, CL_INVALID_VALUE);
        const auto& context = checked(list[0], CL_INVALID_EVENT).context;
        for (cl_uint i = 0; i < count; ++i) {
            require(checked(list[i], CL_INVALID_EVENT).context.get() == context.get(), CL_INVALID_CONTEXT);
            note(*list[i]);
        }
        // All are set going before the first is waited for.
        for (cl_uint i = 0; i < count; ++i)
            if (list[i]->raw() != nullptr && list[i]->known_end() > CL_COMPLETE) list[i]->queue->flush();
        bool failed = false;
        for (cl_uint i = 0; i < count; ++i) {
            if (!context->job.is_alone()) {
                failed = wait_everywhere(*list[i]) < CL_COMPLETE || failed;
                continue;
            }
            scheduler::of_process().wait_for(*list[i]);
            failed = failed || list[i]->status() < CL_COMPLETE;
        }
        return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
    });
}

namespace {

/// Whether the answer has to be the same on every rank, or their programs would part.
bool asks_owner(const _cl_event& event) {
    const auto& job = event.context->job;
    if (job.is_alone() || event.is_users() || cluster::callback::is_running()) return false;
    if (job.is_dry_run()) return false; // this rank knows how each command ends
    return !job.is_over() || event.known_end() > CL_COMPLETE;
}

cl_int status_everywhere(_cl_event& event) {
    if (!asks_owner(event)) return event.seen_status();
    auto& job = event.context->job;
    const auto owner = event.owner();
    struct {
        cl_int status = CL_QUEUED;
        bool passes_users = false;
    } found;
    if (owner == job.rank()) found = {event.status(), passes_users(event)};
    found = job.from(owner, found);
    const auto status = found.status;
    if (status > CL_COMPLETE) return status;
    wait_for_all(event.behind, found.passes_users); // their bytes are still on their way here
    if (owner == job.rank()) return status;
    if (event.rank < 0)
        scheduler::of_process().wait_for(event);
    else
        end_here(event, status, found.passes_users);
    return status;
}

/// A program that asks until the status is another one waits, for the watchdog.
cl_int asked_status(_cl_event& event) {
    if (event.context->job.is_alone() || cluster::callback::is_running()) return status_everywhere(event);
    watchdog::question asking;
    const auto status = status_everywhere(event);
    if (event.told_program.exchange(status, std::memory_order_relaxed) != status)
        watchdog::of_process().moved();
    else if (status > CL_COMPLETE)
        asking.was_in_vain();
    return status;
}

/// Times of a command that ran; of another rank if it ran there.
cl_int profiling_info(_cl_event& event, cl_profiling_info name, const answer& to) {
    struct {
        cl_int code;
        cl_ulong time = 0;
    } found{};
    found.code = event.known_time(name, found.time);
    if (asks_owner(event)) found = event.context->job.from(event.owner(), found);
    return found.code == CL_SUCCESS ? to(found.time) : found.code;
}

} // namespace

cl_int CL_API_CALL clGetEventInfo(cl_event handle, cl_event_info name, size_t size, void* value, size_t* size_ret) {
    return guard([&] {
        auto& event = checked(handle, CL_INVALID_EVENT);
        const answer to(size, value, size_ret);
        switch (name) {
        case CL_EVENT_COMMAND_QUEUE: return to(static_cast<cl_command_queue>(event.queue.get()));
        case CL_EVENT_CONTEXT: return to(static_cast<cl_context>(event.context.get()));
        case CL_EVENT_COMMAND_TYPE: return to(event.type);
        case CL_EVENT_COMMAND_EXECUTION_STATUS: return to(asked_status(event));
        case CL_EVENT_REFERENCE_COUNT: return to(event.references());
        default: return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clSetEventCallback(cl_event handle, cl_int at, void(CL_CALLBACK* call)(cl_event, cl_int, void*),
                                      void* data) {
    return guard([&]() -> cl_int {
        auto& event = checked(handle, CL_INVALID_EVENT);
        require(call != nullptr && at >= CL_COMPLETE && at <= CL_SUBMITTED, CL_INVALID_VALUE);
        if (!event.context->job.is_alone()) {
            const std::lock_guard lock(event.context->order);
            tell_all(event);
        }
        scheduler::of_process().call_back(event, {at, call, data});
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event handle, cl_profiling_info name, size_t size, void* value,
                                           size_t* size_ret) {
    return guard([&] {
        auto& event = checked(handle, CL_INVALID_EVENT);
        return profiling_info(event, name, {size, value, size_ret});
    });
}

} // namespace causeway::platform::entry
