// SPDX-License-Identifier: Apache-2.0
// Commands that all PEs take part in, and that move bytes.
#include "capi/one_sided.hpp"

#include "endpoints/symmetric/collective_endpoint.hpp"
#include "runtime/guard.hpp"

using namespace causeway;
using namespace causeway::capi;

namespace {

/// Where the bytes of a collective lie, on every PE.
struct collective_places {
    size_t target, source;
};

/// Each PE gathers what `pieces` says. `number` is the call's own.
template <class Pieces> cl_int enqueue_collective(cl_command_type type, const char* name, std::uint64_t number,
                                                  const checked_command& checked, const collective_places& where,
                                                  size_t size, size_t all_bytes, Pieces pieces, cl_bool blocking,
                                                  const event_arguments& events) {
    checked.heap->require_direct(name);
    check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
    endpoints::collective what;
    what.purpose = {.name = name, .number = number, .value = size, .value_name = "the number of bytes", .times = 2};
    what.pieces = std::move(pieces);
    what.target_offset = where.target;
    auto ends = endpoints::make_collective(checked.heap->memory(), std::move(what));
    return enqueue_flow(type, checked, std::move(ends.source), std::move(ends.target), all_bytes, blocking, events);
}

/// A PE still reads what another one would overwrite.
void require_apart(const collective_places& where, size_t target_bytes, size_t source_bytes) {
    if (target_bytes != 0 && source_bytes != 0 && where.target < where.source + source_bytes &&
        where.source < where.target + target_bytes)
        throw transfer_error(status::mem_copy_overlap,
                             "source and target of the collective overlap in the symmetric heap");
}

size_t times(size_t size, int pes) {
    size_t all = 0;
    if (__builtin_mul_overflow(size, static_cast<size_t>(pes), &all))
        throw transfer_error(status::invalid_value,
                             bytes_text(size) + " for each of " + std::to_string(pes) + " PEs are too many");
    return all;
}

} // namespace

cl_int clEnqueueSymmetricBroadcast(cl_command_queue queue, cl_bool blocking, void* target, const void* source,
                                   size_t size, int root, cl_uint num_events_in_wait_list,
                                   const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const auto checked = check_command(queue);
        const collective_places where{checked.heap->locate(target, size, "the target"),
                                      checked.heap->locate(source, size, "the source")};
        if (where.target != where.source) require_apart(where, size, size);
        checked.heap->require_pe(root);
        const auto pieces = [=](const endpoints::meeting_turn&) {
            return std::vector<endpoints::heap_piece>{{root, where.source, size}};
        };
        return enqueue_collective(CL_COMMAND_SYMMETRIC_BROADCAST, "a broadcast",
                                  16 + static_cast<std::uint64_t>(root) * 16, checked, where, size, size, pieces,
                                  blocking, {num_events_in_wait_list, event_wait_list, event});
    });
}

cl_int clEnqueueSymmetricCollect(cl_command_queue queue, cl_bool blocking, void* target, const void* source,
                                 size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                 cl_event* event) {
    return guard([&] {
        const auto checked = check_command(queue);
        const int pes = checked.heap->memory()->pes();
        const auto all = times(size, pes);
        const collective_places where{checked.heap->locate(target, all, "the target"),
                                      checked.heap->locate(source, size, "the source")};
        require_apart(where, all, size);
        const auto pieces = [=](const endpoints::meeting_turn&) {
            std::vector<endpoints::heap_piece> gathered;
            for (int pe = 0; pe < pes; ++pe) gathered.push_back({pe, where.source, size});
            return gathered;
        };
        return enqueue_collective(CL_COMMAND_SYMMETRIC_COLLECT, "a collect", 6, checked, where, size, all, pieces,
                                  blocking, {num_events_in_wait_list, event_wait_list, event});
    });
}

cl_int clEnqueueSymmetricAllToAll(cl_command_queue queue, cl_bool blocking, void* target, const void* source,
                                  size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                  cl_event* event) {
    return guard([&] {
        const auto checked = check_command(queue);
        const auto& heap = *checked.heap->memory();
        const int pes = heap.pes(), own = heap.pe();
        const auto all = times(size, pes);
        const collective_places where{checked.heap->locate(target, all, "the target"),
                                      checked.heap->locate(source, all, "the source")};
        require_apart(where, all, all);
        const auto pieces = [=](const endpoints::meeting_turn&) {
            std::vector<endpoints::heap_piece> gathered;
            for (int pe = 0; pe < pes; ++pe)
                gathered.push_back({pe, where.source + static_cast<size_t>(own) * size, size});
            return gathered;
        };
        return enqueue_collective(CL_COMMAND_SYMMETRIC_ALL_TO_ALL, "an all-to-all", 7, checked, where, size, all,
                                  pieces, blocking, {num_events_in_wait_list, event_wait_list, event});
    });
}
