// SPDX-License-Identifier: Apache-2.0
// Contexts: the drivers' contexts, and what they are asked.
#include "platform/context.hpp"

#include "platform/behind.hpp"
#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/entry_points.hpp"
#include "platform/queue.hpp"
#include "platform/scheduler.hpp"
#include "platform/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace causeway::platform;

namespace {

/// A device of this rank that answers for those of others, as like one of them as there is: its driver says of programs
/// what theirs say. Null if the rank has none.
_cl_device_id* find_stand_in(const std::vector<_cl_device_id*>& others) {
    const auto type_of = [](const _cl_device_id& device) { return ask<cl_device_type>(device, CL_DEVICE_TYPE); };
    _cl_device_id* best = nullptr;
    int best_likeness = -1;
    for (auto* const own : all_devices()) {
        if (own->driver.calls == nullptr) continue;
        for (const auto* other : others) {
            const int likeness = (own->driver.name == other->driver.name ? 2 : 0) +
                                 (type_of(*own) == type_of(*other) ? 1 : 0);
            if (likeness <= best_likeness) continue;
            best = own;
            best_likeness = likeness;
        }
    }
    return best;
}

enum class contexts { automatic, of_driver, of_device }; // of the option

[[nodiscard]] bool has_own_memory(const _cl_device_id& device) {
    return ask<cl_device_type>(device, CL_DEVICE_TYPE) == CL_DEVICE_TYPE_GPU &&
           ask<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_FALSE && !device.parent;
}

/// Whether there is another GPU of its driver, and both have memory of their own. Drivers move contents between such by
/// way of the host, where the engine takes their link.
[[nodiscard]] bool has_like(const std::vector<_cl_device_id*>& all, const _cl_device_id& device) {
    return has_own_memory(device) && std::any_of(all.begin(), all.end(), [&](const _cl_device_id* other) {
               return other != &device && &other->driver == &device.driver && has_own_memory(*other);
           });
}

} // namespace

_cl_context::_cl_context(std::vector<_cl_device_id*> of, std::vector<cl_context_properties> as_given, notify on_error,
                         void* data)
    : object(own_kind), job(cluster::of_process()), properties(std::move(as_given)) {
    for (auto* const device : of) devices.emplace_back(device);
    const auto wish = static_cast<contexts>(settings()[causeway::option::contexts]);
    const auto is_apart = [&](const _cl_device_id& device) {
        return wish == contexts::of_device || (wish == contexts::automatic && has_like(of, device));
    };
    // Driver contexts of this rank first: whatever has an object of each driver counts by them.
    for (const bool own : {true, false}) {
        for (auto* const device : of) {
            if ((device->driver.calls != nullptr) != own) continue;
            const auto known = std::find_if(
                driver_contexts.begin(), driver_contexts.end(), [&](const driver_context& one) {
                    return one.from == &device->driver && !is_apart(*device) && !is_apart(*one.devices.front());
                });
            auto& at = known == driver_contexts.end() ? add_driver_context(device->driver) : *known;
            at.devices.push_back(device);
        }
        if (!own || !driver_contexts.empty()) continue;
        auto* const stand_in = find_stand_in(of);
        if (stand_in == nullptr) {
            std::fprintf(stderr,
                         "causeway: rank %d of %d has no device of its own, which a context needs on every rank: its "
                         "node has no "
                         "driver, or CAUSEWAY_DEVICES leaves none\n",
                         job.rank(), job.ranks());
            throw refusal{CL_DEVICE_NOT_AVAILABLE};
        }
        auto& at = add_driver_context(stand_in->driver);
        at.for_queries = true;
        at.devices.push_back(stand_in);
    }
    for (auto* const at : m_here) {
        const cl_context_properties only[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(at->from->platform), 0};
        const auto raws = at->raw_devices();
        cl_int code = CL_SUCCESS;
        at->context = driver_object<cl_context>(
            at->calls().clCreateContext(only, static_cast<cl_uint>(raws.size()), raws.data(), on_error, data, &code));
        check(code);
    }
    m_spans = driver_contexts.size() > 1 || !job.is_alone();
    if (!job.is_alone()) scheduler::of_process().begin();
    if (!spans()) return;
    for (auto* const at : m_here) {
        auto& device = *at->devices.front();
        // In order, copies only wait for one another. Between ranks that may be for ever: each end of a message waits
        // for the other rank.
        const bool in_order = at->from->quirks.hangs_in_last_release && job.is_alone();
        const auto can = ask<cl_command_queue_properties>(device, CL_DEVICE_QUEUE_PROPERTIES);
        at->copies = ref<_cl_command_queue>::adopt(
            new _cl_command_queue(_cl_command_queue::owner::context, *this, device, *at,
                                  in_order ? 0 : can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    }
    for (auto& at : driver_contexts) {
        auto& device = *at.devices.front();
        const auto can = ask<cl_command_queue_properties>(device, CL_DEVICE_QUEUE_PROPERTIES);
        at.steps = ref<_cl_command_queue>::adopt(new _cl_command_queue(
            _cl_command_queue::owner::context, *this, device, at, can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    }
}

driver_context& _cl_context::add_driver_context(const driver& from) {
    auto& at = driver_contexts.emplace_back();
    at.from = &from;
    at.index = static_cast<unsigned>(driver_contexts.size() - 1);
    at.rank = from.rank;
    at.here = from.calls != nullptr;
    if (at.here) m_here.push_back(&at);
    return at;
}

_cl_context::~_cl_context() {
    end_life();
    const cluster::pause unnoted;
    for (auto it = destructors.rbegin(); it != destructors.rend(); ++it) it->call(this, it->data);
}

driver_context& _cl_context::driver_context_of(const _cl_device_id& device) {
    require(has(device), CL_INVALID_DEVICE);
    return *std::find_if(driver_contexts.begin(), driver_contexts.end(),
                         [&](const driver_context& one) { return one.has(device); });
}

bool _cl_context::has(const _cl_device_id& device) const {
    return std::any_of(devices.begin(), devices.end(), [&](const auto& one) { return one.get() == &device; });
}

_cl_device_id& _cl_context::device_of(_cl_device_id& device) const {
    auto* found = &device;
    while (!has(*found) && job.is_alone() && found->parent) found = found->parent.get();
    require(has(*found), CL_INVALID_DEVICE);
    return *found;
}

namespace causeway::platform::entry {

namespace {

/// The list with its final zero; empty if there is none. Throws for what this platform does not know.
std::vector<cl_context_properties> checked_properties(const cl_context_properties* given) {
    std::vector<cl_context_properties> list;
    if (given == nullptr) return list;
    for (; *given != 0; given += 2) {
        require(std::find(list.begin(), list.end(), given[0]) == list.end() || list.size() % 2 != 0,
                CL_INVALID_PROPERTY);
        switch (given[0]) {
        case CL_CONTEXT_PLATFORM: {
            auto* const platform = reinterpret_cast<cl_platform_id>(given[1]);
            require(platform != nullptr && platform->is(kind::platform), CL_INVALID_PLATFORM);
            break;
        }
        case CL_CONTEXT_INTEROP_USER_SYNC: note(static_cast<std::uint64_t>(given[1])); break;
        default: throw refusal{CL_INVALID_PROPERTY};
        }
        list.insert(list.end(), {given[0], given[1]});
    }
    list.push_back(0);
    return list;
}

ref<_cl_context> create(std::vector<_cl_device_id*> devices, std::vector<cl_context_properties> properties,
                        _cl_context::notify on_error, void* data) {
    return ref<_cl_context>::adopt(new _cl_context(std::move(devices), std::move(properties), on_error, data));
}

} // namespace

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint count,
                                       const cl_device_id* devices, _cl_context::notify on_error, void* data,
                                       cl_int* code) {
    return make_everywhere(code, [&] {
        auto list = checked_properties(properties);
        require(count != 0 && devices != nullptr && (on_error != nullptr || data == nullptr), CL_INVALID_VALUE);
        std::vector<_cl_device_id*> chosen;
        for (cl_uint i = 0; i < count; ++i) {
            auto& device = checked(devices[i], CL_INVALID_DEVICE);
            note(device);
            if (std::find(chosen.begin(), chosen.end(), &device) == chosen.end()) chosen.push_back(&device);
        }
        return create(std::move(chosen), std::move(list), on_error, data);
    });
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties* properties, cl_device_type type,
                                               _cl_context::notify on_error, void* data, cl_int* code) {
    return make_everywhere(code, [&] {
        auto list = checked_properties(properties);
        require(on_error != nullptr || data == nullptr, CL_INVALID_VALUE);
        cl_uint count = 0;
        check(entry::clGetDeviceIDs(&the_platform(), type, 0, nullptr, &count));
        std::vector<_cl_device_id*> devices(count);
        check(entry::clGetDeviceIDs(&the_platform(), type, count, devices.data(), nullptr));
        return create(std::move(devices), std::move(list), on_error, data);
    });
}

cl_int CL_API_CALL clRetainContext(cl_context context) { return retain(context, CL_INVALID_CONTEXT); }
cl_int CL_API_CALL clReleaseContext(cl_context context) {
    if (context == nullptr || !context->is(kind::context)) return CL_INVALID_CONTEXT;
    if (context->references() == 1)
        for (const auto& at : context->driver_contexts)
            for (auto* const own : {at.copies.get(), at.steps.get()})
                if (own != nullptr) let_go_when_over(*own);
    return release(context, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clGetContextInfo(cl_context handle, cl_context_info name, size_t size, void* value,
                                    size_t* size_ret) {
    return guard([&] {
        const auto& context = checked(handle, CL_INVALID_CONTEXT);
        const answer to(size, value, size_ret);
        switch (name) {
        case CL_CONTEXT_REFERENCE_COUNT: return to(context.references());
        case CL_CONTEXT_NUM_DEVICES: return to(static_cast<cl_uint>(context.devices.size()));
        case CL_CONTEXT_DEVICES: {
            std::vector<cl_device_id> handles;
            for (const auto& device : context.devices) handles.push_back(device.get());
            return to.list(std::span<const cl_device_id>(handles));
        }
        case CL_CONTEXT_PROPERTIES: return to.list(std::span<const cl_context_properties>(context.properties));
        default: return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context handle, void(CL_CALLBACK* call)(cl_context, void*),
                                                  void* data) {
    return guard([&]() -> cl_int {
        auto& context = checked(handle, CL_INVALID_CONTEXT);
        require(call != nullptr, CL_INVALID_VALUE);
        const std::lock_guard lock(context.destructors_mutex);
        context.destructors.push_back({call, data});
        return CL_SUCCESS;
    });
}

} // namespace causeway::platform::entry
