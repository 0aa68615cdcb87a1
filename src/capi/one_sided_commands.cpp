// SPDX-License-Identifier: Apache-2.0
// Commands that work on the heaps of other PEs, or wait for a word of the own one.
#include "capi/one_sided.hpp"

#include "capi/cluster.hpp"
#include "endpoints/host/host_endpoint.hpp"
#include "runtime/boxes.hpp"
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"

#include <array>
#include <cstdint>
#include <string>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

namespace causeway::capi {

using namespace core;

checked_command check_command(cl_command_queue queue) {
    if (cluster_of(queue) != nullptr)
        throw transfer_error(
            status::invalid_operation,
            "the platform Causeway has no symmetric memory: take a queue of the device's own platform");
    auto checked = check_queue(queue);
    auto heap = symmetric_heap::in_use();
    if (checked.facts.context != heap->context())
        throw transfer_error(status::invalid_context,
                             "the command queue does not belong to the context of causeway_symmetric_init");
    return {checked, std::move(heap)};
}

endpoints::heap_signal check_signal(const symmetric_heap& heap, const uint64_t* signal, uint64_t value,
                                    cl_signal_operation operation) {
    if (operation != CL_SIGNAL_SET && operation != CL_SIGNAL_ADD)
        throw transfer_error(status::invalid_value, "there is no signal operation " + std::to_string(operation));
    return {heap.locate_word(signal, sizeof *signal, "the signal"),
            operation == CL_SIGNAL_SET ? endpoints::heap_signal::operation::set
                                       : endpoints::heap_signal::operation::add,
            value};
}

static const char* name_of(cl_command_type type) {
    static constexpr std::array<const char*, 14> names = {
        "put",   "get",     "put with signal", "signal",    "wait for a signal", "atomic",     "fence",
        "quiet", "barrier", "wait for a word", "broadcast", "collect",           "all-to-all", "reduction"};
    return names.at(type - CL_COMMAND_PUT);
}

cl_int enqueue_flows(cl_command_type type, const checked_command& checked, symmetric_heap::flows flows,
                     cl_bool blocking, const event_arguments& events) {
    new_command made{.type = type, .name = name_of(type), .queues = {checked.queue}, .needs_mpi = true};
    made.flows = std::move(flows);
    return enqueue(std::move(made), blocking, events);
}

cl_int enqueue_flow(cl_command_type type, const checked_command& checked, std::unique_ptr<transfer::endpoint> source,
                    std::unique_ptr<transfer::endpoint> target, size_t bytes, cl_bool blocking,
                    const event_arguments& events) {
    return enqueue_flows(type, checked, one_flow(std::move(source), std::move(target), bytes), blocking, events);
}

/// Of commands without bytes.
cl_int enqueue_wait(cl_command_type type, const checked_command& checked, std::unique_ptr<transfer::endpoint> source,
                    const char* name, cl_bool blocking, const event_arguments& events) {
    check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
    return enqueue_flow(type, checked, std::move(source), endpoints::make_empty_endpoint(name), 0, blocking, events);
}

static std::optional<endpoints::comparison> comparison_of(cl_comparison given) {
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

static void check_word_size(size_t bytes) {
    if (bytes != 4 && bytes != 8)
        throw transfer_error(status::invalid_value, "a word has 4 or 8 bytes, not " + std::to_string(bytes));
}

/// A signed number may come with its sign in all 64 bits.
static bool fits(uint64_t value, size_t bytes, bool is_signed) {
    const auto number = static_cast<int64_t>(value);
    return bytes == sizeof value || value <= UINT32_MAX || (is_signed && number < 0 && number >= INT32_MIN);
}

[[noreturn]] static void refuse_number(const std::string& what, const std::string& number) {
    throw transfer_error(status::invalid_value, what + ", " + number + ", does not fit a word of 4 bytes");
}

endpoints::awaited_word check_word(const symmetric_heap& heap, const void* word, size_t bytes, cl_comparison how,
                                   uint64_t value) {
    check_word_size(bytes);
    const auto known = comparison_of(how);
    if (!known) throw transfer_error(status::invalid_value, "there is no comparison " + std::to_string(how));
    const bool is_signed = (how & CL_COMPARE_SIGNED) != 0;
    const auto offset = heap.locate_word(word, bytes, "the word");
    if (!fits(value, bytes, is_signed))
        refuse_number("the value to compare with",
                      is_signed ? std::to_string(static_cast<int64_t>(value)) : std::to_string(value));
    return {offset, bytes, *known, value, is_signed};
}

endpoints::heap_atomic check_atomic(const symmetric_heap& heap, cl_atomic_operation operation, size_t word_bytes,
                                    const void* word, uint64_t operand, uint64_t compared, int pe) {
    using endpoints::atomic_operation;
    static constexpr atomic_operation known[] = {atomic_operation::fetch,
                                                 atomic_operation::set,
                                                 atomic_operation::add,
                                                 atomic_operation::increment,
                                                 atomic_operation::compare_and_swap,
                                                 atomic_operation::swap,
                                                 atomic_operation::bit_and,
                                                 atomic_operation::bit_or,
                                                 atomic_operation::bit_xor};
    if (operation >= std::size(known))
        throw transfer_error(status::invalid_value, "there is no atomic operation " + std::to_string(operation));
    check_word_size(word_bytes);
    const auto offset = heap.locate_word(word, word_bytes, "the word");
    heap.require_pe(pe);
    const auto what = known[operation];
    if (what == atomic_operation::compare_and_swap && !fits(compared, word_bytes, true))
        refuse_number("the value to compare with", std::to_string(compared));
    return {pe, offset, word_bytes, what, operand, compared};
}

} // namespace causeway::capi

namespace {

struct signal_arguments {
    const uint64_t* word;
    uint64_t value;
    cl_signal_operation operation;
};

/// Rows of a box in memory, by ascending address; a range is one row.
struct rows {
    std::uintptr_t first;
    std::array<size_t, 3> region;
    size_t row_pitch, slice_pitch;

    [[nodiscard]] std::uintptr_t begin_of(size_t row) const {
        return first + row % region[1] * row_pitch + row / region[1] * slice_pitch;
    }
    bool operator==(const rows&) const = default;
};

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

rows range_at(std::uintptr_t first, size_t size) { return {first, {size, 1, 1}, 0, 0}; }

rows box_at(std::uintptr_t base, const endpoints::box& shape) {
    return {base + shape.origin[0] + shape.origin[1] * shape.row_pitch + shape.origin[2] * shape.slice_pitch,
            shape.region, shape.row_pitch, shape.slice_pitch};
}

bool overlap(const rows& a, const rows& b) {
    const auto count = a.region[1] * a.region[2], width = a.region[0];
    for (size_t i = 0, k = 0; i < count && k < count;) {
        const auto x = a.begin_of(i), y = b.begin_of(k);
        if (x + width <= y) {
            ++i;
        } else if (y + width <= x) {
            ++k;
        } else {
            return width != 0;
        }
    }
    return false;
}

/// Bytes of this PE's heap go to other bytes of it in blocks, in any order. Bytes that stay where they are do no harm.
void refuse_overlap(const symmetric_heap& heap, int pe, cl_mem buffer, rows here, const rows& there) {
    if (pe != heap.memory()->pe()) return;
    const auto* const first = heap.address_of(buffer, 0);
    if (first == nullptr) return;
    here.first += number_of(first);
    if (here != there && overlap(here, there))
        throw transfer_error(CL_MEM_COPY_OVERLAP,
                             "source and target overlap: both are in the symmetric heap of this PE, " +
                                 std::to_string(pe));
}

cl_int enqueue_put(cl_command_type type, cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                   size_t size, void* target, std::optional<signal_arguments> signal, int pe,
                   const event_arguments& events) {
    return guard([&] {
        const auto checked = check_command(queue);
        auto location = check_buffer(checked.queue, buffer);
        check_range(location, offset, size);
        // Where nothing goes is not looked at, if there is a signal.
        const bool goes_nowhere = size == 0 && signal;
        const endpoints::heap_location where{pe, goes_nowhere ? 0 : checked.heap->locate(target, size, "the target")};
        checked.heap->require_pe(pe);
        refuse_overlap(*checked.heap, pe, buffer, range_at(offset, size), range_at(number_of(target), size));
        std::optional<endpoints::heap_signal> then;
        if (signal) then = check_signal(*checked.heap, signal->word, signal->value, signal->operation);
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
        check_access(location, host_access::read);
        auto source = endpoints::make_range_endpoint(runtime::instance().devices(), std::move(location), offset);
        return enqueue_flows(type, checked, checked.heap->put(std::move(source), where, size, then), blocking, events);
    });
}

/// The buffer's box and the heap's.
cl_int enqueue_box(cl_command_type type, cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                   const box_arguments& here, const box_arguments& there, const void* address, int pe,
                   const event_arguments& events) {
    return guard([&] {
        const auto checked = check_command(queue);
        auto location = check_buffer(checked.queue, buffer);
        const bool puts = type == CL_COMMAND_PUT;
        const auto shape = check_box(location.buffer_bytes, "the buffer", here);
        const auto base = checked.heap->locate(address, 1, puts ? "the target" : "the source");
        const auto other = check_box(checked.heap->bytes_from(base), "the allocation in the symmetric heap", there);
        checked.heap->require_pe(pe);
        refuse_overlap(*checked.heap, pe, buffer, box_at(0, shape), box_at(number_of(address), other));
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
        check_access(location, puts ? host_access::read : host_access::write);
        const auto first = base + other.origin[0] + other.origin[1] * other.row_pitch +
                           other.origin[2] * other.slice_pitch;
        const endpoints::heap_location where{.pe = pe,
                                             .offset = first,
                                             .is_box = !endpoints::is_dense(other),
                                             .region = other.region,
                                             .row_pitch = other.row_pitch,
                                             .slice_pitch = other.slice_pitch};
        auto device = endpoints::make_box_endpoint(runtime::instance().devices(), std::move(location), shape);
        auto flows = puts ? checked.heap->put(std::move(device), where, shape.bytes())
                          : checked.heap->get(std::move(device), where, shape.bytes());
        return enqueue_flows(type, checked, std::move(flows), blocking, events);
    });
}

/// `count` elements as rows of a box.
box_arguments elements(size_t offset, size_t stride, size_t bytes, size_t count) {
    const auto pitch = stride != 0 ? stride : bytes;
    return {std::array<size_t, 3>{pitch != 0 ? offset % pitch : 0, pitch != 0 ? offset / pitch : 0, 0},
            std::array<size_t, 3>{bytes, count, 1}, pitch, 0};
}

} // namespace

cl_int clEnqueuePut(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void* target,
                    int pe, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return enqueue_put(CL_COMMAND_PUT, queue, buffer, blocking, offset, size, target, {}, pe,
                       {num_events_in_wait_list, event_wait_list, event});
}

cl_int clEnqueuePutSignal(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                          void* target, uint64_t* signal, uint64_t value, cl_signal_operation operation, int pe,
                          cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return enqueue_put(CL_COMMAND_PUT_SIGNAL, queue, buffer, blocking, offset, size, target,
                       signal_arguments{signal, value, operation}, pe,
                       {num_events_in_wait_list, event_wait_list, event});
}

cl_int clEnqueueGet(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                    const void* source, int pe, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                    cl_event* event) {
    return guard([&] {
        const event_arguments events{num_events_in_wait_list, event_wait_list, event};
        const auto checked = check_command(queue);
        auto location = check_buffer(checked.queue, buffer);
        check_range(location, offset, size);
        const endpoints::heap_location where{pe, checked.heap->locate(source, size, "the source")};
        checked.heap->require_pe(pe);
        refuse_overlap(*checked.heap, pe, buffer, range_at(offset, size), range_at(number_of(source), size));
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
        check_access(location, host_access::write);
        auto target = endpoints::make_range_endpoint(runtime::instance().devices(), std::move(location), offset);
        return enqueue_flows(CL_COMMAND_GET, checked, checked.heap->get(std::move(target), where, size), blocking,
                             events);
    });
}

cl_int clEnqueueSignal(cl_command_queue queue, cl_bool blocking, uint64_t* signal, uint64_t value,
                       cl_signal_operation operation, int pe, cl_uint num_events_in_wait_list,
                       const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const event_arguments events{num_events_in_wait_list, event_wait_list, event};
        const auto checked = check_command(queue);
        const auto then = check_signal(*checked.heap, signal, value, operation);
        checked.heap->require_pe(pe);
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
        return enqueue_flows(CL_COMMAND_SIGNAL, checked,
                             checked.heap->put(endpoints::make_empty_endpoint("signal"), {pe, then.offset}, 0, then),
                             blocking, events);
    });
}

cl_int clEnqueueSignalWait(cl_command_queue queue, cl_bool blocking, const uint64_t* signal, cl_comparison comparison,
                           uint64_t value, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                           cl_event* event) {
    return guard([&] {
        const auto checked = check_command(queue);
        const auto word = check_word(*checked.heap, signal, sizeof *signal, comparison, value);
        return enqueue_wait(CL_COMMAND_SIGNAL_WAIT, checked, checked.heap->wait(word), "signal", blocking,
                            {num_events_in_wait_list, event_wait_list, event});
    });
}

cl_int clEnqueueWordWait(cl_command_queue queue, cl_bool blocking, const void* word, size_t word_bytes,
                         cl_comparison comparison, uint64_t value, cl_uint num_events_in_wait_list,
                         const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const auto checked = check_command(queue);
        const auto awaited = check_word(*checked.heap, word, word_bytes, comparison, value);
        return enqueue_wait(CL_COMMAND_WORD_WAIT, checked, checked.heap->wait(awaited), "word", blocking,
                            {num_events_in_wait_list, event_wait_list, event});
    });
}

cl_int clEnqueuePutRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t buffer_origin[3],
                        const size_t target_origin[3], const size_t region[3], size_t buffer_row_pitch,
                        size_t buffer_slice_pitch, size_t target_row_pitch, size_t target_slice_pitch, void* target,
                        int pe, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return enqueue_box(CL_COMMAND_PUT, queue, buffer, blocking,
                       {copy_of(buffer_origin), copy_of(region), buffer_row_pitch, buffer_slice_pitch},
                       {copy_of(target_origin), copy_of(region), target_row_pitch, target_slice_pitch}, target, pe,
                       {num_events_in_wait_list, event_wait_list, event});
}

cl_int clEnqueueGetRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t buffer_origin[3],
                        const size_t source_origin[3], const size_t region[3], size_t buffer_row_pitch,
                        size_t buffer_slice_pitch, size_t source_row_pitch, size_t source_slice_pitch,
                        const void* source, int pe, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                        cl_event* event) {
    return enqueue_box(CL_COMMAND_GET, queue, buffer, blocking,
                       {copy_of(buffer_origin), copy_of(region), buffer_row_pitch, buffer_slice_pitch},
                       {copy_of(source_origin), copy_of(region), source_row_pitch, source_slice_pitch}, source, pe,
                       {num_events_in_wait_list, event_wait_list, event});
}

cl_int clEnqueuePutStrided(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t buffer_stride,
                           void* target, size_t target_stride, size_t element_bytes, size_t count, int pe,
                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return enqueue_box(CL_COMMAND_PUT, queue, buffer, blocking, elements(offset, buffer_stride, element_bytes, count),
                       elements(0, target_stride, element_bytes, count), target, pe,
                       {num_events_in_wait_list, event_wait_list, event});
}

cl_int clEnqueueGetStrided(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t buffer_stride,
                           const void* source, size_t source_stride, size_t element_bytes, size_t count, int pe,
                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return enqueue_box(CL_COMMAND_GET, queue, buffer, blocking, elements(offset, buffer_stride, element_bytes, count),
                       elements(0, source_stride, element_bytes, count), source, pe,
                       {num_events_in_wait_list, event_wait_list, event});
}

cl_int clEnqueueSymmetricAtomic(cl_command_queue queue, cl_bool blocking, cl_atomic_operation operation,
                                size_t word_bytes, void* word, uint64_t operand, uint64_t compared, int pe,
                                cl_mem result, size_t result_offset, cl_uint num_events_in_wait_list,
                                const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const event_arguments events{num_events_in_wait_list, event_wait_list, event};
        const auto checked = check_command(queue);
        const auto what = check_atomic(*checked.heap, operation, word_bytes, word, operand, compared, pe);
        auto source = checked.heap->atomic(what);
        if (result == nullptr)
            return enqueue_wait(CL_COMMAND_SYMMETRIC_ATOMIC, checked, std::move(source), "no result", blocking, events);
        auto location = check_buffer(checked.queue, result);
        check_range(location, result_offset, word_bytes);
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
        check_access(location, host_access::write);
        return enqueue_flow(
            CL_COMMAND_SYMMETRIC_ATOMIC, checked, std::move(source),
            endpoints::make_range_endpoint(runtime::instance().devices(), std::move(location), result_offset),
            word_bytes, blocking, events);
    });
}

cl_int clEnqueueFence(cl_command_queue queue, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                      cl_event* event) {
    return guard([&] {
        const auto checked = check_command(queue);
        return enqueue_wait(CL_COMMAND_FENCE, checked,
                            endpoints::make_fence(checked.heap->memory(), endpoints::fence_kind::fence), "fence",
                            CL_FALSE, {num_events_in_wait_list, event_wait_list, event});
    });
}

cl_int clEnqueueQuiet(cl_command_queue queue, cl_bool blocking, cl_uint num_events_in_wait_list,
                      const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const auto checked = check_command(queue);
        return enqueue_wait(CL_COMMAND_QUIET, checked,
                            endpoints::make_fence(checked.heap->memory(), endpoints::fence_kind::quiet), "quiet",
                            blocking, {num_events_in_wait_list, event_wait_list, event});
    });
}

cl_int clEnqueueSymmetricBarrier(cl_command_queue queue, cl_bool blocking, cl_uint num_events_in_wait_list,
                                 const cl_event* event_wait_list, cl_event* event) {
    return take_part(barrier_purpose.name, barrier_purpose.times, [&] {
        const auto checked = check_command(queue);
        return enqueue_wait(CL_COMMAND_SYMMETRIC_BARRIER, checked,
                            endpoints::make_meeting(checked.heap->memory(), barrier_purpose), "barrier", blocking,
                            {num_events_in_wait_list, event_wait_list, event});
    });
}
