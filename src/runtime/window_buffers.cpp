// SPDX-License-Identifier: Apache-2.0
// Makes windows for buffers of the program, and remembers which lies in which.
#include "runtime/window_buffers.hpp"

#include "runtime/runtime.hpp"
#include "cl/calls.hpp"
#include "cl/external_memory.hpp"

#include <string>
#include <utility>

namespace causeway::core {

namespace {

/// Arguments that clCreateBuffer() takes, with an allocation of its own.
cl::buffer make_ordinary(cl_context context, cl_mem_flags flags, std::size_t bytes) {
    cl_int code = CL_SUCCESS;
    auto made = cl::buffer::adopt(clCreateBuffer(context, flags, bytes, nullptr, &code));
    cl::check(code, "creating a buffer of " + bytes_text(bytes));
    return made;
}

void check_arguments(cl_context context, cl_device_id device, cl_mem_flags flags) {
    constexpr cl_mem_flags own_memory = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    if ((flags & own_memory) != 0)
        throw transfer_error(status::invalid_value, "the memory of the buffer is the device's: no CL_MEM_..._HOST_PTR");
    if (!cl::has_device(context, device))
        throw transfer_error(CL_INVALID_DEVICE, "the device is not one of the context");
}

/// Null if there is none to be had, with the reason.
struct new_window {
    std::shared_ptr<bridge::known_window> window;
    std::string reason;
    bool is_host_memory = false;
};

new_window make_window(cl_device_id device, std::size_t bytes) {
    auto& process = runtime::instance();
    process.bridges().await(device);
    const auto state = process.bridges().state();
    // Nobody else may look at what is made too late: it goes at once.
    auto made = process.answer_of([&windows = process.windows(), device, bytes, state] {
        new_window one{.reason = "direct links between devices: " + state};
        if (!endpoints::link_window::possible(windows, device)) return one;
        try {
            one.is_host_memory = windows.bridge()->host_memory();
            one.window = windows.create_for_program(cl::facts_of(device).uuid, bytes);
        } catch (const std::exception& error) {
            one.reason = error.what();
        }
        return one;
    });
    return made ? std::move(*made) : new_window{.reason = runtime::no_answer};
}

cl::buffer import(cl_context context, cl_device_id device, cl_mem_flags flags, std::size_t bytes,
                  const new_window& made) {
    if (!made.is_host_memory)
        return cl::external_memory(device).import(context, made.window->shared().release(), bytes, flags);
    cl_int code = CL_SUCCESS;
    auto buffer = cl::buffer::adopt(
        clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, bytes, made.window->address(), &code));
    cl::check(code, "making a buffer of a window");
    return buffer;
}

} // namespace

window_buffers& window_buffers::of_process() {
    static auto& one = *new window_buffers; // drivers may call back while the process ends
    return one;
}

cl_mem window_buffers::create(cl_context context, cl_device_id device, cl_mem_flags flags, std::size_t bytes) {
    check_arguments(context, device, flags);
    // The driver's own opinion of the other arguments, and what there is if the rest fails.
    auto ordinary = make_ordinary(context, flags, bytes);
    auto made = make_window(device, bytes);
    try {
        if (!made.window) throw transfer_error(status::invalid_operation, made.reason);
        auto buffer = import(context, device, flags, bytes, made);
        {
            const std::lock_guard lock(m_mutex);
            m_entries[buffer.get()] = {std::move(made.window), device};
            m_count = m_entries.size();
        }
        if (const auto code = clSetMemObjectDestructorCallback(buffer.get(), released, this); code != CL_SUCCESS) {
            released(buffer.get(), this);
            cl::check(code, "clSetMemObjectDestructorCallback");
        }
        return buffer.release();
    } catch (const std::exception& error) {
        if (process_options()[option::explain] != 0)
            tell_user("buffer of " + bytes_text(bytes) + ": ordinary memory: " + error.what());
        return ordinary.release();
    }
}

void window_buffers::locate(endpoints::buffer_location& location) const {
    if (m_count == 0) return;
    const auto whole = cl::root_of(location.buffer.get());
    const std::lock_guard lock(m_mutex);
    const auto found = m_entries.find(whole.root);
    if (found == m_entries.end() || found->second.device != location.device) return;
    location.window = found->second.window;
    location.window_offset = whole.offset;
}

void window_buffers::check_device(const endpoints::buffer_location& location) const {
    if (m_count == 0 || location.window) return;
    const auto root = cl::root_of(location.buffer.get()).root;
    const std::lock_guard lock(m_mutex);
    if (m_entries.contains(root))
        throw transfer_error(status::invalid_operation,
                             "the buffer was made by causeway_buffer_create for another device "
                             "of its context than that of the command queue");
}

void CL_CALLBACK window_buffers::released(cl_mem buffer, void* self) {
    auto& all = *static_cast<window_buffers*>(self);
    std::shared_ptr<bridge::known_window> last;
    {
        const std::lock_guard lock(all.m_mutex);
        const auto found = all.m_entries.find(buffer);
        if (found == all.m_entries.end()) return;
        last = std::move(found->second.window);
        all.m_entries.erase(found);
        all.m_count = all.m_entries.size();
    }
    runtime::instance().let_go(std::move(last));
}

} // namespace causeway::core
