// SPDX-License-Identifier: Apache-2.0
// OpenACC's routines about devices and memory.
#include "acc/data.hpp"
#include "acc/declared.hpp"
#include "acc/failure.hpp"
#include "acc/peer.hpp"
#include "acc/selection.hpp"

#include <causeway/acc/openacc.h>

#include <cstdlib>
#include <cstring>

using namespace causeway::acc;

#define ROUTINE(name) const scope here(name)

namespace {

bool is_of(const device& one, int type) {
    return type == acc_device_default || type == acc_device_not_host || type == acc_device_current ||
           one.type() == type;
}

/// The number over all devices of the `number`th of a type; -1 if there is none.
int whole_number(int number, int type) {
    int at = 0;
    for (const auto& each : devices())
        if (is_of(*each, type) && at++ == number) return each->number();
    return -1;
}

/// The current device, locked, with the queue of a routine.
struct routine_target {
    explicit routine_target(long queue_number_given = acc_async_sync) : on(current_device()) {
        if (!on) return;
        held = std::unique_lock(on->lock());
        map_declared(*on);
        number = queue_number(queue_number_given);
        in = &on->queue_of(number);
        in->waited_for = number == synchronous_queue;
    }
    void finish() {
        if (number == synchronous_queue)
            on->finish(*in, held);
        else
            in->flush();
    }
    device* on;
    queue* in = nullptr;
    long number = 0;
    std::unique_lock<std::recursive_mutex> held;
};

void* enter(void* host, std::size_t bytes, bool copy, int queue) {
    routine_target target(queue);
    if (!target.on || !host || bytes == 0) return host;
    auto* found = target.on->table().find(host, bytes);
    if (!found)
        found = &map_one(*target.on, *target.in, host, host, bytes, copy ? CAUSEWAY_ACC_COPYIN : CAUSEWAY_ACC_CREATE);
    ++found->dynamic;
    if (!found->device_address) found->device_address = target.on->reserve(found->buffer, found->offset, found->bytes);
    auto* const address = found->device_address + (static_cast<char*>(host) - found->start);
    target.finish();
    return address;
}

void leave(void* host, std::size_t bytes, bool copy, bool finalize, int queue) {
    routine_target target(queue);
    if (!target.on || !host || bytes == 0) return;
    auto* const found = target.on->table().find(host, bytes);
    if (!found) return;
    if (finalize)
        found->dynamic = 0;
    else if (found->dynamic > 0)
        --found->dynamic;
    if (found->dynamic == 0 && found->structured == 0) {
        if (target.number == synchronous_queue) target.on->order_all(*target.in);
        if (copy) target.on->read(*target.in, host, location_of(*target.on, host, bytes, "the range"), bytes);
        release(*target.on, *target.in, *found);
    }
    target.finish();
}

void update(void* host, std::size_t bytes, bool to_device, int queue) {
    routine_target target(queue);
    if (!target.on || !host || bytes == 0) return;
    const auto* const found = target.on->table().find(host, bytes);
    if (!found) fail_here("the memory is not present on device " + std::to_string(target.on->number()));
    const auto there = location_of(*target.on, host, bytes, "the range");
    if (target.number == synchronous_queue) target.on->order_all(*target.in);
    if (found->symmetric) return target.finish(); // its only copy is the device's
    if (to_device)
        target.on->write(*target.in, there, host, bytes);
    else
        target.on->read(*target.in, host, there, bytes);
    target.finish();
}

buffer_location device_location(device& on, void* address, std::size_t bytes) {
    const auto found = on.find_reserved(address);
    if (found == on.reserved().end()) fail_here("this is no address of device " + std::to_string(on.number()));
    const auto from = static_cast<std::size_t>(static_cast<char*>(address) - found->first);
    if (bytes > found->second.bytes - from) fail_here("the range goes beyond its device memory");
    return {found->second.buffer, found->second.offset + from};
}

void copy(void* to, void* from, std::size_t bytes, bool to_is_device, bool from_is_device, int queue) {
    if (bytes == 0) return;
    routine_target target(queue);
    if (!target.on) {
        std::memmove(to, from, bytes);
        return;
    }
    if (to_is_device && from_is_device) {
        const auto into = device_location(*target.on, to, bytes), from_there = device_location(*target.on, from, bytes);
        command_slot slot(*target.in);
        check(clEnqueueCopyBuffer(target.in->handle, from_there.buffer, into.buffer, from_there.offset, into.offset,
                                  bytes, slot.count(), slot.list(), slot.event()),
              "clEnqueueCopyBuffer");
    } else if (to_is_device) {
        target.on->write(*target.in, device_location(*target.on, to, bytes), from, bytes);
    } else {
        target.on->read(*target.in, to, device_location(*target.on, from, bytes), bytes);
    }
    target.finish();
}

} // namespace

// Devices

int acc_get_num_devices(acc_device_t type) {
    if (type == acc_device_none) return 0;
    if (type == acc_device_host) return 1;
    int count = 0;
    for (const auto& each : devices()) count += is_of(*each, type);
    return count;
}
void acc_set_device_type(acc_device_t type) {
    ROUTINE("acc_set_device_type");
    if (type == acc_device_host) {
        selected().host = true;
        return;
    }
    if (type != acc_device_none && whole_number(0, type) < 0 && type != acc_device_default)
        fail_here("there is no device of this type");
    selected().host = false;
    if (type != acc_device_default && type != acc_device_not_host && whole_number(0, type) >= 0 &&
        !is_of(device_number(selected().number), type))
        selected().number = whole_number(0, type);
}
acc_device_t acc_get_device_type() {
    ROUTINE("acc_get_device_type");
    const auto* const on = current_device();
    return on ? static_cast<acc_device_t>(on->type()) : acc_device_host;
}
void acc_set_device_num(int number, acc_device_t type) {
    ROUTINE("acc_set_device_num");
    if (type == acc_device_host || devices().empty()) {
        selected().host = selected().host || type == acc_device_host;
        return;
    }
    const int whole = whole_number(number < 0 ? 0 : number, type);
    if (whole < 0)
        fail_here("there is no device " + std::to_string(number) + " of this type; there are " +
                  std::to_string(acc_get_num_devices(type)) + ", from 0 on");
    selected() = {false, whole, selected().default_queue};
}
int acc_get_device_num(acc_device_t type) {
    ROUTINE("acc_get_device_num");
    const auto* const on = current_device();
    if (type == acc_device_host || !on) return 0;
    for (int number = 0;; ++number) {
        const int whole = whole_number(number, type);
        if (whole < 0) return 0;
        if (whole == on->number()) return number;
    }
}
size_t acc_get_property(int number, acc_device_t type, acc_device_property_t property) {
    ROUTINE("acc_get_property");
    const int whole = type == acc_device_current && current_device() ? current_device()->number()
                                                                     : whole_number(number, type);
    if (whole < 0) return 0;
    cl_ulong bytes = 0;
    if (property == acc_property_memory)
        clGetDeviceInfo(device_number(whole).id(), CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
    // OpenCL does not tell what others have of it.
    if (property == acc_property_free_memory)
        return acc_get_property(number, type, acc_property_memory) - device_number(whole).allocated();
    return bytes;
}
const char* acc_get_property_string(int number, acc_device_t type, acc_device_property_t property) {
    ROUTINE("acc_get_property_string");
    const int whole = type == acc_device_current && current_device() ? current_device()->number()
                                                                     : whole_number(number, type);
    if (whole < 0) return nullptr;
    const auto what = property == acc_property_name     ? CL_DEVICE_NAME
                      : property == acc_property_vendor ? CL_DEVICE_VENDOR
                      : property == acc_property_driver ? CL_DRIVER_VERSION
                                                        : 0;
    if (what == 0) return nullptr;
    thread_local char text[512];
    text[0] = '\0';
    clGetDeviceInfo(device_number(whole).id(), static_cast<cl_device_info>(what), sizeof text - 1, text, nullptr);
    return text;
}
void acc_init(acc_device_t type) {
    if (type != acc_device_host && type != acc_device_none) (void)current_device();
}
void acc_init_device(int, acc_device_t type) { acc_init(type); }
void acc_shutdown(acc_device_t) {
    ROUTINE("acc_shutdown");
    for (const auto& each : devices()) {
        std::unique_lock held(each->lock());
        each->finish_all(held);
    }
}
void acc_shutdown_device(int, acc_device_t type) { acc_shutdown(type); }
int acc_on_device(acc_device_t type) { return type == acc_device_host; }

void causeway_acc_set_directive(causeway_acc_clauses* clauses, int what) {
    const scope here(clauses->location);
    if (!clauses->condition) return;
    const auto type = clauses->gangs > 0 ? static_cast<acc_device_t>(clauses->gangs) : acc_device_default;
    if (what == 0) return acc_init(type);
    if (what == 1) return acc_shutdown(type);
    if (clauses->gangs > 0 && !clauses->has_device) acc_set_device_type(type);
    if (clauses->has_device) acc_set_device_num(static_cast<int>(clauses->device), type);
    if (clauses->asynchronous) acc_set_default_async(static_cast<int>(clauses->queue));
}

// Memory

void* acc_malloc(size_t bytes) {
    ROUTINE("acc_malloc");
    routine_target target;
    if (!target.on) return std::malloc(bytes);
    if (bytes == 0) return nullptr;
    return target.on->reserve(target.on->allocate(bytes), 0, bytes);
}
void acc_free(void* address) {
    ROUTINE("acc_free");
    if (!address) return;
    for (const auto& each : devices()) {
        const std::lock_guard held(each->lock());
        const auto found = each->reserved().find(static_cast<char*>(address));
        if (found == each->reserved().end()) continue;
        each->free(found->second.buffer, found->second.bytes);
        each->forget(static_cast<char*>(address));
        return;
    }
    if (!selected().host && !devices().empty()) fail_here("this is no address that acc_malloc() gave");
    std::free(address);
}
void* acc_copyin(void* host, size_t bytes) {
    ROUTINE("acc_copyin");
    return enter(host, bytes, true, acc_async_sync);
}
void* acc_create(void* host, size_t bytes) {
    ROUTINE("acc_create");
    return enter(host, bytes, false, acc_async_sync);
}
void* acc_present_or_copyin(void* host, size_t bytes) { return acc_copyin(host, bytes); }
void* acc_present_or_create(void* host, size_t bytes) { return acc_create(host, bytes); }
void* acc_pcopyin(void* host, size_t bytes) { return acc_copyin(host, bytes); }
void* acc_pcreate(void* host, size_t bytes) { return acc_create(host, bytes); }
void acc_copyin_async(void* host, size_t bytes, int queue) {
    ROUTINE("acc_copyin_async");
    enter(host, bytes, true, queue);
}
void acc_create_async(void* host, size_t bytes, int queue) {
    ROUTINE("acc_create_async");
    enter(host, bytes, false, queue);
}
void acc_copyout(void* host, size_t bytes) {
    ROUTINE("acc_copyout");
    leave(host, bytes, true, false, acc_async_sync);
}
void acc_copyout_async(void* host, size_t bytes, int queue) {
    ROUTINE("acc_copyout_async");
    leave(host, bytes, true, false, queue);
}
void acc_copyout_finalize(void* host, size_t bytes) {
    ROUTINE("acc_copyout_finalize");
    leave(host, bytes, true, true, acc_async_sync);
}
void acc_copyout_finalize_async(void* host, size_t bytes, int queue) {
    ROUTINE("acc_copyout_finalize_async");
    leave(host, bytes, true, true, queue);
}
void acc_delete(void* host, size_t bytes) {
    ROUTINE("acc_delete");
    leave(host, bytes, false, false, acc_async_sync);
}
void acc_delete_async(void* host, size_t bytes, int queue) {
    ROUTINE("acc_delete_async");
    leave(host, bytes, false, false, queue);
}
void acc_delete_finalize(void* host, size_t bytes) {
    ROUTINE("acc_delete_finalize");
    leave(host, bytes, false, true, acc_async_sync);
}
void acc_delete_finalize_async(void* host, size_t bytes, int queue) {
    ROUTINE("acc_delete_finalize_async");
    leave(host, bytes, false, true, queue);
}
void acc_update_device(void* host, size_t bytes) {
    ROUTINE("acc_update_device");
    update(host, bytes, true, acc_async_sync);
}
void acc_update_device_async(void* host, size_t bytes, int queue) {
    ROUTINE("acc_update_device_async");
    update(host, bytes, true, queue);
}
void acc_update_self(void* host, size_t bytes) {
    ROUTINE("acc_update_self");
    update(host, bytes, false, acc_async_sync);
}
void acc_update_self_async(void* host, size_t bytes, int queue) {
    ROUTINE("acc_update_self_async");
    update(host, bytes, false, queue);
}

void acc_map_data(void* host, void* address, size_t bytes) {
    ROUTINE("acc_map_data");
    routine_target target;
    if (!target.on || bytes == 0) return;
    if (target.on->table().maps(host, bytes)) fail_here("the memory is mapped already");
    const auto there = device_location(*target.on, address, bytes);
    mapping made{static_cast<char*>(host), bytes, host, there.buffer, there.offset};
    made.owned = false;
    made.dynamic = 1;
    target.on->table().add(made);
}
void acc_map_buffer(void* host, void* buffer, size_t offset, size_t bytes) {
    ROUTINE("acc_map_buffer");
    routine_target target;
    if (!target.on || bytes == 0) return;
    if (target.on->table().maps(host, bytes)) fail_here("the memory is mapped already");
    std::size_t size = 0;
    check(clGetMemObjectInfo(static_cast<cl_mem>(buffer), CL_MEM_SIZE, sizeof size, &size, nullptr),
          "clGetMemObjectInfo");
    if (offset > size || bytes > size - offset)
        fail_here("the range goes beyond the buffer, which has " + std::to_string(size) + " bytes");
    mapping made{static_cast<char*>(host), bytes, host, static_cast<cl_mem>(buffer), offset};
    made.owned = false;
    made.dynamic = 1;
    target.on->table().add(made);
}
void acc_unmap_data(void* host) {
    ROUTINE("acc_unmap_data");
    routine_target target;
    if (!target.on) return;
    auto* const found = target.on->table().find_start(host);
    if (!found || found->owned || found->symmetric) fail_here("the memory was not mapped by acc_map_data()");
    release(*target.on, *target.in, *found);
}
void* acc_deviceptr(void* host) {
    ROUTINE("acc_deviceptr");
    routine_target target;
    if (!target.on) return host;
    auto* const found = target.on->table().find_start(host);
    if (!found) return nullptr;
    if (!found->device_address) found->device_address = target.on->reserve(found->buffer, found->offset, found->bytes);
    return found->device_address + (static_cast<char*>(host) - found->start);
}
void* acc_hostptr(void* address) {
    ROUTINE("acc_hostptr");
    routine_target target;
    if (!target.on) return address;
    if (const auto* found = target.on->table().find_device(static_cast<char*>(address)))
        return found->start + (static_cast<char*>(address) - found->device_address);
    // Mapped by acc_map_data(): the address is acc_malloc()'s.
    const auto reserved = target.on->find_reserved(address);
    if (reserved == target.on->reserved().end()) return nullptr;
    const auto offset = reserved->second.offset +
                        static_cast<std::size_t>(static_cast<char*>(address) - reserved->first);
    const auto* const found = target.on->table().find_buffer(reserved->second.buffer, offset);
    return found ? found->start + (offset - found->offset) : nullptr;
}
int acc_is_present(void* host, size_t bytes) {
    ROUTINE("acc_is_present");
    routine_target target;
    if (!target.on) return 1;
    const auto* const found = target.on->table().find_start(host);
    return found && static_cast<char*>(host) + bytes <= found->start + found->bytes;
}
void* acc_get_current_opencl_device(void) {
    routine_target target;
    return target.on ? target.on->id() : nullptr;
}
void* acc_get_current_opencl_context(void) {
    routine_target target;
    return target.on ? target.on->context() : nullptr;
}
void* acc_get_opencl_queue(int queue) {
    routine_target target(queue);
    if (!target.on) return nullptr;
    target.in->shared = true, target.in->idle = false;
    return target.in->handle;
}
void acc_memcpy_to_device(void* to, void* from, size_t bytes) {
    ROUTINE("acc_memcpy_to_device");
    copy(to, from, bytes, true, false, acc_async_sync);
}
void acc_memcpy_to_device_async(void* to, void* from, size_t bytes, int queue) {
    ROUTINE("acc_memcpy_to_device_async");
    copy(to, from, bytes, true, false, queue);
}
void acc_memcpy_from_device(void* to, void* from, size_t bytes) {
    ROUTINE("acc_memcpy_from_device");
    copy(to, from, bytes, false, true, acc_async_sync);
}
void acc_memcpy_from_device_async(void* to, void* from, size_t bytes, int queue) {
    ROUTINE("acc_memcpy_from_device_async");
    copy(to, from, bytes, false, true, queue);
}
void acc_memcpy_device(void* to, void* from, size_t bytes) {
    ROUTINE("acc_memcpy_device");
    copy(to, from, bytes, true, true, acc_async_sync);
}
void acc_memcpy_device_async(void* to, void* from, size_t bytes, int queue) {
    ROUTINE("acc_memcpy_device_async");
    copy(to, from, bytes, true, true, queue);
}
namespace {

void between(void* to, int to_device, const void* from, int from_device, std::size_t bytes, long queue, bool waits) {
    if (selected().host || devices().empty())
        std::memmove(to, from, bytes);
    else
        copy_between({device_number(to_device), to}, {device_number(from_device), const_cast<void*>(from)}, bytes,
                     "the range", queue, waits);
}

} // namespace

void acc_memcpy_d2d(void* to, void* from, size_t bytes, int to_device, int from_device) {
    ROUTINE("acc_memcpy_d2d");
    between(to, to_device, from, from_device, bytes, synchronous_queue, true);
}
void acc_memcpy_d2d_async(void* to, void* from, size_t bytes, int to_device, int from_device, int queue) {
    ROUTINE("acc_memcpy_d2d_async");
    const long number = queue_number(queue);
    between(to, to_device, from, from_device, bytes, number, number == synchronous_queue);
}
void acc_update_peer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    ROUTINE("acc_update_peer");
    between(to, to_device, from, from_device, bytes, synchronous_queue, false);
}
// A region looks up what the host's pointers point to when it begins, those in structures too: nothing has to be
// attached.
void acc_attach(void**) {}
void acc_attach_async(void**, int) {}
void acc_detach(void**) {}
void acc_detach_async(void**, int) {}
void acc_detach_finalize(void**) {}
void acc_detach_finalize_async(void**, int) {}
