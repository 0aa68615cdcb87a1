// SPDX-License-Identifier: Apache-2.0
// Mapping memory objects. The driver maps where it can do so at once and alone knows the contents; else a shadow in
// host memory stands for the object: the command that maps reads into it, the one that unmaps writes it back.
#include "base/box_geometry.hpp"
#include "platform/enqueue.hpp"
#include "platform/entry_points.hpp"

#include <iterator>
#include <map>

namespace causeway::platform::entry {

namespace {

using triple = std::array<size_t, 3>;

constexpr cl_map_flags known_flags = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

void check_map(const _cl_mem& object, cl_map_flags flags) {
    require((flags & ~known_flags) == 0, CL_INVALID_VALUE);
    require((flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0 || (flags & (CL_MAP_READ | CL_MAP_WRITE)) == 0,
            CL_INVALID_VALUE);
    const bool forbidden = (object.flags & CL_MEM_HOST_NO_ACCESS) != 0 ||
                           ((flags & CL_MAP_READ) != 0 && (object.flags & CL_MEM_HOST_WRITE_ONLY) != 0) ||
                           ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0 &&
                            (object.flags & CL_MEM_HOST_READ_ONLY) != 0);
    require(!forbidden, CL_INVALID_OPERATION);
}

bool writes(cl_map_flags flags) { return (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0; }

/// Whether the driver can map now, with an address that it gives now.
bool driver_can(const new_command& command, raw_waits& raws) {
    return !command.queue.context.spans() && command.queue.waiting_count.load(std::memory_order_acquire) == 0 &&
           look_at_waits(command, raws).what == obstacle::sort::none;
}

void remember(_cl_mem& object, void* address, const mapping& made) {
    const std::lock_guard lock(object.mutex);
    object.mappings.emplace(address, made);
}

using taken_mapping = std::multimap<void*, mapping>::node_type;

/// Of several mappings of one address the latest; those of one key are in the order in which they were made.
taken_mapping take_latest(_cl_mem& object, void* address) {
    const std::lock_guard lock(object.mutex);
    const auto [first, last] = object.mappings.equal_range(address);
    return first == last ? taken_mapping() : object.mappings.extract(std::prev(last));
}

void give_back(_cl_mem& object, taken_mapping taken) {
    const std::lock_guard lock(object.mutex);
    object.mappings.insert(std::move(taken));
}

cl_int read_box(_cl_command_queue& queue, _cl_mem& object, const mapping& of, void* target, cl_uint waits,
                const cl_event* events, cl_event* made) {
    const auto raw = object.raw(queue.where);
    if (!object.is_image())
        return queue.calls().clEnqueueReadBuffer(queue.raw.raw(), raw, CL_FALSE, of.where.origin[0], of.where.region[0],
                                                 target, waits, events, made);
    return queue.calls().clEnqueueReadImage(queue.raw.raw(), raw, CL_FALSE, of.where.origin.data(),
                                            of.where.region.data(), of.pitches[0], of.pitches[1], target, waits, events,
                                            made);
}

cl_int write_box(_cl_command_queue& queue, _cl_mem& object, const mapping& of, const void* source, cl_uint waits,
                 const cl_event* events, cl_event* made) {
    const auto raw = object.raw(queue.where);
    if (!object.is_image())
        return queue.calls().clEnqueueWriteBuffer(queue.raw.raw(), raw, CL_FALSE, of.where.origin[0],
                                                  of.where.region[0], source, waits, events, made);
    return queue.calls().clEnqueueWriteImage(queue.raw.raw(), raw, CL_FALSE, of.where.origin.data(),
                                             of.where.region.data(), of.pitches[0], of.pitches[1], source, waits,
                                             events, made);
}

cl_int marker(_cl_command_queue& queue, cl_uint waits, const cl_event* events, cl_event* made) {
    // In an out-of-order queue a marker without a list would wait for all that came before.
    if (waits == 0 && !queue.in_order()) return CL_SUCCESS;
    return queue.calls().clEnqueueMarkerWithWaitList(queue.raw.raw(), waits, events, made);
}

/// Maps through the shadow, at `address`.
void map_shadow(const new_command& command, _cl_mem& object, mapping made, void* address) {
    const bool reads = made.flags != CL_MAP_WRITE_INVALIDATE_REGION;
    const memory_use uses[] = {{&object, access::read}};
    auto turn = command;
    turn.uses = {};
    turn.mapped = &object;
    auto& queue = command.queue;
    if (!reads) {
        check(enqueue(turn, [&queue](cl_bool, cl_uint waits, const cl_event* events, cl_event* event) {
            return marker(queue, waits, events, event);
        }));
        remember(object, address, made);
        return;
    }
    turn.uses = uses;
    turn.made = &made.filling;
    const auto& region = made.where.region;
    const auto there = object.is_image() ? target_of(object, region, address, made.pitches)
                                         : host_target{address, region[0]};
    check(enqueue_read(turn, there, [&](void* to, size_t row, size_t slice) {
        auto into = made;
        into.pitches = {row, slice};
        return [&queue, held = ref<_cl_mem>(&object), into, to](cl_bool, cl_uint waits, const cl_event* events,
                                                                cl_event* event) {
            return read_box(queue, *held, into, to, waits, events, event);
        };
    }));
    remember(object, address, made);
}

/// Calls the driver's map: map(number of events, events, where its event goes, code). Gives the program its event.
template <class Map> void* map_by_driver(const new_command& command, _cl_mem& object, mapping made,
                                         const raw_waits& raws, Map map) {
    cl_event raw = nullptr;
    cl_int code = CL_SUCCESS;
    made.by_driver = true;
    made.at = &command.queue.where;
    void* const address = map(raws.count(), raws.list(), command.event != nullptr ? &raw : nullptr, &code);
    check(code);
    remember(object, address, made);
    if (command.event != nullptr) give_event(command, raw, raws.count() != 0);
    return address;
}

void* map_buffer(const new_command& command, _cl_mem& buffer, cl_map_flags flags, size_t offset, size_t size) {
    require(!buffer.is_image(), CL_INVALID_MEM_OBJECT);
    check_map(buffer, flags);
    require(size != 0 && has_range(buffer.size, offset, size), CL_INVALID_VALUE);
    const mapping made{false, flags, {{offset, 0, 0}, {size, 1, 1}}};
    raw_waits raws;
    check_command(command);
    if (driver_can(command, raws))
        return map_by_driver(
            command, buffer, made, raws, [&](cl_uint waits, const cl_event* events, cl_event* event, cl_int* code) {
                auto& queue = command.queue;
                return queue.calls().clEnqueueMapBuffer(queue.raw.raw(), buffer.raw(queue.where), command.blocking,
                                                        flags, offset, size, waits, events, event, code);
            });
    void* const address = buffer.shadow() + offset;
    map_shadow(command, buffer, made, address);
    return address;
}

void* map_image(const new_command& command, _cl_mem& image, cl_map_flags flags, const triple& origin,
                const triple& region, size_t* row_pitch, size_t* slice_pitch) {
    require(image.is_image(), CL_INVALID_MEM_OBJECT);
    check_map(image, flags);
    check_region(image, origin, region);
    require(row_pitch != nullptr && (slice_pitch != nullptr || !has_slices(image)), CL_INVALID_VALUE);
    note(origin.data(), sizeof origin);
    note(region.data(), sizeof region);
    mapping made{false, flags, {origin, region}};
    raw_waits raws;
    check_command(command);
    if (driver_can(command, raws))
        return map_by_driver(
            command, image, made, raws, [&](cl_uint waits, const cl_event* events, cl_event* event, cl_int* code) {
                auto& queue = command.queue;
                return queue.calls().clEnqueueMapImage(queue.raw.raw(), image.raw(queue.where), command.blocking, flags,
                                                       origin.data(), region.data(), row_pitch, slice_pitch, waits,
                                                       events, event, code);
            });
    const auto pitches = image.host_pitches();
    // Reading and writing take no slice pitch for images that have no slices.
    made.pitches = {pitches[0], has_slices(image) ? pitches[1] : 0};
    *row_pitch = made.pitches[0];
    if (slice_pitch != nullptr) *slice_pitch = made.pitches[1];
    void* const address = image.shadow() + origin[0] * image.image.pixel_bytes +
                          origin[1] * (is_lines(image) ? pitches[1] : pitches[0]) + origin[2] * pitches[1];
    map_shadow(command, image, made, address);
    return address;
}

} // namespace

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t size, cl_uint count, const cl_event* list, cl_event* event,
                                     cl_int* code) {
    void* address = nullptr;
    const auto result = guard([&]() -> cl_int {
        auto& in = checked(queue, CL_INVALID_COMMAND_QUEUE);
        auto& object = checked(buffer, CL_INVALID_MEM_OBJECT);
        const memory_use uses[] = {{&object, access::read}};
        address = map_buffer({in, CL_COMMAND_MAP_BUFFER, blocking, count, list, event, uses}, object, flags, offset,
                             size);
        return CL_SUCCESS;
    });
    if (code != nullptr) *code = result;
    return address;
}

void* CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                    const size_t* origin, const size_t* region, size_t* row_pitch, size_t* slice_pitch,
                                    cl_uint count, const cl_event* list, cl_event* event, cl_int* code) {
    void* address = nullptr;
    const auto result = guard([&]() -> cl_int {
        auto& in = checked(queue, CL_INVALID_COMMAND_QUEUE);
        auto& object = checked(image, CL_INVALID_MEM_OBJECT);
        require(origin != nullptr && region != nullptr, CL_INVALID_VALUE);
        const memory_use uses[] = {{&object, access::read}};
        address = map_image({in, CL_COMMAND_MAP_IMAGE, blocking, count, list, event, uses}, object, flags,
                            {origin[0], origin[1], origin[2]}, {region[0], region[1], region[2]}, row_pitch,
                            slice_pitch);
        return CL_SUCCESS;
    });
    if (code != nullptr) *code = result;
    return address;
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue_handle, cl_mem handle, void* address, cl_uint count,
                                           const cl_event* list, cl_event* event) {
    return guard([&] {
        auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
        auto& object = checked(handle, CL_INVALID_MEM_OBJECT);
        // From here on no other unmap finds it.
        auto taken = take_latest(object, address);
        require(!taken.empty(), CL_INVALID_VALUE);
        const mapping of = taken.mapped();
        // Addresses differ between ranks.
        if (!of.by_driver) note(static_cast<std::uint64_t>(static_cast<std::byte*>(address) - object.shadow()));
        const bool writes_back = writes(of.flags);
        const memory_use uses[] = {{&object, access::write}};
        new_command command{queue, CL_COMMAND_UNMAP_MEM_OBJECT, CL_FALSE, count, list, event};
        if (writes_back) command.uses = uses;
        if (writes_back && !of.by_driver) {
            command.mapped = &object;
            command.reads_host = true;
            command.filling = of.filling.get();
        }
        const auto issue = [&queue, held = ref<_cl_mem>(&object), of, address,
                            writes_back](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
            if (of.by_driver)
                return queue.calls().clEnqueueUnmapMemObject(queue.raw.raw(), held->raw(queue.where), address, waits,
                                                             events, made);
            return writes_back ? write_box(queue, *held, of, address, waits, events, made)
                               : marker(queue, waits, events, made);
        };
        const auto code = guard([&] { return enqueue(command, issue); });
        if (code != CL_SUCCESS) give_back(object, std::move(taken));
        return code;
    });
}

} // namespace causeway::platform::entry
