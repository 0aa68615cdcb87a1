// SPDX-License-Identifier: Apache-2.0
// A device fills one buffer, the host overwrites it, and the device copies it to another; both are looked at in place.
#include "endpoints/device/in_place_trial.hpp"

#include "base/error.hpp"
#include "cl/buffer_addresses.hpp"
#include "cl/calls.hpp"

#include <algorithm>
#include <vector>

namespace causeway::endpoints {

namespace {

constexpr std::size_t trial_bytes = 64 << 10;
constexpr auto of_device = std::byte{0x5A}, of_host = std::byte{0xC3};

bool holds(const std::byte* first, std::byte value) {
    return std::all_of(first, first + trial_bytes, [value](std::byte each) { return each == value; });
}

/// A buffer moves between devices of different kinds.
bool all_keep_addresses(cl_context context) {
    std::size_t bytes = 0;
    if (clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes) != CL_SUCCESS) return false;
    std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
    if (clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr) != CL_SUCCESS) return false;
    return std::all_of(devices.begin(), devices.end(),
                       [](cl_device_id each) { return cl::facts_of(each).keeps_addresses; });
}

} // namespace

in_place_trial::in_place_trial(cl::context context, cl_device_id device, cl::queue queue)
    : m_context(std::move(context)), m_device(device), m_queue(std::move(queue)) {}

in_place_trial::~in_place_trial() { unmap_first(); }

bool in_place_trial::passed() {
    if (is_over()) return m_stage == stage::passed;
    if (m_stage == stage::idle) begin();
    if (!is_over()) {
        const auto status = cl::status_of(m_running.get());
        if (status < CL_COMPLETE) m_stage = stage::failed;
        if (status == CL_COMPLETE) go_on();
    }
    if (is_over()) {
        unmap_first();
        m_running = {};
        m_first = m_second = {};
    }
    return m_stage == stage::passed;
}

void in_place_trial::begin() {
    m_stage = stage::failed;
    if (!cl::facts_of(m_device).keeps_addresses || !all_keep_addresses(m_context.get())) return;
    cl_int code = CL_SUCCESS;
    m_first = cl::buffer::adopt(clCreateBuffer(m_context.get(), CL_MEM_READ_WRITE, trial_bytes, nullptr, &code));
    m_second = cl::buffer::adopt(clCreateBuffer(m_context.get(), CL_MEM_READ_WRITE, trial_bytes, nullptr, &code));
    if (!m_first || !m_second) return;
    // It stays mapped for the first look: a device that shows copies keeps this one as long.
    m_mapped = static_cast<std::byte*>(clEnqueueMapBuffer(m_queue.get(), m_first.get(), CL_FALSE,
                                                          CL_MAP_READ | CL_MAP_WRITE, 0, trial_bytes, 0, nullptr,
                                                          nullptr, &code));
    if (m_mapped == nullptr) return;
    m_first_at = m_mapped;
    cl_event filled = nullptr;
    if (clEnqueueFillBuffer(m_queue.get(), m_first.get(), &of_device, 1, 0, trial_bytes, 0, nullptr, &filled) !=
        CL_SUCCESS)
        return;
    m_running = cl::event::adopt(filled);
    if (clFlush(m_queue.get()) == CL_SUCCESS) m_stage = stage::device_wrote;
}

void in_place_trial::go_on() {
    const auto before = std::exchange(m_stage, stage::failed);
    if (before == stage::device_wrote) {
        const bool is_the_same = holds(m_first_at, of_device);
        unmap_first();
        m_second_at = is_the_same ? shown(m_second.get(), trial_bytes) : nullptr;
        if (m_second_at == nullptr || shown(m_first.get(), trial_bytes) != m_first_at) return;
        std::fill_n(m_first_at, trial_bytes, of_host);
        cl_event copied = nullptr;
        if (clEnqueueCopyBuffer(m_queue.get(), m_first.get(), m_second.get(), 0, 0, trial_bytes, 0, nullptr, &copied) !=
            CL_SUCCESS)
            return;
        m_running = cl::event::adopt(copied);
        if (clFlush(m_queue.get()) == CL_SUCCESS) m_stage = stage::device_copied;
    } else if (holds(m_second_at, of_host)) {
        m_stage = stage::passed;
    }
}

void in_place_trial::unmap_first() {
    auto* const mapped = std::exchange(m_mapped, nullptr);
    if (mapped == nullptr) return;
    (void)clEnqueueUnmapMemObject(m_queue.get(), m_first.get(), mapped, 0, nullptr, nullptr);
    (void)clFlush(m_queue.get());
}

/// OpenCL says where a map will be when it is enqueued; nothing is touched there. Of the last byte, as an unmapping is
/// known by its address, and the program may have mapped the first one.
std::byte* in_place_trial::shown(cl_mem buffer, std::size_t bytes) {
    cl_int code = CL_SUCCESS;
    auto* const last = clEnqueueMapBuffer(m_queue.get(), buffer, CL_FALSE, CL_MAP_READ, bytes - 1, 1, 0, nullptr,
                                          nullptr, &code);
    if (code != CL_SUCCESS || last == nullptr) return nullptr;
    if (clEnqueueUnmapMemObject(m_queue.get(), buffer, last, 0, nullptr, nullptr) != CL_SUCCESS) return nullptr;
    return static_cast<std::byte*>(last) - (bytes - 1);
}

std::byte* in_place_trial::address_of(cl_mem buffer) {
    if (!passed()) return nullptr;
    try {
        const auto whole = cl::root_of(buffer);
        if (cl::address_of(whole.root) == nullptr) {
            // Who has given memory of its own may be shown that, wherever the device works.
            constexpr cl_mem_flags unclear = CL_MEM_USE_HOST_PTR | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
            const auto facts = cl::facts_of(whole.root);
            if ((facts.flags & unclear) != 0) return nullptr;
            auto* const first = shown(whole.root, facts.bytes);
            (void)clFlush(m_queue.get());
            if (first == nullptr) return nullptr;
            cl::keep_address(whole.root, first);
        }
        auto* const kept = cl::address_of(whole.root);
        return kept != nullptr ? kept + whole.offset : nullptr;
    } catch (const transfer_error&) {
        return nullptr; // the transfer's own commands meet it again, and report it
    }
}

} // namespace causeway::endpoints
