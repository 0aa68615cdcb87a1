// SPDX-License-Identifier: Apache-2.0
// Symmetric memory, and the commands that work on that of other PEs.
#include "capi/cluster.hpp"
#include "endpoints/host/host_endpoint.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"
#include "runtime/symmetric_heap.hpp"

#include <causeway/symmetric.h>

#include <cstring>
#include <optional>
#include <string>

using namespace causeway;
using namespace causeway::capi;

namespace {

/// What every one-sided command begins with.
struct checked_command {
    checked_queue queue;
    std::shared_ptr<symmetric_heap> heap;
};

checked_command check_command(cl_command_queue queue) {
    if (cluster_of(queue) != nullptr)
        throw transfer_error(status::invalid_operation,
                             "the platform Causeway has no symmetric memory: take a queue of the device's own platform");
    auto checked = check_queue(queue);
    auto heap = symmetric_heap::of_process();
    if (checked.facts.context != heap->context())
        throw transfer_error(status::invalid_context, "the command queue does not belong to the context of causeway_symmetric_init");
    return {checked, std::move(heap)};
}

endpoints::heap_signal check_signal(const symmetric_heap& heap, const uint64_t* signal, uint64_t value, cl_signal_operation operation) {
    if (operation != CL_SIGNAL_SET && operation != CL_SIGNAL_ADD)
        throw transfer_error(status::invalid_value, "there is no signal operation " + std::to_string(operation));
    return {heap.locate_word(signal, sizeof *signal, "the signal"),
            operation == CL_SIGNAL_SET ? endpoints::heap_signal::operation::set : endpoints::heap_signal::operation::add, value};
}

cl_int enqueue_flow(cl_command_type type, const checked_command& checked, std::unique_ptr<transfer::endpoint> source,
                    std::unique_ptr<transfer::endpoint> target, size_t bytes, cl_bool blocking, const event_arguments& events) {
    new_command made{.type = type, .queues = {checked.queue}, .needs_mpi = true};
    made.flows = one_flow(std::move(source), std::move(target), bytes);
    return enqueue(std::move(made), blocking, events);
}

/// Of commands without bytes.
cl_int enqueue_wait(cl_command_type type, const checked_command& checked, std::unique_ptr<transfer::endpoint> source, const char* name,
                    cl_bool blocking, const event_arguments& events) {
    check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
    return enqueue_flow(type, checked, std::move(source), endpoints::make_empty_endpoint(name), 0, blocking, events);
}

struct signal_arguments {
    const uint64_t* word;
    uint64_t value;
    cl_signal_operation operation;
};

cl_int enqueue_put(cl_command_type type, cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                   void* target, std::optional<signal_arguments> signal, int pe, const event_arguments& events) {
    return guard([&] {
        const auto checked = check_command(queue);
        auto place = check_buffer(checked.queue, buffer);
        check_range(place, offset, size);
        const endpoints::heap_place where{pe, checked.heap->locate(target, size, "the target")};
        checked.heap->require_pe(pe);
        std::optional<endpoints::heap_signal> then;
        if (signal) then = check_signal(*checked.heap, signal->word, signal->value, signal->operation);
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
        check_access(place, host_access::read);
        return enqueue_flow(type, checked, endpoints::make_range_endpoint(runtime::instance().devices(), std::move(place), offset),
                            endpoints::make_put_target(checked.heap->memory(), where, then), size, blocking, events);
    });
}

std::optional<endpoints::comparison> comparison_of(cl_comparison given) {
    using endpoints::comparison;
    switch (given & ~cl_comparison{CL_COMPARE_SIGNED}) {
    case CL_COMPARE_EQ: return comparison::equal;
    case CL_COMPARE_NE: return comparison::not_equal;
    case CL_COMPARE_GT: return comparison::greater;
    case CL_COMPARE_GE: return comparison::greater_or_equal;
    case CL_COMPARE_LT: return comparison::less;
    case CL_COMPARE_LE: return comparison::less_or_equal;
    default: return {};
    }
}

endpoints::awaited_word check_word(const symmetric_heap& heap, const void* word, size_t bytes, cl_comparison how, uint64_t value) {
    const auto known = comparison_of(how);
    if (!known) throw transfer_error(status::invalid_value, "there is no comparison " + std::to_string(how));
    return {heap.locate_word(word, bytes, "the word"), bytes, *known, value, (how & CL_COMPARE_SIGNED) != 0};
}

/// Null, with the text of the failure, for what throws.
template <class Action> void* address_or_null(Action action) {
    void* found = nullptr;
    (void)guard([&] {
        found = action();
        return CL_SUCCESS;
    });
    return found;
}

} // namespace

cl_int causeway_symmetric_init(cl_context context, cl_device_id device, MPI_Comm comm, size_t heap_bytes) {
    return guard([&] {
        symmetric_heap::start(context, device, comm, heap_bytes);
        return CL_SUCCESS;
    });
}

cl_int causeway_symmetric_finalize(void) {
    return guard([&] {
        symmetric_heap::finish();
        return CL_SUCCESS;
    });
}

int causeway_symmetric_pe(void) {
    const auto heap = symmetric_heap::of_process_if_any();
    return heap ? heap->memory()->pe() : -1;
}

int causeway_symmetric_pes(void) {
    const auto heap = symmetric_heap::of_process_if_any();
    return heap ? heap->memory()->pes() : -1;
}

void* causeway_symmetric_malloc(size_t bytes) {
    return causeway_symmetric_align(1, bytes);
}

void* causeway_symmetric_align(size_t alignment, size_t bytes) {
    return address_or_null([&] { return symmetric_heap::of_process()->allocate(bytes, alignment); });
}

void* causeway_symmetric_calloc(size_t count, size_t bytes) {
    return address_or_null([&]() -> void* {
        size_t all = 0;
        if (__builtin_mul_overflow(count, bytes, &all)) throw transfer_error(status::invalid_value, "count times bytes is too large");
        const auto heap = symmetric_heap::of_process();
        auto* const made = heap->allocate(all, 1);
        if (made != nullptr) std::memset(made, 0, all);
        // Nobody puts there before it is zero.
        heap->meet({.name = "causeway_symmetric_calloc", .number = 4});
        return made;
    });
}

cl_int causeway_symmetric_free(void* address) {
    return guard([&] {
        symmetric_heap::of_process()->free(address);
        return CL_SUCCESS;
    });
}

cl_mem causeway_symmetric_buffer(const void* address, size_t* offset, cl_int* errcode_ret) {
    cl_mem found = nullptr;
    const auto code = guard([&] {
        const auto heap = symmetric_heap::of_process();
        const auto where = heap->locate(address, 0, "the address");
        if (offset != nullptr) *offset = where;
        found = heap->buffer();
        return CL_SUCCESS;
    });
    if (errcode_ret != nullptr) *errcode_ret = code;
    return found;
}

void* causeway_symmetric_address(cl_mem buffer, size_t offset) {
    return address_or_null([&] {
        auto* const found = symmetric_heap::of_process()->address_of(buffer, offset);
        if (found == nullptr) throw transfer_error(status::invalid_value, "the buffer is not of the symmetric heap, or the offset is beyond its end");
        return found;
    });
}

cl_int clEnqueuePut(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void* target, int pe,
                    cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return enqueue_put(CL_COMMAND_PUT, queue, buffer, blocking, offset, size, target, {}, pe,
                       {num_events_in_wait_list, event_wait_list, event});
}

cl_int clEnqueuePutSignal(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void* target,
                          uint64_t* signal, uint64_t value, cl_signal_operation operation, int pe, cl_uint num_events_in_wait_list,
                          const cl_event* event_wait_list, cl_event* event) {
    return enqueue_put(CL_COMMAND_PUT_SIGNAL, queue, buffer, blocking, offset, size, target, signal_arguments{signal, value, operation}, pe,
                       {num_events_in_wait_list, event_wait_list, event});
}

cl_int clEnqueueGet(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void* source, int pe,
                    cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const event_arguments events{num_events_in_wait_list, event_wait_list, event};
        const auto checked = check_command(queue);
        auto place = check_buffer(checked.queue, buffer);
        check_range(place, offset, size);
        const endpoints::heap_place where{pe, checked.heap->locate(source, size, "the source")};
        checked.heap->require_pe(pe);
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
        check_access(place, host_access::write);
        return enqueue_flow(CL_COMMAND_GET, checked, endpoints::make_get_source(checked.heap->memory(), where),
                            endpoints::make_range_endpoint(runtime::instance().devices(), std::move(place), offset), size, blocking, events);
    });
}

cl_int clEnqueueSignal(cl_command_queue queue, cl_bool blocking, uint64_t* signal, uint64_t value, cl_signal_operation operation, int pe,
                       cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const event_arguments events{num_events_in_wait_list, event_wait_list, event};
        const auto checked = check_command(queue);
        const auto then = check_signal(*checked.heap, signal, value, operation);
        checked.heap->require_pe(pe);
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
        return enqueue_flow(CL_COMMAND_SIGNAL, checked, endpoints::make_empty_endpoint("signal"),
                            endpoints::make_put_target(checked.heap->memory(), {pe, then.offset}, then), 0, blocking, events);
    });
}

cl_int clEnqueueSignalWait(cl_command_queue queue, cl_bool blocking, const uint64_t* signal, cl_comparison comparison, uint64_t value,
                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const auto checked = check_command(queue);
        const auto word = check_word(*checked.heap, signal, sizeof *signal, comparison, value);
        return enqueue_wait(CL_COMMAND_SIGNAL_WAIT, checked, endpoints::make_word_wait(checked.heap->memory(), word), "signal", blocking,
                            {num_events_in_wait_list, event_wait_list, event});
    });
}
