// SPDX-License-Identifier: Apache-2.0
// Commands that only order others: markers, barriers, and migration, which says where memory will be needed.
#include "platform/enqueue.hpp"
#include "platform/entry_points.hpp"

namespace causeway::platform::entry {

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue handle, cl_uint count, const cl_event* list,
                                               cl_event* event) {
    return guard([&] {
        auto& queue = checked(handle, CL_INVALID_COMMAND_QUEUE);
        // Without a list it waits for all that came before.
        return enqueue({queue, CL_COMMAND_MARKER, CL_FALSE, count, list, event, {}, {count == 0, false}},
                       [&queue](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueMarkerWithWaitList(queue.raw.raw(), waits, events, made);
                       });
    });
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue handle, cl_uint count, const cl_event* list,
                                                cl_event* event) {
    return guard([&] {
        auto& queue = checked(handle, CL_INVALID_COMMAND_QUEUE);
        return enqueue({queue, CL_COMMAND_BARRIER, CL_FALSE, count, list, event, {}, {count == 0, true}},
                       [&queue](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                           return queue.calls().clEnqueueBarrierWithWaitList(queue.raw.raw(), waits, events, made);
                       });
    });
}

// The calls of OpenCL 1.0 are those of 1.2 without a list, or without an event.
cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event* event) {
    return event == nullptr ? CL_INVALID_VALUE : entry::clEnqueueMarkerWithWaitList(queue, 0, nullptr, event);
}
cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
    return entry::clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr);
}
cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event* list) {
    if (count == 0 || list == nullptr) return CL_INVALID_VALUE;
    const auto code = entry::clEnqueueBarrierWithWaitList(queue, count, list, nullptr);
    return code == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : code;
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue handle, cl_uint object_count, const cl_mem* objects,
                                              cl_mem_migration_flags flags, cl_uint count, const cl_event* list,
                                              cl_event* event) {
    return guard([&] {
        auto& queue = checked(handle, CL_INVALID_COMMAND_QUEUE);
        require(object_count != 0 && objects != nullptr, CL_INVALID_VALUE);
        constexpr cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        require((flags & ~known) == 0, CL_INVALID_VALUE);
        std::vector<memory_use> uses;
        std::vector<ref<_cl_mem>> held;
        for (cl_uint i = 0; i < object_count; ++i) {
            held.emplace_back(&checked(objects[i], CL_INVALID_MEM_OBJECT));
            note(*objects[i]);
            uses.push_back({objects[i],
                            (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) != 0 ? access::overwrite : access::read});
        }
        return enqueue(
            {queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_FALSE, count, list, event, uses},
            [&queue, held = std::move(held), flags](cl_bool, cl_uint waits, const cl_event* events, cl_event* made) {
                if (queue.where.from->quirks.breaks_migrations) {
                    // Without a list a marker would wait for all that is in the queue.
                    if (waits == 0 && !queue.in_order()) return CL_SUCCESS;
                    return queue.calls().clEnqueueMarkerWithWaitList(queue.raw.raw(), waits, events, made);
                }
                std::vector<cl_mem> raws;
                for (const auto& object : held) raws.push_back(object->raw(queue.where));
                return queue.calls().clEnqueueMigrateMemObjects(queue.raw.raw(), static_cast<cl_uint>(raws.size()),
                                                                raws.data(), flags, waits, events, made);
            });
    });
}

} // namespace causeway::platform::entry

namespace causeway::platform {

ref<_cl_event> enqueue_mark(_cl_command_queue& queue) {
    const auto mark = queue.in_order() ? &entry::clEnqueueBarrierWithWaitList : &entry::clEnqueueMarkerWithWaitList;
    cl_event made = nullptr;
    check(mark(&queue, 0, nullptr, &made));
    return ref<_cl_event>::adopt(made);
}

cl_int CL_API_CALL attach_buffer_to_device(cl_mem buffer_handle, cl_device_id device_handle) {
    return guard([&]() -> cl_int {
        auto& buffer = checked(buffer_handle, CL_INVALID_MEM_OBJECT);
        require(!buffer.is_image(), CL_INVALID_MEM_OBJECT);
        auto& at = buffer.context->driver_context_of(checked(device_handle, CL_INVALID_DEVICE));
        if (!buffer.context->spans()) return CL_SUCCESS;
        const std::lock_guard lock(buffer.context->order);
        attach(buffer, at);
        return CL_SUCCESS;
    });
}

} // namespace causeway::platform
