// SPDX-License-Identifier: Apache-2.0
// Buffers, sub-buffers and images: making them and asking about them.
#include "base/box_geometry.hpp"
#include "platform/boundary.hpp"
#include "platform/enqueue.hpp"
#include "platform/entry_points.hpp"
#include "platform/remote_answer.hpp"

#include <algorithm>

namespace causeway::platform::entry {

namespace {

constexpr cl_mem_flags kernel_access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags host_access = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags host_pointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

bool at_most_one(cl_mem_flags of, cl_mem_flags flags) {
    const auto chosen = of & flags;
    return (chosen & (chosen - 1)) == 0;
}

void check_flags(cl_mem_flags flags) {
    require((flags & ~(kernel_access | host_access | host_pointer | advice_flags)) == 0 &&
                at_most_one(kernel_access, flags) && at_most_one(host_access, flags) &&
                ((flags & CL_MEM_USE_HOST_PTR) == 0 || (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0),
            CL_INVALID_VALUE);
}

void check_host_pointer(cl_mem_flags flags, const void* host) {
    require((host != nullptr) == ((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0), CL_INVALID_HOST_PTR);
}

cl_mem_flags with_default_access(cl_mem_flags flags) {
    return (flags & kernel_access) == 0 ? flags | CL_MEM_READ_WRITE : flags;
}

/// Of a sub-buffer or an image of a buffer: what its parent has, unless it says otherwise. Throws CL_INVALID_VALUE
/// where it may not.
cl_mem_flags flags_of_part(cl_mem_flags flags, const _cl_mem& parent) {
    const auto may = [&](cl_mem_flags wanted, cl_mem_flags unless) {
        return (flags & wanted) == 0 || (parent.flags & unless) == 0;
    };
    require((flags & host_pointer) == 0 && may(CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY) &&
                may(CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY) &&
                may(CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS) &&
                may(CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS),
            CL_INVALID_VALUE);
    if ((flags & kernel_access) == 0) flags |= parent.flags & kernel_access;
    if ((flags & host_access) == 0) flags |= parent.flags & host_access;
    return flags | (parent.flags & host_pointer);
}

/// Gives the object its contents. One driver gets them, and makes its object, now; where the context spans driver
/// contexts, they are kept until each driver context that uses the object has them.
void fill(_cl_mem& made, void* host) {
    auto& context = *made.context;
    if (!context.spans()) {
        if (host != nullptr) made.initial = std::shared_ptr<std::byte[]>(static_cast<std::byte*>(host), [](auto*) {});
        (void)made.raw(*context.here().front());
        made.initial.reset();
        return;
    }
    if (host == nullptr) return;
    made.initial = std::shared_ptr<std::byte[]>(new std::byte[made.size]);
    if (!made.is_image()) {
        std::memcpy(made.initial.get(), host, made.size);
        return;
    }
    const auto region = whole_region(made);
    const auto packed = made.packed_pitches();
    const auto& shape = made.image.shape;
    const bool of_lines = is_lines(made);
    const size_t row_pitch = shape.image_row_pitch != 0 ? shape.image_row_pitch : packed[0];
    const size_t line_pitch = of_lines && shape.image_slice_pitch != 0 ? shape.image_slice_pitch : row_pitch;
    const size_t slice_pitch = shape.image_slice_pitch != 0 ? shape.image_slice_pitch : row_pitch * region[1];
    for (size_t z = 0; z < region[2]; ++z)
        for (size_t y = 0; y < region[1]; ++y)
            std::memcpy(made.initial.get() + (z * region[1] + y) * packed[0],
                        static_cast<const std::byte*>(host) + z * slice_pitch + y * line_pitch, packed[0]);
}

ref<_cl_mem> create_buffer(cl_context handle, cl_mem_flags flags, size_t size, void* host) {
    auto& context = checked(handle, CL_INVALID_CONTEXT);
    check_flags(flags);
    require(size != 0, CL_INVALID_BUFFER_SIZE);
    cl_ulong largest = 0;
    for (const auto& device : context.devices)
        largest = std::max(largest, ask<cl_ulong>(*device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
    // A single driver makes the buffer now, and can refuse the size itself.
    require(size <= largest || ((flags & any_size) != 0 && !context.spans()), CL_INVALID_BUFFER_SIZE);
    check_host_pointer(flags, host);
    auto made = ref<_cl_mem>::adopt(new _cl_mem(context, CL_MEM_OBJECT_BUFFER, with_default_access(flags), size, host));
    fill(*made, host);
    return made;
}

size_t bytes_of_pixel(const cl_image_format& format) {
    size_t channels = 1;
    switch (format.image_channel_order) {
    case CL_RG:
    case CL_RA:
    case CL_RGx: channels = 2; break;
    case CL_RGB:
    case CL_RGBx:
    case CL_sRGB: channels = 3; break;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
    case CL_sRGBA:
    case CL_sBGRA:
    case CL_sRGBx: channels = 4; break;
    default: break;
    }
    switch (format.image_channel_data_type) {
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555: return 2;
    case CL_UNORM_INT_101010:
    case CL_UNORM_INT24: return 4;
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8: return channels;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT: return 4 * channels;
    default: return 2 * channels;
    }
}

/// What images of its type are made of; the other members may hold anything (OpenCL 1.2, section 5.3.1.2).
cl_image_desc meaning_of(cl_image_desc shape) {
    const auto type = shape.image_type;
    const bool is_array = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool is_volume = type == CL_MEM_OBJECT_IMAGE3D;
    const bool is_line = type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE1D_BUFFER ||
                         type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    if (is_line) shape.image_height = 0;
    if (!is_volume) shape.image_depth = 0;
    if (!is_array) shape.image_array_size = 0;
    if (!is_array && !is_volume) shape.image_slice_pitch = 0;
    if (type != CL_MEM_OBJECT_IMAGE1D_BUFFER && type != CL_MEM_OBJECT_IMAGE2D) shape.buffer = nullptr;
    return shape;
}

/// The size of an image in host memory. Throws where it is none, or has no room for the program's pitches.
size_t checked_size(const _cl_mem& image) {
    const auto region = whole_region(image);
    const size_t pixel = image.image.pixel_bytes;
    const auto packed = lay_out_box({}, {region[0], region[1], region[2]}, 0, 0);
    require(packed.fault == box_fault::none && packed.bytes <= PTRDIFF_MAX / pixel, CL_INVALID_IMAGE_SIZE);
    const auto& shape = image.image.shape;
    const auto rows = is_lines(image) ? extents{region[0] * pixel, 1, region[1]}
                                      : extents{region[0] * pixel, region[1], region[2]};
    const auto given = lay_out_box({}, rows, shape.image_row_pitch, shape.image_slice_pitch, slices::anywhere);
    require(given.fault == box_fault::none && given.end <= PTRDIFF_MAX, CL_INVALID_IMAGE_DESCRIPTOR);
    return packed.bytes * pixel;
}

/// Whether a device of the driver context could use the image, see check_device().
bool can_have(const _cl_mem& image, const driver_context& at) {
    return !at.for_queries && std::any_of(at.devices.begin(), at.devices.end(), [&](const auto* device) {
        return ask<cl_bool>(*device, CL_DEVICE_IMAGE_SUPPORT) != CL_FALSE && is_aligned(image, *device);
    });
}

/// Throws the code of the driver if it refuses such an image.
void try_image(const _cl_mem& image, driver_context& at, void* host) {
    cl_int code = CL_SUCCESS;
    auto shape = image.image.shape;
    auto flags = image.flags & ~advice_flags;
    if (image.parent) {
        flags &= ~host_pointer; // comes from the parent
        const std::lock_guard lock(image.context->order);
        shape.buffer = image.parent->raw(at);
    }
    const driver_object<cl_mem> tried(
        at.calls().clCreateImage(at.context.raw(), flags, &image.image.format, &shape, host, &code));
    check(code);
}

ref<_cl_mem> create_image(cl_context handle, cl_mem_flags flags, const cl_image_format* format,
                          const cl_image_desc* given, void* host) {
    auto& context = checked(handle, CL_INVALID_CONTEXT);
    check_flags(flags);
    require(format != nullptr, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    require(given != nullptr, CL_INVALID_IMAGE_DESCRIPTOR);
    const auto shape = meaning_of(*given);
    check_host_pointer(flags, host);
    require(std::any_of(context.devices.begin(), context.devices.end(),
                        [](const auto& device) { return ask<cl_bool>(*device, CL_DEVICE_IMAGE_SUPPORT) != CL_FALSE; }),
            CL_INVALID_OPERATION);
    for (const std::uint64_t part :
         {std::uint64_t{format->image_channel_order}, std::uint64_t{format->image_channel_data_type},
          std::uint64_t{shape.image_type}, std::uint64_t{shape.image_width}, std::uint64_t{shape.image_height},
          std::uint64_t{shape.image_depth}, std::uint64_t{shape.image_array_size}, std::uint64_t{shape.image_row_pitch},
          std::uint64_t{shape.image_slice_pitch}, std::uint64_t{shape.num_mip_levels},
          std::uint64_t{shape.num_samples}})
        note(part);
    ref<_cl_mem> parent;
    if (shape.buffer != nullptr) {
        parent = ref<_cl_mem>(&checked(shape.buffer, CL_INVALID_IMAGE_DESCRIPTOR));
        require(parent->context.get() == &context, CL_INVALID_IMAGE_DESCRIPTOR);
        note(*parent);
    }
    flags = parent ? flags_of_part(flags, *parent) : with_default_access(flags);
    auto made = ref<_cl_mem>::adopt(new _cl_mem(context, shape.image_type, flags, 0, host));
    made->parent = parent;
    made->image = {*format, shape, bytes_of_pixel(*format)};
    // Only drivers know all rules for shapes and formats: all are asked before anything is computed from them, as a
    // driver that refuses the image when it is first used would end a cluster's job.
    for (auto* const at : context.here())
        if (context.spans() && can_have(*made, *at)) try_image(*made, *at, host);
    if (context.spans()) made->size = checked_size(*made); // else the driver's affair, which is asked below
    fill(*made, made->parent ? nullptr : host);
    if (!context.spans()) {
        size_t size = 0;
        auto& at = *context.here().front();
        check(at.calls().clGetMemObjectInfo(made->raw(at), CL_MEM_SIZE, sizeof size, &size, nullptr));
        made->size = size;
    }
    return made;
}

ref<_cl_mem> create_old_image(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                              cl_image_desc shape, void* host) {
    require(shape.image_width != 0 && shape.image_height != 0, CL_INVALID_IMAGE_SIZE);
    try {
        return create_image(context, flags, format, &shape, host);
    } catch (const refusal& refused) {
        // What the older calls named otherwise.
        throw refusal{refused.code == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : refused.code};
    }
}

} // namespace

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
    return make(code, [&] { return create_buffer(context, flags, size, host); });
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties,
                                                cl_mem_flags flags, size_t size, void* host, cl_int* code) {
    return make(code, [&] {
        require(properties == nullptr || *properties == 0, CL_INVALID_PROPERTY);
        return create_buffer(context, flags, size, host);
    });
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem handle, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                                     cl_int* code) {
    return make(code, [&] {
        auto& parent = checked(handle, CL_INVALID_MEM_OBJECT);
        require(!parent.is_image() && !parent.parent, CL_INVALID_MEM_OBJECT);
        check_flags(flags);
        require(type == CL_BUFFER_CREATE_TYPE_REGION && info != nullptr, CL_INVALID_VALUE);
        flags = flags_of_part(flags, parent);
        const auto& region = *static_cast<const cl_buffer_region*>(info);
        note(info, sizeof region);
        require(region.size != 0, CL_INVALID_BUFFER_SIZE);
        require(has_range(parent.size, region.origin, region.size), CL_INVALID_VALUE);
        require(std::any_of(parent.context->devices.begin(), parent.context->devices.end(),
                            [&](const auto& device) { return region.origin % alignment_of(*device) == 0; }),
                CL_MISALIGNED_SUB_BUFFER_OFFSET);
        void* const host = parent.host_ptr == nullptr ? nullptr
                                                      : static_cast<std::byte*>(parent.host_ptr) + region.origin;
        auto made = ref<_cl_mem>::adopt(new _cl_mem(*parent.context, CL_MEM_OBJECT_BUFFER, flags, region.size, host));
        made->parent = ref<_cl_mem>(&parent);
        made->offset = region.origin;
        if (!parent.context->spans()) (void)made->raw(*parent.context->here().front());
        return made;
    });
}

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                 const cl_image_desc* shape, void* host, cl_int* code) {
    return make_everywhere(code, [&] { return create_image(context, flags, format, shape, host); });
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties* properties,
                                               cl_mem_flags flags, const cl_image_format* format,
                                               const cl_image_desc* shape, void* host, cl_int* code) {
    return make_everywhere(code, [&] {
        require(properties == nullptr || *properties == 0, CL_INVALID_PROPERTY);
        return create_image(context, flags, format, shape, host);
    });
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* format, size_t width,
                                   size_t height, size_t row_pitch, void* host, cl_int* code) {
    return make_everywhere(code, [&] {
        cl_image_desc shape{};
        shape.image_type = CL_MEM_OBJECT_IMAGE2D;
        shape.image_width = width;
        shape.image_height = height;
        shape.image_row_pitch = row_pitch;
        return create_old_image(context, flags, format, shape, host);
    });
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* format, size_t width,
                                   size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void* host,
                                   cl_int* code) {
    return make_everywhere(code, [&] {
        cl_image_desc shape{};
        shape.image_type = CL_MEM_OBJECT_IMAGE3D;
        shape.image_width = width;
        shape.image_height = height;
        shape.image_depth = depth;
        shape.image_row_pitch = row_pitch;
        shape.image_slice_pitch = slice_pitch;
        require(depth != 0, CL_INVALID_IMAGE_SIZE);
        return create_old_image(context, flags, format, shape, host);
    });
}

cl_int CL_API_CALL clRetainMemObject(cl_mem object) { return retain(object, CL_INVALID_MEM_OBJECT); }
cl_int CL_API_CALL clReleaseMemObject(cl_mem object) { return release(object, CL_INVALID_MEM_OBJECT); }

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem handle, void(CL_CALLBACK* call)(cl_mem, void*), void* data) {
    return guard([&]() -> cl_int {
        auto& object = checked(handle, CL_INVALID_MEM_OBJECT);
        require(call != nullptr, CL_INVALID_VALUE);
        if (object.context->job.is_in_noted_call()) {
            const std::lock_guard lock(object.context->order);
            object.is_kept_everywhere = true;
        }
        const std::lock_guard lock(object.mutex);
        object.destructors.push_back({call, data});
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem handle, cl_mem_info name, size_t size, void* value, size_t* size_ret) {
    return guard([&] {
        auto& object = checked(handle, CL_INVALID_MEM_OBJECT);
        const answer to(size, value, size_ret);
        switch (name) {
        case CL_MEM_TYPE: return to(object.type);
        case CL_MEM_FLAGS: return to(object.flags);
        case CL_MEM_SIZE: return to(object.size);
        case CL_MEM_HOST_PTR: return to(object.host_ptr);
        case CL_MEM_MAP_COUNT: {
            const std::lock_guard lock(object.mutex);
            return to(static_cast<cl_uint>(object.mappings.size()));
        }
        case CL_MEM_REFERENCE_COUNT: return to(object.references());
        case CL_MEM_CONTEXT: return to(static_cast<cl_context>(object.context.get()));
        case CL_MEM_ASSOCIATED_MEMOBJECT: return to(static_cast<cl_mem>(object.parent.get()));
        case CL_MEM_OFFSET: return to(object.offset);
        case CL_MEM_USES_SVM_POINTER: return to(cl_bool{CL_FALSE});
        case CL_MEM_PROPERTIES: return to.bytes(nullptr, 0);
        default: return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clGetImageInfo(cl_mem handle, cl_image_info name, size_t size, void* value, size_t* size_ret) {
    return guard([&] {
        auto& object = checked(handle, CL_INVALID_MEM_OBJECT);
        require(object.is_image(), CL_INVALID_MEM_OBJECT);
        const answer to(size, value, size_ret);
        if (name == CL_IMAGE_BUFFER) return to(static_cast<cl_mem>(object.parent.get()));
        if (!object.context->spans()) {
            auto& at = *object.context->here().front();
            return to.from([&, raw = object.raw(at)](size_t room, void* where, size_t* used) {
                return at.calls().clGetImageInfo(raw, name, room, where, used);
            });
        }
        // Drivers have pitches of their own: the same on every rank are those of host memory.
        const auto& [format, shape, pixel_bytes] = object.image;
        const auto pitches = object.host_pitches();
        const bool is_array = object.type == CL_MEM_OBJECT_IMAGE1D_ARRAY || object.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
        const bool is_line = object.type == CL_MEM_OBJECT_IMAGE1D || object.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
                             object.type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
        switch (name) {
        case CL_IMAGE_FORMAT: return to(format);
        case CL_IMAGE_ELEMENT_SIZE: return to(pixel_bytes);
        case CL_IMAGE_ROW_PITCH: return to(pitches[0]);
        case CL_IMAGE_SLICE_PITCH: return to(has_slices(object) ? pitches[1] : size_t{0});
        case CL_IMAGE_WIDTH: return to(shape.image_width);
        case CL_IMAGE_HEIGHT: return to(is_line ? size_t{0} : shape.image_height);
        case CL_IMAGE_DEPTH: return to(object.type == CL_MEM_OBJECT_IMAGE3D ? shape.image_depth : size_t{0});
        case CL_IMAGE_ARRAY_SIZE: return to(is_array ? shape.image_array_size : size_t{0});
        case CL_IMAGE_NUM_MIP_LEVELS: return to(cl_uint{0});
        case CL_IMAGE_NUM_SAMPLES: return to(cl_uint{0});
        default: return CL_INVALID_VALUE;
        }
    });
}

namespace {

using formats = std::vector<cl_image_format>;

bool is_among(const formats& all, const cl_image_format& one) {
    return std::any_of(all.begin(), all.end(), [&](const cl_image_format& other) {
        return one.image_channel_order == other.image_channel_order &&
               one.image_channel_data_type == other.image_channel_data_type;
    });
}

formats formats_at(const driver_context& at, cl_mem_flags flags, cl_mem_object_type type) {
    cl_uint count = 0;
    check(at.calls().clGetSupportedImageFormats(at.context.raw(), flags, type, 0, nullptr, &count));
    formats found(count);
    if (count != 0)
        check(at.calls().clGetSupportedImageFormats(at.context.raw(), flags, type, count, found.data(), nullptr));
    return found;
}

/// Those of all: an image has to be possible at every driver context.
formats common_of(const std::vector<formats>& all) {
    auto common = all.front();
    for (const auto& theirs : all)
        std::erase_if(common, [&](const cl_image_format& one) { return !is_among(theirs, one); });
    return common;
}

/// Of the driver contexts of this rank; none if its only one is for queries.
std::vector<formats> own_formats(const _cl_context& context, cl_mem_flags flags, cl_mem_object_type type) {
    std::vector<formats> all;
    for (const auto* at : context.here())
        if (!at->for_queries || !context.job.asks_ranks()) all.push_back(formats_at(*at, flags, type));
    return all;
}

/// Of the driver contexts of every rank. Collective.
std::vector<formats> formats_of_ranks(const _cl_context& context, cl_mem_flags flags, cl_mem_object_type type) {
    const auto& job = context.job;
    std::string mine;
    const auto code = job.agree(guard([&] {
        for (const auto& one : own_formats(context, flags, type)) {
            const auto count = one.size();
            mine.append(reinterpret_cast<const char*>(&count), sizeof count);
            mine.append(reinterpret_cast<const char*>(one.data()), count * sizeof one.front());
        }
        return CL_SUCCESS;
    }));
    check(code);
    std::vector<formats> all;
    for (const auto& blob : job.gather(mine))
        for (size_t at = 0; at < blob.size();) {
            size_t count = 0;
            std::memcpy(&count, blob.data() + at, sizeof count);
            auto& one = all.emplace_back(count);
            at += sizeof count;
            if (count != 0) std::memcpy(one.data(), blob.data() + at, count * sizeof one.front());
            at += count * sizeof one.front();
        }
    return all;
}

} // namespace

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context handle, cl_mem_flags flags, cl_mem_object_type type,
                                              cl_uint room, cl_image_format* list, cl_uint* found) {
    return guard([&]() -> cl_int {
        auto& context = checked(handle, CL_INVALID_CONTEXT);
        require(list == nullptr || room != 0, CL_INVALID_VALUE);
        const auto common = common_of(context.job.asks_ranks() ? formats_of_ranks(context, flags, type)
                                                               : own_formats(context, flags, type));
        if (list != nullptr) std::copy_n(common.begin(), std::min<size_t>(room, common.size()), list);
        if (found != nullptr) *found = static_cast<cl_uint>(common.size());
        return CL_SUCCESS;
    });
}

void* CL_API_CALL clSVMAlloc(cl_context, cl_svm_mem_flags, size_t, cl_uint) {
    return nullptr;
} // no device has shared virtual memory
void CL_API_CALL clSVMFree(cl_context, void*) {}

} // namespace causeway::platform::entry
