// SPDX-License-Identifier: Apache-2.0
// Commands that read, write, copy and fill images.
#include "base/box_geometry.hpp"
#include "platform/enqueue.hpp"
#include "platform/entry_points.hpp"

#include <algorithm>

namespace causeway::platform::entry {

namespace {

extents extents_of(const size_t* values) {
    require(values != nullptr, CL_INVALID_VALUE);
    note(values, 3 * sizeof *values);
    return {values[0], values[1], values[2]};
}

_cl_mem& checked_image(cl_mem handle) {
    auto& image = checked(handle, CL_INVALID_MEM_OBJECT);
    require(image.is_image(), CL_INVALID_MEM_OBJECT);
    return image;
}

_cl_mem& checked_buffer(cl_mem handle) {
    auto& buffer = checked(handle, CL_INVALID_MEM_OBJECT);
    require(!buffer.is_image(), CL_INVALID_MEM_OBJECT);
    return buffer;
}

void check_host_may(const _cl_mem& image, cl_mem_flags forbidden) {
    require((image.flags & (forbidden | CL_MEM_HOST_NO_ACCESS)) == 0, CL_INVALID_OPERATION);
}

/// As drivers want them. Throws for pitches that do not fit the region (OpenCL 1.2, section 5.3.3), and for a region
/// that does not fit into the address space behind `memory`.
std::array<size_t, 2> checked_pitches(const _cl_mem& image, const void* memory, const extents& region, size_t row_pitch,
                                      size_t slice_pitch) {
    require(slice_pitch == 0 || has_slices(image), CL_INVALID_VALUE);
    const size_t row = image.image.pixel_bytes * region[0]; // no more than the image has
    // An array of lines has its lines in slices of one row.
    const auto rows = is_lines(image) ? extents{row, 1, region[1]} : extents{row, region[1], region[2]};
    const auto laid = lay_out_box({}, rows, row_pitch, slice_pitch, slices::anywhere);
    require(laid.fits_at(memory), CL_INVALID_VALUE);
    if (!is_lines(image)) return {row_pitch, slice_pitch};
    // PoCL 3.1 and Intel's CPU runtime 2026.2 take the pitch of rows for that of lines.
    const auto line_pitch = std::max(row_pitch, slice_pitch);
    return {line_pitch, line_pitch};
}

access writing(const _cl_mem& image, const extents& region) {
    return region == whole_region(image) ? access::overwrite : access::write;
}

size_t bytes_of(const _cl_mem& image, const extents& region) {
    return image.image.pixel_bytes * region[0] * region[1] * region[2];
}

} // namespace

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue_handle, cl_mem image_handle, cl_bool blocking,
                                      const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch,
                                      void* target, cl_uint count, const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& image = checked_image(image_handle);
        const auto from = extents_of(origin);
        const auto extent = extents_of(region);
        require(target != nullptr, CL_INVALID_VALUE);
        check_region(image, from, extent);
        check_host_may(image, CL_MEM_HOST_WRITE_ONLY);
        const memory_use uses[] = {{&image, access::read}};
        const auto in_host = target_of(image, extent, target,
                                       checked_pitches(image, target, extent, row_pitch, slice_pitch));
        return enqueue_read({queue, CL_COMMAND_READ_IMAGE, blocking, count, list, event, uses}, in_host,
                            [&](void* to, size_t row, size_t slice) {
                                return [&queue, held = ref<_cl_mem>(&image), from, extent, row, slice,
                                        to](cl_bool wait, cl_uint waits, const cl_event* events, cl_event* made) {
                                    return queue.calls().clEnqueueReadImage(queue.raw.raw(), held->raw(queue.where),
                                                                            wait, from.data(), extent.data(), row,
                                                                            slice, to, waits, events, made);
                                };
                            });
    });
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue_handle, cl_mem image_handle, cl_bool blocking,
                                       const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch,
                                       const void* source, cl_uint count, const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& image = checked_image(image_handle);
        const auto to = extents_of(origin);
        const auto extent = extents_of(region);
        require(source != nullptr, CL_INVALID_VALUE);
        check_region(image, to, extent);
        const auto pitches = checked_pitches(image, source, extent, row_pitch, slice_pitch);
        check_host_may(image, CL_MEM_HOST_READ_ONLY);
        const memory_use uses[] = {{&image, writing(image, extent)}};
        return enqueue(reading_host({queue, CL_COMMAND_WRITE_IMAGE, blocking, count, list, event, uses}),
                       [&queue, held = ref<_cl_mem>(&image), to, extent, pitches,
                        source](cl_bool wait, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueWriteImage(queue.raw.raw(), held->raw(queue.where), wait,
                                                                    to.data(), extent.data(), pitches[0], pitches[1],
                                                                    source, waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue_handle, cl_mem image_handle, const void* colour,
                                      const size_t* origin, const size_t* region, cl_uint count, const cl_event* list,
                                      cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& image = checked_image(image_handle);
        require(colour != nullptr, CL_INVALID_VALUE);
        const auto to = extents_of(origin);
        const auto extent = extents_of(region);
        check_region(image, to, extent);
        std::array<cl_uint, 4> copy{};
        // One depth value, else four channels of 32 bits.
        std::memcpy(copy.data(), colour,
                    image.image.format.image_channel_order == CL_DEPTH ? sizeof(cl_float) : sizeof copy);
        note(copy.data(), sizeof copy);
        const memory_use uses[] = {{&image, writing(image, extent)}};
        return enqueue({queue, CL_COMMAND_FILL_IMAGE, CL_FALSE, count, list, event, uses},
                       [&queue, held = ref<_cl_mem>(&image), copy, to, extent](cl_bool, cl_uint waits,
                                                                               const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueFillImage(queue.raw.raw(), held->raw(queue.where), copy.data(),
                                                                   to.data(), extent.data(), waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue_handle, cl_mem source_handle, cl_mem target_handle,
                                      const size_t* source_origin, const size_t* target_origin, const size_t* region,
                                      cl_uint count, const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& source = checked_image(source_handle);
        auto& target = checked_image(target_handle);
        const auto& first = source.image.format;
        const auto& second = target.image.format;
        require(first.image_channel_order == second.image_channel_order &&
                    first.image_channel_data_type == second.image_channel_data_type,
                CL_IMAGE_FORMAT_MISMATCH);
        const auto from = extents_of(source_origin);
        const auto to = extents_of(target_origin);
        const auto extent = extents_of(region);
        check_region(source, from, extent);
        check_region(target, to, extent);
        const memory_use uses[] = {{&source, access::read}, {&target, writing(target, extent)}};
        return enqueue({queue, CL_COMMAND_COPY_IMAGE, CL_FALSE, count, list, event, uses},
                       [&queue, held_source = ref<_cl_mem>(&source), held_target = ref<_cl_mem>(&target), from, to,
                        extent](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueCopyImage(queue.raw.raw(), held_source->raw(queue.where),
                                                                   held_target->raw(queue.where), from.data(),
                                                                   to.data(), extent.data(), waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue_handle, cl_mem image_handle, cl_mem buffer_handle,
                                              const size_t* origin, const size_t* region, size_t to, cl_uint count,
                                              const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& image = checked_image(image_handle);
        auto& buffer = checked_buffer(buffer_handle);
        const auto from = extents_of(origin);
        const auto extent = extents_of(region);
        check_region(image, from, extent);
        const auto bytes = bytes_of(image, extent);
        require(has_range(buffer.size, to, bytes), CL_INVALID_VALUE);
        const memory_use uses[] = {{&image, access::read}, {&buffer, access::write}};
        return enqueue({queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, CL_FALSE, count, list, event, uses},
                       [&queue, held_image = ref<_cl_mem>(&image), held_buffer = ref<_cl_mem>(&buffer), from, extent,
                        to](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueCopyImageToBuffer(
                               queue.raw.raw(), held_image->raw(queue.where), held_buffer->raw(queue.where),
                               from.data(), extent.data(), to, waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue_handle, cl_mem buffer_handle, cl_mem image_handle,
                                              size_t from, const size_t* origin, const size_t* region, cl_uint count,
                                              const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& buffer = checked_buffer(buffer_handle);
        auto& image = checked_image(image_handle);
        const auto to = extents_of(origin);
        const auto extent = extents_of(region);
        check_region(image, to, extent);
        const auto bytes = bytes_of(image, extent);
        require(has_range(buffer.size, from, bytes), CL_INVALID_VALUE);
        const memory_use uses[] = {{&buffer, access::read}, {&image, writing(image, extent)}};
        return enqueue({queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, CL_FALSE, count, list, event, uses},
                       [&queue, held_buffer = ref<_cl_mem>(&buffer), held_image = ref<_cl_mem>(&image), from, to,
                        extent](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueCopyBufferToImage(
                               queue.raw.raw(), held_buffer->raw(queue.where), held_image->raw(queue.where), from,
                               to.data(), extent.data(), waits, events, made);
                       });
    });
}

} // namespace causeway::platform::entry
