// SPDX-License-Identifier: Apache-2.0
// The nine collective commands: what goes where.
#include "base/box_geometry.hpp"
#include "platform/collectives.hpp"
#include "platform/entry_points.hpp"

#include <CL/cl_cluster.h>

#include <optional>

namespace causeway::platform {

namespace {

/// Buffers, of each of which a collective uses as many bytes. A null list of offsets is one of zeros.
struct buffers {
    cl_uint count;
    const cl_mem* list;
    const size_t* offsets;
    size_t bytes;

    [[nodiscard]] _cl_mem& operator[](cl_uint i) const { return *list[i]; }
    [[nodiscard]] size_t offset(cl_uint i) const { return offsets == nullptr ? 0 : offsets[i]; }
};

/// What all nine have.
struct collective_call {
    cl_command_type type;
    std::span<const cl_command_queue> queues;
    buffers source, target;
    size_t bytes;
    std::optional<reduction> how;
    cl_uint wait_count;
    const cl_event* waits;
    cl_event* list;
};

/// Throws unless all are queues of one context.
_cl_context& check_queues(std::span<const cl_command_queue> queues) {
    require(!queues.empty() && queues.data() != nullptr, CL_INVALID_VALUE);
    auto& context = checked(queues.front(), CL_INVALID_COMMAND_QUEUE).context;
    for (auto* const queue : queues) {
        require(&checked(queue, CL_INVALID_COMMAND_QUEUE).context == &context, CL_INVALID_CONTEXT);
        note(*queue);
    }
    return context;
}

void check_buffers(const buffers& all, const _cl_context& context) {
    require(all.count != 0 && all.list != nullptr, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < all.count; ++i) {
        auto& buffer = checked(all.list[i], CL_INVALID_MEM_OBJECT);
        require(!buffer.is_image(), CL_INVALID_MEM_OBJECT);
        require(buffer.context.get() == &context, CL_INVALID_CONTEXT);
        const auto offset = all.offset(i);
        require(has_range(buffer.size, offset, all.bytes), CL_INVALID_VALUE);
        note(buffer);
        note(offset);
    }
}

/// Throws CL_MEM_COPY_OVERLAP where a target would overwrite bytes that are still to be read, or a driver refuses to
/// copy onto itself. Reductions may overlap, because sums are made in buffers of their own. In a scan, target i may
/// overlap only source i, because the other sources may not have been read yet.
void check_overlaps(const collective_call& call) {
    if (call.type == CL_COMMAND_REDUCE_BUFFER || call.type == CL_COMMAND_ALL_REDUCE_BUFFER) return;
    const auto& source = call.source;
    const auto& target = call.target;
    for (cl_uint i = 0; i < source.count; ++i)
        for (cl_uint j = 0; j < target.count; ++j) {
            if (&source[i].root() != &target[j].root() || (call.type == CL_COMMAND_SCAN_BUFFER && i == j)) continue;
            const auto from = source[i].offset + source.offset(i);
            const auto to = target[j].offset + target.offset(j);
            require(from + source.bytes <= to || to + target.bytes <= from, CL_MEM_COPY_OVERLAP);
        }
}

using events = std::vector<ref<_cl_event>>;

/// Checks the arguments, and gives the program what `enqueue(the collective)` makes.
template <class Enqueue> cl_int run(const collective_call& call, Enqueue enqueue) {
    return guard([&]() -> cl_int {
        const auto& context = check_queues(call.queues);
        check_buffers(call.source, context);
        check_buffers(call.target, context);
        check_overlaps(call);
        if (call.how) {
            check_reduction(*call.how, context);
            require(call.bytes % element_size(*call.how) == 0, CL_INVALID_VALUE);
        }
        const collective all(call.queues, call.type, call.bytes, call.wait_count, call.waits);
        events made = enqueue(all);
        all.give(made, call.list);
        return CL_SUCCESS;
    });
}

/// All bytes of `count` parts; more than any buffer has if that is no number.
size_t bytes_of(cl_uint count, size_t bytes) {
    size_t product = 0;
    return __builtin_mul_overflow(bytes, count, &product) ? SIZE_MAX : product;
}

/// The operands of a reduction whose result goes to destination `first`.
std::vector<collective_part> addends(const collective& all, const buffers& source, cl_uint first, size_t further,
                                     const cl_command_queue* queues) {
    std::vector<collective_part> parts;
    for (cl_uint i = 0; i < source.count; ++i) {
        const auto at = (first + i) % source.count;
        parts.push_back(all.addend_of(source[at], source.offset(at) + further, *queues[at]));
    }
    return parts;
}

/// The same part to each target.
events deliver_to_all(const collective& all, const collective_part& part, const buffers& target,
                      const cl_command_queue* queues) {
    events made;
    for (cl_uint i = 0; i < target.count; ++i)
        made.push_back(all.deliver(part, *queues[i], target[i], target.offset(i)));
    return made;
}

/// Its own part to each target.
events deliver_each(const collective& all, const std::vector<collective_part>& parts, const buffers& target,
                    const cl_command_queue* queues) {
    events made;
    for (cl_uint i = 0; i < target.count; ++i)
        made.push_back(all.deliver(parts[i], *queues[i], target[i], target.offset(i)));
    return made;
}

/// Part i for each target j, part_for(i, j), one behind the other. In rounds, so that no rank is everybody's next at
/// once.
template <class PartFor> events deliver_in_rounds(const collective& all, const collective_call& call,
                                                  PartFor part_for) {
    const auto& target = call.target;
    std::vector<events> delivered(target.count);
    for (cl_uint round = 0; round < target.count; ++round)
        for (cl_uint j = 0; j < target.count; ++j) {
            const auto i = (j + round) % target.count;
            delivered[j].push_back(
                all.deliver(part_for(i, j), *call.queues[j], target[j], target.offset(j) + i * call.bytes));
        }
    events made;
    for (cl_uint j = 0; j < target.count; ++j) made.push_back(all.all(*call.queues[j], delivered[j]));
    return made;
}

/// Bytes that several devices want: where contents move, copied out once.
collective_part shared_part(const collective& all, _cl_mem& source, size_t offset, _cl_command_queue& on) {
    return on.context.spans() ? all.addend_of(source, offset, on) : all.part_of(source, offset, on);
}

} // namespace

cl_int CL_API_CALL enqueue_broadcast(cl_command_queue* queues, cl_mem source, cl_uint count, cl_mem* targets,
                                     size_t from, size_t* to, size_t bytes, cl_uint wait_count, const cl_event* waits,
                                     cl_event* list) {
    const collective_call call{CL_COMMAND_BROADCAST_BUFFER,
                               {queues, count},
                               {1, &source, &from, bytes},
                               {count, targets, to, bytes},
                               bytes,
                               {},
                               wait_count,
                               waits,
                               list};
    return run(call, [&](const collective& all) {
        return deliver_to_all(all, shared_part(all, *source, from, *queues[0]), call.target, queues);
    });
}

cl_int CL_API_CALL enqueue_scatter(cl_command_queue* queues, cl_mem source, cl_uint count, cl_mem* targets, size_t from,
                                   size_t* to, size_t bytes, cl_uint wait_count, const cl_event* waits,
                                   cl_event* list) {
    const collective_call call{CL_COMMAND_SCATTER_BUFFER,
                               {queues, count},
                               {1, &source, &from, bytes_of(count, bytes)},
                               {count, targets, to, bytes},
                               bytes,
                               {},
                               wait_count,
                               waits,
                               list};
    return run(call, [&](const collective& all) {
        events made;
        for (cl_uint i = 0; i < count; ++i)
            made.push_back(all.deliver(all.part_of(*source, from + i * bytes, *queues[i]), *queues[i], call.target[i],
                                       call.target.offset(i)));
        return made;
    });
}

cl_int CL_API_CALL enqueue_gather(cl_command_queue queue, cl_uint count, cl_mem* sources, cl_mem target, size_t* from,
                                  size_t to, size_t bytes, cl_uint wait_count, const cl_event* waits, cl_event* event) {
    const collective_call call{CL_COMMAND_GATHER_BUFFER,
                               {&queue, 1},
                               {count, sources, from, bytes},
                               {1, &target, &to, bytes_of(count, bytes)},
                               bytes,
                               {},
                               wait_count,
                               waits,
                               event};
    return run(call, [&](const collective& all) {
        events parts;
        for (cl_uint i = 0; i < count; ++i)
            parts.push_back(all.deliver(all.part_of(call.source[i], call.source.offset(i), *queue), *queue, *target,
                                        to + i * bytes));
        return events{all.all(*queue, parts)};
    });
}

cl_int CL_API_CALL enqueue_all_gather(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                      size_t* from, size_t* to, size_t bytes, cl_uint wait_count, const cl_event* waits,
                                      cl_event* list) {
    const collective_call call{CL_COMMAND_ALL_GATHER_BUFFER,
                               {queues, count},
                               {count, sources, from, bytes},
                               {count, targets, to, bytes_of(count, bytes)},
                               bytes,
                               {},
                               wait_count,
                               waits,
                               list};
    return run(call, [&](const collective& all) {
        std::vector<collective_part> parts;
        for (cl_uint i = 0; i < count; ++i)
            parts.push_back(shared_part(all, call.source[i], call.source.offset(i), *queues[i]));
        return deliver_in_rounds(all, call, [&](cl_uint i, cl_uint) { return parts[i]; });
    });
}

cl_int CL_API_CALL enqueue_all_to_all(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                      size_t* from, size_t* to, size_t bytes, cl_uint wait_count, const cl_event* waits,
                                      cl_event* list) {
    const auto whole = bytes_of(count, bytes);
    const collective_call call{CL_COMMAND_ALL_TO_ALL_BUFFER,
                               {queues, count},
                               {count, sources, from, whole},
                               {count, targets, to, whole},
                               bytes,
                               {},
                               wait_count,
                               waits,
                               list};
    return run(call, [&](const collective& all) {
        return deliver_in_rounds(all, call, [&](cl_uint i, cl_uint j) {
            return all.part_of(call.source[i], call.source.offset(i) + j * bytes, *queues[j]);
        });
    });
}

namespace {

/// As the program gave it; throws for what is no kernel.
template <class Act> cl_int with_reduction(cl_channel_type type, cl_reduction_op op, cl_kernel kernel, Act act) {
    return guard([&]() -> cl_int {
        if (kernel != nullptr) (void)checked(kernel, CL_INVALID_KERNEL);
        return act(reduction{type, op, ref<_cl_kernel>(kernel)});
    });
}

} // namespace

cl_int CL_API_CALL enqueue_reduce_with_op(cl_command_queue queue, cl_uint count, cl_mem* sources, cl_mem target,
                                          size_t* from, size_t to, size_t bytes, cl_channel_type type,
                                          cl_reduction_op op, cl_kernel kernel, cl_uint wait_count,
                                          const cl_event* waits, cl_event* event) {
    return with_reduction(type, op, kernel, [&](const reduction& how) {
        const collective_call call{CL_COMMAND_REDUCE_BUFFER,
                                   {&queue, 1},
                                   {count, sources, from, bytes},
                                   {1, &target, &to, bytes},
                                   bytes,
                                   how,
                                   wait_count,
                                   waits,
                                   event};
        return run(call, [&](const collective& all) {
            const std::vector<cl_command_queue> queues(count, queue);
            const auto result = all.combine_all(addends(all, call.source, 0, 0, queues.data()), how);
            return deliver_to_all(all, result, call.target, &queue);
        });
    });
}

cl_int CL_API_CALL enqueue_all_reduce_with_op(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                              size_t* from, size_t* to, size_t bytes, cl_channel_type type,
                                              cl_reduction_op op, cl_kernel kernel, cl_uint wait_count,
                                              const cl_event* waits, cl_event* list) {
    return with_reduction(type, op, kernel, [&](const reduction& how) {
        const collective_call call{CL_COMMAND_ALL_REDUCE_BUFFER,
                                   {queues, count},
                                   {count, sources, from, bytes},
                                   {count, targets, to, bytes},
                                   bytes,
                                   how,
                                   wait_count,
                                   waits,
                                   list};
        return run(call, [&](const collective& all) {
            return deliver_to_all(all, all.combine_all(addends(all, call.source, 0, 0, queues), how), call.target,
                                  queues);
        });
    });
}

cl_int CL_API_CALL enqueue_reduce_scatter_with_op(cl_command_queue* queues, cl_uint count, cl_mem* sources,
                                                  cl_mem* targets, size_t* from, size_t* to, size_t bytes,
                                                  cl_channel_type type, cl_reduction_op op, cl_kernel kernel,
                                                  cl_uint wait_count, const cl_event* waits, cl_event* list) {
    return with_reduction(type, op, kernel, [&](const reduction& how) {
        const collective_call call{CL_COMMAND_REDUCE_SCATTER_BUFFER,
                                   {queues, count},
                                   {count, sources, from, bytes_of(count, bytes)},
                                   {count, targets, to, bytes},
                                   bytes,
                                   how,
                                   wait_count,
                                   waits,
                                   list};
        return run(call, [&](const collective& all) {
            // Each tree has its root where its result goes. Nothing goes there before every tree has been taken.
            std::vector<collective_part> results;
            for (cl_uint j = 0; j < count; ++j)
                results.push_back(all.combine_all(addends(all, call.source, j, j * bytes, queues), how));
            return deliver_each(all, results, call.target, queues);
        });
    });
}

cl_int CL_API_CALL enqueue_scan_with_op(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                        size_t* from, size_t* to, size_t bytes, cl_channel_type type,
                                        cl_reduction_op op, cl_kernel kernel, cl_uint wait_count, const cl_event* waits,
                                        cl_event* list) {
    return with_reduction(type, op, kernel, [&](const reduction& how) {
        const collective_call call{CL_COMMAND_SCAN_BUFFER,
                                   {queues, count},
                                   {count, sources, from, bytes},
                                   {count, targets, to, bytes},
                                   bytes,
                                   how,
                                   wait_count,
                                   waits,
                                   list};
        return run(call, [&](const collective& all) {
            auto results = addends(all, call.source, 0, 0, queues);
            // Each round doubles how many sources a result is of (Hillis and Steele).
            for (size_t step = 1; step < results.size(); step *= 2) {
                const auto before = results;
                for (size_t i = step; i < results.size(); ++i)
                    results[i] = all.combine(before[i - step], before[i], how);
            }
            return deliver_each(all, results, call.target, queues);
        });
    });
}

// SnuCL's, which add.
cl_int CL_API_CALL enqueue_reduce(cl_command_queue queue, cl_uint count, cl_mem* sources, cl_mem target, size_t* from,
                                  size_t to, size_t bytes, cl_channel_type type, cl_uint wait_count,
                                  const cl_event* waits, cl_event* event) {
    return enqueue_reduce_with_op(queue, count, sources, target, from, to, bytes, type, CL_REDUCTION_SUM, nullptr,
                                  wait_count, waits, event);
}
cl_int CL_API_CALL enqueue_all_reduce(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                      size_t* from, size_t* to, size_t bytes, cl_channel_type type, cl_uint wait_count,
                                      const cl_event* waits, cl_event* list) {
    return enqueue_all_reduce_with_op(queues, count, sources, targets, from, to, bytes, type, CL_REDUCTION_SUM, nullptr,
                                      wait_count, waits, list);
}
cl_int CL_API_CALL enqueue_reduce_scatter(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                          size_t* from, size_t* to, size_t bytes, cl_channel_type type,
                                          cl_uint wait_count, const cl_event* waits, cl_event* list) {
    return enqueue_reduce_scatter_with_op(queues, count, sources, targets, from, to, bytes, type, CL_REDUCTION_SUM,
                                          nullptr, wait_count, waits, list);
}
cl_int CL_API_CALL enqueue_scan(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets, size_t* from,
                                size_t* to, size_t bytes, cl_channel_type type, cl_uint wait_count,
                                const cl_event* waits, cl_event* list) {
    return enqueue_scan_with_op(queues, count, sources, targets, from, to, bytes, type, CL_REDUCTION_SUM, nullptr,
                                wait_count, waits, list);
}

} // namespace causeway::platform
