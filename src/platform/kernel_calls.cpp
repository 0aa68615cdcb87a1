// SPDX-License-Identifier: Apache-2.0
// Making kernels, setting their arguments, asking about them, and enqueueing them.
#include "base/box_geometry.hpp"
#include "platform/enqueue.hpp"
#include "platform/entry_points.hpp"
#include "platform/first_launch.hpp"
#include "platform/kernel.hpp"
#include "platform/remote_answer.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

namespace causeway::platform::entry {

namespace {

/// A launch: the kernel as it is if the driver can have it at once, else a copy with the arguments of now.
struct launch {
    _cl_kernel& kernel;
    _cl_command_queue& queue;
    cl_uint dimensions;
    std::optional<std::array<size_t, 3>> offset, local;
    std::array<size_t, 3> global;
    std::shared_ptr<first_launch> first = {};
    ref<_cl_kernel> held = {};
    std::shared_ptr<driver_object<cl_kernel>> later = {};
    std::vector<ref<_cl_mem>> memory = {};

    void detach() {
        first.reset();
        const std::lock_guard lock(kernel.mutex);
        held = ref<_cl_kernel>(&kernel);
        for (const auto& use : kernel.uses()) memory.emplace_back(use.object);
        later = kernel.snapshot(queue.where);
    }

    cl_int operator()(cl_bool, cl_uint count, const cl_event* list, cl_event* event) const {
        const auto enqueue_raw = [&](cl_kernel raw) {
            return queue.calls().clEnqueueNDRangeKernel(queue.raw.raw(), raw, dimensions,
                                                        offset ? offset->data() : nullptr, global.data(),
                                                        local ? local->data() : nullptr, count, list, event);
        };
        if (later) return enqueue_raw(later->raw());
        const std::lock_guard lock(kernel.mutex);
        const cl_int code = enqueue_raw(kernel.with_arguments(queue.where));
        if (first && event != nullptr && *event != nullptr) first_launch::keep_until_running(first, *event);
        return code;
    }
};

/// What no driver can run (OpenCL 1.2, section 5.8); the rest is the driver's affair.
void check_sizes(const launch& of) {
    for (std::size_t i = 0; i < of.dimensions; ++i) {
        require(of.global[i] != 0, CL_INVALID_GLOBAL_WORK_SIZE);
        require(!of.offset || (*of.offset)[i] <= SIZE_MAX - of.global[i], CL_INVALID_GLOBAL_OFFSET);
        require(!of.local || (*of.local)[i] != 0, CL_INVALID_WORK_GROUP_SIZE);
    }
}

cl_int enqueue_kernel(cl_command_queue queue_handle, cl_kernel kernel_handle, cl_command_type type, cl_uint dimensions,
                      const size_t* offset, const size_t* global, const size_t* local, cl_uint count,
                      const cl_event* list, cl_event* event) {
    auto& queue = checked(queue_handle, CL_INVALID_COMMAND_QUEUE);
    auto& kernel = checked(kernel_handle, CL_INVALID_KERNEL);
    require(kernel.context.get() == &queue.context, CL_INVALID_CONTEXT);
    require(dimensions >= 1 && dimensions <= 3, CL_INVALID_WORK_DIMENSION);
    require(global != nullptr, CL_INVALID_GLOBAL_WORK_SIZE);
    const auto copy = [&](const size_t* from) {
        std::array<size_t, 3> to{1, 1, 1};
        std::copy_n(from, dimensions, to.begin());
        note(to.data(), sizeof to);
        return to;
    };
    launch made{kernel, queue, dimensions, {}, {}, copy(global)};
    if (offset != nullptr) made.offset = copy(offset);
    if (local != nullptr) made.local = copy(local);
    check_sizes(made);
    std::vector<memory_use> uses;
    if (queue.context.spans()) {
        const std::lock_guard lock(kernel.mutex);
        require(kernel.complete(), CL_INVALID_KERNEL_ARGS); // the driver may be one of another rank
        uses = kernel.uses();
    }
    made.first = first_launch::of(kernel, queue, made.offset.has_value(), made.local, made.global);
    return enqueue({queue, type, CL_FALSE, count, list, event, uses}, std::move(made));
}

/// An object, or a number. Structures have bytes between their members that hold anything.
void note_argument(const _cl_kernel& kernel, cl_uint index, size_t size, const void* value) {
    if (value == nullptr || size > sizeof(std::uint64_t) || kernel.context->job.is_alone()) return;
    std::uint64_t number = 0;
    std::memcpy(&number, value, size);
    if (const void* const handle = reinterpret_cast<void*>(number); is_live_handle(handle))
        note(*static_cast<const object*>(handle));
    else if (kernel.takes_number(index))
        note(number);
}

} // namespace

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name, cl_int* code) {
    return make(code, [&] {
        auto& of = checked(program, CL_INVALID_PROGRAM);
        require(name != nullptr, CL_INVALID_VALUE);
        note(name, std::strlen(name));
        return ref<_cl_kernel>::adopt(new _cl_kernel(of, name));
    });
}

namespace {

/// In the order of the driver, or rank 0's.
std::vector<std::string> kernel_names(cl_program program) {
    size_t size = 0;
    check(entry::clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size));
    std::string text(size, '\0');
    check(entry::clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, text.data(), nullptr));
    std::vector<std::string> names;
    std::istringstream list(text.c_str());
    for (std::string name; std::getline(list, name, ';');) names.push_back(name);
    return names;
}

} // namespace

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program handle, cl_uint room, cl_kernel* kernels, cl_uint* found) {
    return guard([&]() -> cl_int {
        auto& program = checked(handle, CL_INVALID_PROGRAM);
        const auto names = kernel_names(handle);
        const auto count = static_cast<cl_uint>(names.size());
        require(kernels == nullptr || room >= count, CL_INVALID_VALUE);
        if (kernels != nullptr) {
            std::vector<ref<_cl_kernel>> made;
            for (const auto& name : names) {
                made.push_back(ref<_cl_kernel>::adopt(new _cl_kernel(program, name.c_str())));
                name_one_of(*made.back(), made.size() - 1);
            }
            for (std::size_t i = 0; i < made.size(); ++i) kernels[i] = made[i].give();
        }
        if (found != nullptr) *found = count;
        return CL_SUCCESS;
    });
}

cl_kernel CL_API_CALL clCloneKernel(cl_kernel source, cl_int* code) {
    return make(code, [&] { // as clCreateKernel, on every rank
        auto& kernel = checked(source, CL_INVALID_KERNEL);
        auto made = ref<_cl_kernel>::adopt(new _cl_kernel(*kernel.program, kernel.name.c_str()));
        made->take_arguments(kernel);
        return made;
    });
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) { return retain(kernel, CL_INVALID_KERNEL); }
cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) { return release(kernel, CL_INVALID_KERNEL); }

cl_int CL_API_CALL clSetKernelArg(cl_kernel handle, cl_uint index, size_t size, const void* value) {
    return guard([&]() -> cl_int {
        auto& kernel = checked(handle, CL_INVALID_KERNEL);
        kernel.set(index, size, value);
        note_argument(kernel, index, size, value);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel handle, cl_kernel_info name, size_t size, void* value, size_t* size_ret) {
    return guard([&] {
        auto& kernel = checked(handle, CL_INVALID_KERNEL);
        const answer to(size, value, size_ret);
        switch (name) {
        case CL_KERNEL_REFERENCE_COUNT: return to(kernel.references());
        case CL_KERNEL_CONTEXT: return to(static_cast<cl_context>(kernel.context.get()));
        case CL_KERNEL_PROGRAM: return to(static_cast<cl_program>(kernel.program.get()));
        case CL_KERNEL_FUNCTION_NAME: return to.text(kernel.name);
        case CL_KERNEL_NUM_ARGS: return to(kernel.argument_count());
        default: {
            const auto ask = [&](size_t room, void* where, size_t* used) {
                auto& raw = kernel.any_part().raw;
                return raw.calls().clGetKernelInfo(raw.raw(), name, room, where, used);
            };
            return answer_of(kernel.context->job, kernel.asked, to, ask);
        }
        }
    });
}

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel handle, cl_uint index, cl_kernel_arg_info name, size_t size,
                                      void* value, size_t* size_ret) {
    return guard([&] {
        auto& kernel = checked(handle, CL_INVALID_KERNEL);
        const answer to(size, value, size_ret);
        const auto ask = [&](size_t room, void* where, size_t* used) {
            auto& raw = kernel.any_part().raw;
            return raw.calls().clGetKernelArgInfo(raw.raw(), index, name, room, where, used);
        };
        return answer_of(kernel.context->job, kernel.asked, to, ask);
    });
}

namespace {

/// The rank that knows of a kernel on a device, or null for the only one.
int rank_of(cl_kernel handle, cl_device_id device) {
    const auto& kernel = checked(handle, CL_INVALID_KERNEL);
    const auto& devices = kernel.program->devices;
    require(device != nullptr || devices.size() == 1, CL_INVALID_DEVICE);
    return kernel.context
        ->driver_context_of(checked(device == nullptr ? devices.front().get() : device, CL_INVALID_DEVICE))
        .rank;
}

/// The driver's kernel and device for a question about both. Null may stand for the only device.
std::pair<cl_kernel, cl_device_id> on_device(cl_kernel handle, cl_device_id device) {
    auto& kernel = checked(handle, CL_INVALID_KERNEL);
    const auto& devices = kernel.program->devices;
    if (device == nullptr) {
        require(devices.size() == 1, CL_INVALID_DEVICE);
        device = devices.front().get();
    }
    auto& on = checked(device, CL_INVALID_DEVICE);
    require(std::any_of(devices.begin(), devices.end(), [&](const auto& one) { return one.get() == &on; }),
            CL_INVALID_DEVICE);
    const auto& at = kernel.context->driver_context_of(on);
    if (!at.here) { // in a dry run: as a device of this rank would have it
        const auto& any = kernel.any_part();
        const auto index = static_cast<std::size_t>(&any - kernel.parts.data());
        return {any.raw.raw(), kernel.program->parts[index].devices.front()->raw};
    }
    const auto& part = kernel.parts[at.index];
    require(static_cast<bool>(part.raw), CL_INVALID_DEVICE);
    return {part.raw.raw(), on.raw};
}

} // namespace

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel handle, cl_device_id device, cl_kernel_work_group_info name,
                                            size_t size, void* value, size_t* size_ret) {
    return guard([&] {
        auto& context = *checked(handle, CL_INVALID_KERNEL).context;
        const answer to(size, value, size_ret);
        const auto ask = [&](size_t room, void* where, size_t* used) {
            const auto [kernel, on] = on_device(handle, device);
            return calls_of(kernel).clGetKernelWorkGroupInfo(kernel, on, name, room, where, used);
        };
        return answer_of(context.job, rank_of(handle, device), to, ask);
    });
}

cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel handle, cl_device_id device, cl_kernel_sub_group_info name,
                                           size_t input_size, const void* input, size_t size, void* value,
                                           size_t* size_ret) {
    return guard([&] {
        auto& context = *checked(handle, CL_INVALID_KERNEL).context;
        const answer to(size, value, size_ret);
        const auto ask = [&](size_t room, void* where, size_t* used) {
            const auto [kernel, on] = on_device(handle, device);
            const auto& calls = calls_of(kernel);
            const auto call = calls.clGetKernelSubGroupInfo != nullptr ? calls.clGetKernelSubGroupInfo
                                                                       : calls.clGetKernelSubGroupInfoKHR;
            require(call != nullptr, CL_INVALID_OPERATION);
            return call(kernel, on, name, input_size, input, room, where, used);
        };
        return answer_of(context.job, rank_of(handle, device), to, ask);
    });
}

cl_int CL_API_CALL clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info name,
                                              size_t input_size, const void* input, size_t size, void* value,
                                              size_t* size_ret) {
    return entry::clGetKernelSubGroupInfo(kernel, device, name, input_size, input, size, value, size_ret);
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                          const size_t* offset, const size_t* global, const size_t* local,
                                          cl_uint count, const cl_event* list, cl_event* event) {
    return guard([&] {
        return enqueue_kernel(queue, kernel, CL_COMMAND_NDRANGE_KERNEL, dimensions, offset, global, local, count, list,
                              event);
    });
}

cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* list,
                                 cl_event* event) {
    return guard([&] {
        const size_t one = 1;
        return enqueue_kernel(queue, kernel, CL_COMMAND_TASK, 1, nullptr, &one, &one, count, list, event);
    });
}

cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue handle, void(CL_CALLBACK* function)(void*), void* arguments,
                                         size_t size, cl_uint memory_count, const cl_mem* memory,
                                         const void** memory_addresses, cl_uint count, const cl_event* list,
                                         cl_event* event) {
    return guard([&]() -> cl_int {
        auto& queue = checked(handle, CL_INVALID_COMMAND_QUEUE);
        require(function != nullptr && (arguments != nullptr || (size == 0 && memory_count == 0)) &&
                    (arguments == nullptr || size != 0) && (memory_count == 0) == (memory == nullptr) &&
                    (memory_count == 0) == (memory_addresses == nullptr),
                CL_INVALID_VALUE);
        std::vector<memory_use> uses;
        for (cl_uint i = 0; i < memory_count; ++i) {
            uses.push_back({&checked(memory[i], CL_INVALID_MEM_OBJECT), access::write});
            note(*memory[i]);
        }
        const auto can = ask<cl_device_exec_capabilities>(*queue.device, CL_DEVICE_EXECUTION_CAPABILITIES);
        require((can & CL_EXEC_NATIVE_KERNEL) != 0, CL_INVALID_OPERATION);
        std::vector<ref<_cl_mem>> held;
        std::vector<size_t> offsets;
        for (cl_uint i = 0; i < memory_count; ++i) {
            held.emplace_back(memory[i]);
            // Before the arguments it is beyond them, too.
            offsets.push_back(reinterpret_cast<std::uintptr_t>(memory_addresses[i]) -
                              reinterpret_cast<std::uintptr_t>(arguments));
            require(has_range(size, offsets.back(), sizeof(cl_mem)), CL_INVALID_VALUE);
        }
        const auto* const first = static_cast<const std::byte*>(arguments);
        auto block = std::vector<std::byte>(first, first + size);
        return enqueue(
            reading_host({queue, CL_COMMAND_NATIVE_KERNEL, CL_FALSE, count, list, event, uses}),
            [&queue, function, block = std::move(block), held = std::move(held),
             offsets = std::move(offsets)](cl_bool, cl_uint waits, const cl_event* wait_list, cl_event* made) mutable {
                std::vector<cl_mem> raws;
                std::vector<const void*> where;
                for (std::size_t i = 0; i < held.size(); ++i) {
                    raws.push_back(held[i]->raw(queue.where));
                    where.push_back(block.data() + offsets[i]);
                }
                return queue.calls().clEnqueueNativeKernel(
                    queue.raw.raw(), function, block.empty() ? nullptr : block.data(), block.size(),
                    static_cast<cl_uint>(raws.size()), raws.empty() ? nullptr : raws.data(),
                    where.empty() ? nullptr : where.data(), waits, wait_list, made);
            });
    });
}

} // namespace causeway::platform::entry
