// SPDX-License-Identifier: Apache-2.0
// The nine collective commands: what goes where.
#include "platform/collectives.hpp"
#include "platform/entry_points.hpp"
#include "platform/reduction.hpp"

#include <CL/cl_cluster.h>

namespace causeway::platform {

namespace {

/// A list of buffers with an offset each; a null list of offsets is one of zeros.
struct buffers {
    cl_mem* list;
    const size_t* offsets;

    [[nodiscard]] _cl_mem& operator[](cl_uint i) const { return *list[i]; }
    [[nodiscard]] size_t offset(cl_uint i) const { return offsets == nullptr ? 0 : offsets[i]; }
};

void check_buffer(cl_mem handle, const _cl_context& context, size_t offset, size_t bytes) {
    auto& buffer = checked(handle, CL_INVALID_MEM_OBJECT);
    require(!buffer.is_image(), CL_INVALID_MEM_OBJECT);
    require(buffer.context.get() == &context, CL_INVALID_CONTEXT);
    require(offset <= buffer.size && bytes <= buffer.size - offset, CL_INVALID_VALUE);
}

void check_buffers(const buffers& all, cl_uint count, const _cl_context& context, size_t bytes) {
    require(count != 0 && all.list != nullptr, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; ++i) check_buffer(all.list[i], context, all.offset(i), bytes);
}

/// Throws unless all are queues of one context.
_cl_command_queue& check_queues(const cl_command_queue* queues, cl_uint count) {
    require(count != 0 && queues != nullptr, CL_INVALID_VALUE);
    auto& first = checked(queues[0], CL_INVALID_COMMAND_QUEUE);
    for (cl_uint i = 1; i < count; ++i)
        require(&checked(queues[i], CL_INVALID_COMMAND_QUEUE).context == &first.context, CL_INVALID_CONTEXT);
    return first;
}

using events = std::vector<ref<_cl_event>>;

/// Sums of which element i of the result begins with destination `first`.
std::vector<collective_part> addends(const collective& all, const buffers& source, cl_uint count, cl_uint first,
                                     size_t further, const cl_command_queue* queues) {
    std::vector<collective_part> parts;
    for (cl_uint i = 0; i < count; ++i) {
        const auto at = (first + i) % count;
        parts.push_back(all.addend_of(source[at], source.offset(at) + further, *queues[at]));
    }
    return parts;
}

} // namespace

cl_int CL_API_CALL enqueue_broadcast(cl_command_queue* queues, cl_mem source, cl_uint count, cl_mem* targets,
                                     size_t from, size_t* to, size_t bytes, cl_uint wait_count, const cl_event* waits,
                                     cl_event* list) {
    return guard([&]() -> cl_int {
        auto& first = check_queues(queues, count);
        check_buffer(source, first.context, from, bytes);
        const buffers target{targets, to};
        check_buffers(target, count, first.context, bytes);
        const collective all({queues, count}, CL_COMMAND_BROADCAST_BUFFER, bytes, wait_count, waits);
        const auto part =
            first.context.spans() ? all.addend_of(*source, from, first) : all.part_of(*source, from, first);
        events made;
        for (cl_uint i = 0; i < count; ++i) made.push_back(all.deliver(part, *queues[i], target[i], target.offset(i)));
        all.give(made, list);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL enqueue_scatter(cl_command_queue* queues, cl_mem source, cl_uint count, cl_mem* targets,
                                   size_t from, size_t* to, size_t bytes, cl_uint wait_count, const cl_event* waits,
                                   cl_event* list) {
    return guard([&]() -> cl_int {
        auto& first = check_queues(queues, count);
        check_buffer(source, first.context, from, bytes * count);
        const buffers target{targets, to};
        check_buffers(target, count, first.context, bytes);
        const collective all({queues, count}, CL_COMMAND_SCATTER_BUFFER, bytes, wait_count, waits);
        events made;
        for (cl_uint i = 0; i < count; ++i)
            made.push_back(all.deliver(all.part_of(*source, from + i * bytes, *queues[i]), *queues[i], target[i],
                                       target.offset(i)));
        all.give(made, list);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL enqueue_gather(cl_command_queue queue, cl_uint count, cl_mem* sources, cl_mem target, size_t* from,
                                  size_t to, size_t bytes, cl_uint wait_count, const cl_event* waits,
                                  cl_event* event) {
    return guard([&]() -> cl_int {
        auto& on = checked(queue, CL_INVALID_COMMAND_QUEUE);
        const buffers source{sources, from};
        check_buffers(source, count, on.context, bytes);
        check_buffer(target, on.context, to, bytes * count);
        const collective all({&queue, 1}, CL_COMMAND_GATHER_BUFFER, bytes, wait_count, waits);
        events parts;
        for (cl_uint i = 0; i < count; ++i)
            parts.push_back(all.deliver(all.part_of(source[i], source.offset(i), on), on, *target, to + i * bytes));
        events made{all.all(on, parts)};
        all.give(made, event);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL enqueue_all_gather(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                      size_t* from, size_t* to, size_t bytes, cl_uint wait_count,
                                      const cl_event* waits, cl_event* list) {
    return guard([&]() -> cl_int {
        auto& first = check_queues(queues, count);
        const buffers source{sources, from};
        const buffers target{targets, to};
        check_buffers(source, count, first.context, bytes);
        check_buffers(target, count, first.context, bytes * count);
        const collective all({queues, count}, CL_COMMAND_ALL_GATHER_BUFFER, bytes, wait_count, waits);
        std::vector<collective_part> parts;
        for (cl_uint i = 0; i < count; ++i)
            parts.push_back(first.context.spans() ? all.addend_of(source[i], source.offset(i), *queues[i])
                                                  : all.part_of(source[i], source.offset(i), *queues[i]));
        std::vector<events> delivered(count);
        // In rounds, so that no rank is everybody's next at once.
        for (cl_uint round = 0; round < count; ++round)
            for (cl_uint j = 0; j < count; ++j) {
                const auto i = (j + round) % count;
                delivered[j].push_back(all.deliver(parts[i], *queues[j], target[j], target.offset(j) + i * bytes));
            }
        events made;
        for (cl_uint j = 0; j < count; ++j) made.push_back(all.all(*queues[j], delivered[j]));
        all.give(made, list);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL enqueue_all_to_all(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                      size_t* from, size_t* to, size_t bytes, cl_uint wait_count,
                                      const cl_event* waits, cl_event* list) {
    return guard([&]() -> cl_int {
        auto& first = check_queues(queues, count);
        const buffers source{sources, from};
        const buffers target{targets, to};
        check_buffers(source, count, first.context, bytes * count);
        check_buffers(target, count, first.context, bytes * count);
        const collective all({queues, count}, CL_COMMAND_ALL_TO_ALL_BUFFER, bytes, wait_count, waits);
        std::vector<events> delivered(count);
        for (cl_uint round = 0; round < count; ++round)
            for (cl_uint j = 0; j < count; ++j) {
                const auto i = (j + round) % count;
                const auto part = all.part_of(source[i], source.offset(i) + j * bytes, *queues[j]);
                delivered[j].push_back(all.deliver(part, *queues[j], target[j], target.offset(j) + i * bytes));
            }
        events made;
        for (cl_uint j = 0; j < count; ++j) made.push_back(all.all(*queues[j], delivered[j]));
        all.give(made, list);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL enqueue_reduce(cl_command_queue queue, cl_uint count, cl_mem* sources, cl_mem target, size_t* from,
                                  size_t to, size_t bytes, cl_channel_type type, cl_uint wait_count,
                                  const cl_event* waits, cl_event* event) {
    return guard([&]() -> cl_int {
        auto& on = checked(queue, CL_INVALID_COMMAND_QUEUE);
        const buffers source{sources, from};
        check_buffers(source, count, on.context, bytes);
        check_buffer(target, on.context, to, bytes);
        require(bytes % element_size(type) == 0, CL_INVALID_VALUE);
        const collective all({&queue, 1}, CL_COMMAND_REDUCE_BUFFER, bytes, wait_count, waits);
        const std::vector<cl_command_queue> queues(count, queue);
        const auto sum = all.sum_of(addends(all, source, count, 0, 0, queues.data()), type);
        events made{all.deliver(sum, on, *target, to)};
        all.give(made, event);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL enqueue_all_reduce(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                      size_t* from, size_t* to, size_t bytes, cl_channel_type type, cl_uint wait_count,
                                      const cl_event* waits, cl_event* list) {
    return guard([&]() -> cl_int {
        auto& first = check_queues(queues, count);
        const buffers source{sources, from};
        const buffers target{targets, to};
        check_buffers(source, count, first.context, bytes);
        check_buffers(target, count, first.context, bytes);
        require(bytes % element_size(type) == 0, CL_INVALID_VALUE);
        const collective all({queues, count}, CL_COMMAND_ALL_REDUCE_BUFFER, bytes, wait_count, waits);
        const auto sum = all.sum_of(addends(all, source, count, 0, 0, queues), type);
        events made;
        for (cl_uint i = 0; i < count; ++i) made.push_back(all.deliver(sum, *queues[i], target[i], target.offset(i)));
        all.give(made, list);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL enqueue_reduce_scatter(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                          size_t* from, size_t* to, size_t bytes, cl_channel_type type,
                                          cl_uint wait_count, const cl_event* waits, cl_event* list) {
    return guard([&]() -> cl_int {
        auto& first = check_queues(queues, count);
        const buffers source{sources, from};
        const buffers target{targets, to};
        check_buffers(source, count, first.context, bytes * count);
        check_buffers(target, count, first.context, bytes);
        require(bytes % element_size(type) == 0, CL_INVALID_VALUE);
        const collective all({queues, count}, CL_COMMAND_REDUCE_SCATTER_BUFFER, bytes, wait_count, waits);
        events made;
        for (cl_uint j = 0; j < count; ++j) {
            // Each tree has its root where its result goes.
            const auto sum = all.sum_of(addends(all, source, count, j, j * bytes, queues), type);
            made.push_back(all.deliver(sum, *queues[j], target[j], target.offset(j)));
        }
        all.give(made, list);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL enqueue_scan(cl_command_queue* queues, cl_uint count, cl_mem* sources, cl_mem* targets,
                                size_t* from, size_t* to, size_t bytes, cl_channel_type type, cl_uint wait_count,
                                const cl_event* waits, cl_event* list) {
    return guard([&]() -> cl_int {
        auto& first = check_queues(queues, count);
        const buffers source{sources, from};
        const buffers target{targets, to};
        check_buffers(source, count, first.context, bytes);
        check_buffers(target, count, first.context, bytes);
        require(bytes % element_size(type) == 0, CL_INVALID_VALUE);
        const collective all({queues, count}, CL_COMMAND_SCAN_BUFFER, bytes, wait_count, waits);
        auto sums = addends(all, source, count, 0, 0, queues);
        // Each round doubles how many sources a sum is of (Hillis and Steele).
        for (size_t step = 1; step < sums.size(); step *= 2) {
            const auto before = sums;
            for (size_t i = step; i < sums.size(); ++i) sums[i] = all.sum(before[i - step], before[i], type);
        }
        events made;
        for (cl_uint i = 0; i < count; ++i)
            made.push_back(all.deliver(sums[i], *queues[i], target[i], target.offset(i)));
        all.give(made, list);
        return CL_SUCCESS;
    });
}

} // namespace causeway::platform
