// SPDX-License-Identifier: Apache-2.0
// Commands that all PEs take part in, and that move bytes.
#include "capi/one_sided.hpp"

#include "runtime/heap_reduction.hpp"

#include <array>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

namespace {

/// Where the bytes of a collective lie, on every PE.
struct collective_locations {
    size_t target, source;
};

constexpr int meetings_to_move = 2, meetings_to_reduce = 3;

/// Each PE gathers what `pieces` says. `number` is the call's own.
template <class Pieces> cl_int enqueue_collective(cl_command_type type, const char* name, std::uint64_t number,
                                                  const checked_command& checked, const collective_locations& where,
                                                  size_t size, size_t all_bytes, Pieces pieces, cl_bool blocking,
                                                  const event_arguments& events) {
    check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);
    endpoints::collective what;
    what.purpose = {.name = name,
                    .number = number,
                    .number_name = "the root",
                    .value = size,
                    .value_name = "the number of bytes",
                    .target = where.target,
                    .source = where.source,
                    .times = meetings_to_move};
    what.pieces = std::move(pieces);
    return enqueue_flows(type, checked, checked.heap->collective(std::move(what), where.target, all_bytes), blocking,
                         events);
}

/// A PE still reads what another one would overwrite.
void require_apart(const collective_locations& where, size_t target_bytes, size_t source_bytes) {
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

struct element {
    const char *type, *wrapping; ///< in OpenCL C; `wrapping` has its bits, and no overflow that is undefined
    size_t bytes;
    bool is_integer;
};
constexpr std::array<element, 10> elements{{{"char", "uchar", 1, true},
                                            {"uchar", "uchar", 1, true},
                                            {"short", "ushort", 2, true},
                                            {"ushort", "ushort", 2, true},
                                            {"int", "uint", 4, true},
                                            {"uint", "uint", 4, true},
                                            {"long", "ulong", 8, true},
                                            {"ulong", "ulong", 8, true},
                                            {"float", "float", 4, false},
                                            {"double", "double", 8, false}}};
struct reduction {
    const char* combine;
    bool needs_sign, needs_integers;
};
constexpr std::array<reduction, 7> reductions{{{"a + b", false, false},
                                               {"a * b", false, false},
                                               {"b < a ? b : a", true, false},
                                               {"a < b ? b : a", true, false},
                                               {"a & b", false, true},
                                               {"a | b", false, true},
                                               {"a ^ b", false, true}}};

size_t locate_elements(const symmetric_heap& heap, const void* address, size_t count, size_t element_bytes,
                       const char* what) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, element_bytes, &bytes))
        throw transfer_error(status::invalid_value, std::to_string(count) + " elements are too many");
    const auto offset = heap.locate(address, bytes, what);
    if (offset % element_bytes != 0)
        throw transfer_error(status::invalid_value,
                             std::string(what) + " is misaligned: its offset in the symmetric heap, " +
                                 std::to_string(offset) + ", is no multiple of " + std::to_string(element_bytes));
    return offset;
}

} // namespace

cl_int clEnqueueSymmetricBroadcast(cl_command_queue queue, cl_bool blocking, void* target, const void* source,
                                   size_t size, int root, cl_uint num_events_in_wait_list,
                                   const cl_event* event_wait_list, cl_event* event) {
    return take_part("a broadcast", meetings_to_move, [&] {
        const auto checked = check_command(queue);
        const collective_locations where{checked.heap->locate(target, size, "the target"),
                                         checked.heap->locate(source, size, "the source")};
        if (where.target != where.source) require_apart(where, size, size);
        checked.heap->require_pe(root);
        const bool has_it = where.target == where.source && root == checked.heap->memory()->pe();
        const auto pieces = [=](const endpoints::meeting_turn&) {
            std::vector<endpoints::heap_piece> gathered;
            if (!has_it) gathered.push_back({root, where.source, size});
            return gathered;
        };
        return enqueue_collective(CL_COMMAND_SYMMETRIC_BROADCAST, "a broadcast",
                                  16 + static_cast<std::uint64_t>(root) * 16, checked, where, size, size, pieces,
                                  blocking, {num_events_in_wait_list, event_wait_list, event});
    });
}

cl_int clEnqueueSymmetricCollect(cl_command_queue queue, cl_bool blocking, void* target, const void* source,
                                 size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                 cl_event* event) {
    return take_part("a collect", meetings_to_move, [&] {
        const auto checked = check_command(queue);
        const int pes = checked.heap->memory()->pes();
        const auto all = times(size, pes);
        const collective_locations where{checked.heap->locate(target, all, "the target"),
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
    return take_part("an all-to-all", meetings_to_move, [&] {
        const auto checked = check_command(queue);
        const auto& heap = *checked.heap->memory();
        const int pes = heap.pes(), own = heap.pe();
        const auto all = times(size, pes);
        const collective_locations where{checked.heap->locate(target, all, "the target"),
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

cl_int clEnqueueSymmetricReduce(cl_command_queue queue, cl_bool blocking, void* target, const void* source,
                                size_t count, cl_element_type type, cl_reduction operation,
                                cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return take_part("a reduction", meetings_to_reduce, [&] {
        const event_arguments events{num_events_in_wait_list, event_wait_list, event};
        const auto checked = check_command(queue);
        if (type >= elements.size())
            throw transfer_error(status::invalid_value, "there is no element type " + std::to_string(type));
        if (operation >= reductions.size())
            throw transfer_error(status::invalid_value, "there is no reduction " + std::to_string(operation));
        const auto& each = elements[type];
        const auto& how = reductions[operation];
        if (how.needs_integers && !each.is_integer)
            throw transfer_error(status::invalid_value,
                                 std::string("a reduction by bits of ") + each.type + ", which is no integer");
        const collective_locations where{locate_elements(*checked.heap, target, count, each.bytes, "the target"),
                                         locate_elements(*checked.heap, source, count, each.bytes, "the source")};
        if (where.target != where.source) require_apart(where, count * each.bytes, count * each.bytes);
        check_wait_list(events, checked.queue.facts.context, checked.queue.facts.context);

        const int pes = checked.heap->memory()->pes(), own = checked.heap->memory()->pe();
        const auto begin_of = [=](int which_pe) {
            const auto all = static_cast<size_t>(pes), which = static_cast<size_t>(which_pe);
            return (count / all * which + count % all * which / all) * each.bytes;
        };
        const auto work = std::make_shared<heap_reduction>(
            checked.heap,
            reduced_slice{where.source + begin_of(own), where.target + begin_of(own), each.bytes,
                          (begin_of(own + 1) - begin_of(own)) / each.bytes},
            how.needs_sign ? each.type : each.wrapping, how.combine);
        endpoints::collective what;
        what.purpose = {.name = "a reduction",
                        .number = 9 + 16 * (std::uint64_t{type} * reductions.size() + operation),
                        .number_name = "the element type or the operation",
                        .value = count,
                        .value_name = "the number of elements",
                        .target = where.target,
                        .source = where.source,
                        .times = meetings_to_reduce};
        what.compute = [work](transfer::step& done) { work->start(done); };
        what.pieces = [=](const endpoints::meeting_turn&) {
            std::vector<endpoints::heap_piece> slices;
            for (int pe = 0; pe < pes; ++pe)
                slices.push_back({pe, where.target + begin_of(pe), begin_of(pe + 1) - begin_of(pe)});
            return slices;
        };
        return enqueue_flows(CL_COMMAND_SYMMETRIC_REDUCE, checked,
                             checked.heap->collective(std::move(what), where.target, count * each.bytes), blocking,
                             events);
    });
}
