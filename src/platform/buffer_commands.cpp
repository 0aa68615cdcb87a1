// SPDX-License-Identifier: Apache-2.0
// Commands that read, write, copy and fill buffers.
#include "base/box_geometry.hpp"
#include "platform/enqueue.hpp"
#include "platform/entry_points.hpp"

#include <algorithm>

namespace causeway::platform::entry {

namespace {

_cl_mem& checked_buffer(cl_mem handle) {
    auto& buffer = checked(handle, CL_INVALID_MEM_OBJECT);
    require(!buffer.is_image(), CL_INVALID_MEM_OBJECT);
    return buffer;
}

void check_range(const _cl_mem& buffer, size_t offset, size_t size) {
    require(size != 0 && has_range(buffer.size, offset, size), CL_INVALID_VALUE);
}

void check_host_may(const _cl_mem& buffer, cl_mem_flags forbidden) {
    require((buffer.flags & (forbidden | CL_MEM_HOST_NO_ACCESS)) == 0, CL_INVALID_OPERATION);
}

access writing(const _cl_mem& buffer, size_t size) { return size == buffer.size ? access::overwrite : access::write; }

extents extents_of(const size_t* values) {
    require(values != nullptr, CL_INVALID_VALUE);
    note(values, 3 * sizeof *values);
    return {values[0], values[1], values[2]};
}

/// Throws for a box that the buffer does not have.
void check_box(const _cl_mem& buffer, const extents& origin, const extents& region, size_t row_pitch,
               size_t slice_pitch) {
    require(lay_out_box(origin, region, row_pitch, slice_pitch).fits(buffer.size), CL_INVALID_VALUE);
}

/// Throws for a box that does not fit into the address space behind `memory`.
box_geometry lay_out_in_host(const void* memory, const extents& origin, const extents& region, size_t row_pitch,
                             size_t slice_pitch) {
    const auto laid = lay_out_box(origin, region, row_pitch, slice_pitch);
    require(laid.fits_at(memory), CL_INVALID_VALUE);
    return laid;
}

} // namespace

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue_handle, cl_mem buffer_handle, cl_bool blocking,
                                       size_t offset, size_t size, void* target, cl_uint count, const cl_event* list,
                                       cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& buffer = checked_buffer(buffer_handle);
        require(target != nullptr, CL_INVALID_VALUE);
        check_range(buffer, offset, size);
        check_host_may(buffer, CL_MEM_HOST_WRITE_ONLY);
        const memory_use uses[] = {{&buffer, access::read}};
        const new_command command{queue, CL_COMMAND_READ_BUFFER, blocking, count, list, event, uses};
        return enqueue_read_of(command, size, [&](const new_command& part, size_t at, size_t bytes) {
            return enqueue_read(part, {static_cast<std::byte*>(target) + at, bytes}, [&](void* to, size_t, size_t) {
                return [&queue, held = ref<_cl_mem>(&buffer), from = offset + at, bytes,
                        to](cl_bool wait, cl_uint waits, const cl_event* events, cl_event* made) {
                    return queue.calls().clEnqueueReadBuffer(queue.raw.raw(), held->raw(queue.where), wait, from, bytes,
                                                             to, waits, events, made);
                };
            });
        });
    });
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue_handle, cl_mem buffer_handle, cl_bool blocking,
                                        size_t offset, size_t size, const void* source, cl_uint count,
                                        const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& buffer = checked_buffer(buffer_handle);
        require(source != nullptr, CL_INVALID_VALUE);
        check_range(buffer, offset, size);
        check_host_may(buffer, CL_MEM_HOST_READ_ONLY);
        const memory_use uses[] = {{&buffer, writing(buffer, size)}};
        return enqueue(reading_host({queue, CL_COMMAND_WRITE_BUFFER, blocking, count, list, event, uses}),
                       [&queue, held = ref<_cl_mem>(&buffer), offset, size,
                        source](cl_bool wait, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueWriteBuffer(queue.raw.raw(), held->raw(queue.where), wait,
                                                                     offset, size, source, waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue_handle, cl_mem buffer_handle, cl_bool blocking,
                                           const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                                           size_t buffer_row, size_t buffer_slice, size_t host_row, size_t host_slice,
                                           void* target, cl_uint count, const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& buffer = checked_buffer(buffer_handle);
        const auto from = extents_of(buffer_origin);
        const auto to = extents_of(host_origin);
        const auto extent = extents_of(region);
        require(target != nullptr, CL_INVALID_VALUE);
        check_box(buffer, from, extent, buffer_row, buffer_slice);
        const auto in_host = lay_out_in_host(target, to, extent, host_row, host_slice);
        check_host_may(buffer, CL_MEM_HOST_WRITE_ONLY);
        const memory_use uses[] = {{&buffer, access::read}};
        const host_target there{static_cast<std::byte*>(target) + in_host.begin,
                                extent[0],
                                extent[1],
                                extent[2],
                                in_host.row_pitch,
                                in_host.slice_pitch};
        return enqueue_read(
            {queue, CL_COMMAND_READ_BUFFER_RECT, blocking, count, list, event, uses}, there,
            [&](void* first, size_t row, size_t slice) {
                return [&queue, held = ref<_cl_mem>(&buffer), from, extent, buffer_row, buffer_slice, row, slice,
                        first](cl_bool wait, cl_uint waits, const cl_event* events, cl_event* made) {
                    constexpr extents none{};
                    return queue.calls().clEnqueueReadBufferRect(queue.raw.raw(), held->raw(queue.where), wait,
                                                                 from.data(), none.data(), extent.data(), buffer_row,
                                                                 buffer_slice, row, slice, first, waits, events, made);
                };
            });
    });
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue_handle, cl_mem buffer_handle, cl_bool blocking,
                                            const size_t* buffer_origin, const size_t* host_origin,
                                            const size_t* region, size_t buffer_row, size_t buffer_slice,
                                            size_t host_row, size_t host_slice, const void* source, cl_uint count,
                                            const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& buffer = checked_buffer(buffer_handle);
        const auto to = extents_of(buffer_origin);
        const auto from = extents_of(host_origin);
        const auto extent = extents_of(region);
        require(source != nullptr, CL_INVALID_VALUE);
        check_box(buffer, to, extent, buffer_row, buffer_slice);
        (void)lay_out_in_host(source, from, extent, host_row, host_slice);
        check_host_may(buffer, CL_MEM_HOST_READ_ONLY);
        const memory_use uses[] = {{&buffer, access::write}};
        return enqueue(reading_host({queue, CL_COMMAND_WRITE_BUFFER_RECT, blocking, count, list, event, uses}),
                       [&queue, held = ref<_cl_mem>(&buffer), from, to, extent, buffer_row, buffer_slice, host_row,
                        host_slice, source](cl_bool wait, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueWriteBufferRect(
                               queue.raw.raw(), held->raw(queue.where), wait, to.data(), from.data(), extent.data(),
                               buffer_row, buffer_slice, host_row, host_slice, source, waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue_handle, cl_mem source_handle, cl_mem target_handle,
                                       size_t from, size_t to, size_t size, cl_uint count, const cl_event* list,
                                       cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& source = checked_buffer(source_handle);
        auto& target = checked_buffer(target_handle);
        check_range(source, from, size);
        check_range(target, to, size);
        const size_t first = source.offset + from;
        const size_t second = target.offset + to;
        require(&source.root() != &target.root() || first + size <= second || second + size <= first,
                CL_MEM_COPY_OVERLAP);
        const memory_use uses[] = {{&source, access::read}, {&target, writing(target, size)}};
        return enqueue({queue, CL_COMMAND_COPY_BUFFER, CL_FALSE, count, list, event, uses},
                       [&queue, held_source = ref<_cl_mem>(&source), held_target = ref<_cl_mem>(&target), from, to,
                        size](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueCopyBuffer(queue.raw.raw(), held_source->raw(queue.where),
                                                                    held_target->raw(queue.where), from, to, size,
                                                                    waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue_handle, cl_mem source_handle, cl_mem target_handle,
                                           const size_t* source_origin, const size_t* target_origin,
                                           const size_t* region, size_t source_row, size_t source_slice,
                                           size_t target_row, size_t target_slice, cl_uint count, const cl_event* list,
                                           cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& source = checked_buffer(source_handle);
        auto& target = checked_buffer(target_handle);
        const auto from = extents_of(source_origin);
        const auto to = extents_of(target_origin);
        const auto extent = extents_of(region);
        check_box(source, from, extent, source_row, source_slice);
        check_box(target, to, extent, target_row, target_slice);
        const memory_use uses[] = {{&source, access::read}, {&target, access::write}};
        // Whether boxes of one buffer overlap is the driver's to say (it has the specification's own algorithm).
        return enqueue({queue, CL_COMMAND_COPY_BUFFER_RECT, CL_FALSE, count, list, event, uses},
                       [&queue, held_source = ref<_cl_mem>(&source), held_target = ref<_cl_mem>(&target), from, to,
                        extent, source_row, source_slice, target_row,
                        target_slice](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueCopyBufferRect(
                               queue.raw.raw(), held_source->raw(queue.where), held_target->raw(queue.where),
                               from.data(), to.data(), extent.data(), source_row, source_slice, target_row,
                               target_slice, waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue_handle, cl_mem buffer_handle, const void* pattern,
                                       size_t pattern_size, size_t offset, size_t size, cl_uint count,
                                       const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& buffer = checked_buffer(buffer_handle);
        std::array<std::byte, 128> copy{};
        require(pattern != nullptr && pattern_size != 0 && pattern_size <= copy.size() &&
                    (pattern_size & (pattern_size - 1)) == 0 && offset % pattern_size == 0 && size % pattern_size == 0,
                CL_INVALID_VALUE);
        check_range(buffer, offset, size);
        std::memcpy(copy.data(), pattern, pattern_size);
        note(pattern, pattern_size);
        const memory_use uses[] = {{&buffer, writing(buffer, size)}};
        return enqueue({queue, CL_COMMAND_FILL_BUFFER, CL_FALSE, count, list, event, uses},
                       [&queue, held = ref<_cl_mem>(&buffer), copy, pattern_size, offset,
                        size](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueFillBuffer(queue.raw.raw(), held->raw(queue.where),
                                                                    copy.data(), pattern_size, offset, size, waits,
                                                                    events, made);
                       });
    });
}

} // namespace causeway::platform::entry
