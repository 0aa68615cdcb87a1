// SPDX-License-Identifier: Apache-2.0
// Devices, data and questions to transfers, for every route.
#include "perf/bench.hpp"

#include "common/linked_buffer.hpp"

#include <causeway/buffer.h>
#include <causeway/causeway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace perf {

namespace {

template <class Value> Value answer(cl_event transfer, cl_transfer_info what) {
    Value value{};
    apps::check(clGetTransferInfo(transfer, what, sizeof value, &value, nullptr), "clGetTransferInfo");
    return value;
}

std::string text_answer(cl_event transfer, cl_transfer_info what) {
    std::size_t size = 0;
    if (clGetTransferInfo(transfer, what, 0, nullptr, &size) != CL_SUCCESS) return "";
    std::string text(size, '\0');
    (void)clGetTransferInfo(transfer, what, size, text.data(), nullptr);
    return text.c_str();
}

apps::context share(cl_context context) {
    apps::check(clRetainContext(context), "clRetainContext");
    return apps::context(context);
}

} // namespace

bool has_host_memory(cl_device_id device) {
    cl_bool unified = CL_FALSE;
    apps::check(clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, nullptr),
                "clGetDeviceInfo");
    return unified == CL_TRUE;
}

bench_device::bench_device(cl_device_id chosen) : bench_device(apps::create_context(chosen).get(), chosen) {}

bench_device::bench_device(cl_context shared, cl_device_id chosen)
    : device(chosen), context(share(shared)), in_order(apps::create_in_order_queue(shared, chosen)),
      other_way(apps::create_in_order_queue(shared, chosen)),
      out_of_order(apps::create_out_of_order_queue(shared, in_order.get())), host_memory(has_host_memory(chosen)) {}

test_data::test_data(const bench_device& where, std::size_t window_bytes)
    : m_bytes(window_bytes), m_memory(where.context.get(), where.in_order.get(), window_bytes + slack) {
    auto* const bytes = static_cast<std::byte*>(m_memory.data());
    for (std::size_t at = 0; at < whole_bytes(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = (at + 1) * 0x9E3779B97F4A7C15U;
        std::memcpy(bytes + at, &word, std::min(sizeof word, whole_bytes() - at));
    }
}

apps::buffer make_buffer(const bench_device& where, std::size_t bytes, buffer_kind kind) {
    return kind == buffer_kind::linked ? apps::create_linked_buffer(where.context.get(), where.device, bytes)
                                       : apps::create_buffer(where.context.get(), bytes);
}

apps::buffer test_data::on_device(const bench_device& where, buffer_kind kind) const {
    auto made = make_buffer(where, whole_bytes(), kind);
    write_device(where.in_order.get(), made.get(), 0, whole_bytes(), whole());
    return made;
}

void test_data::verify(const void* found, std::size_t window) const { verify_same(found, at(window), m_bytes); }

void verify_same(const void* found, const void* expected, std::size_t bytes) {
    if (std::memcmp(found, expected, bytes) == 0) return;
    const auto* const first = static_cast<const std::byte*>(found);
    const auto wrong = std::mismatch(first, first + bytes, static_cast<const std::byte*>(expected)).first - first;
    throw wrong_data("wrong data from byte " + std::to_string(wrong) + " of " + std::to_string(bytes));
}

pageable_memory::pageable_memory(std::size_t bytes) : m_memory(bytes + 2 * page) {
    const auto address = reinterpret_cast<std::uintptr_t>(m_memory.data());
    m_first = m_memory.data() + (page - address % page) % page;
}

void read_device(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t bytes, void* target) {
    apps::check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, bytes, target, 0, nullptr, nullptr),
                "clEnqueueReadBuffer");
}

void write_device(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t bytes, const void* source) {
    apps::check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, bytes, source, 0, nullptr, nullptr),
                "clEnqueueWriteBuffer");
}

mapped_to_read::mapped_to_read(cl_command_queue queue, cl_mem buffer, std::size_t bytes)
    : m_queue(queue), m_buffer(buffer) {
    cl_int code = CL_SUCCESS;
    m_address = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes, 0, nullptr, nullptr, &code);
    apps::check(code, "clEnqueueMapBuffer");
}

mapped_to_read::~mapped_to_read() {
    (void)clEnqueueUnmapMemObject(m_queue, m_buffer, m_address, 0, nullptr, nullptr);
    (void)clFinish(m_queue);
}

void check_transfer(cl_int code, const char* call) {
    if (code == CL_SUCCESS) return;
    throw std::runtime_error(std::string(call) + ": code " + std::to_string(code) + ": " +
                             causeway_error_last_message());
}

void wait_for(std::span<const cl_event> events) {
    const cl_int code = clWaitForEvents(cl_uint(events.size()), events.data());
    if (code == CL_SUCCESS) return;
    std::string text = "waiting for transfers: code " + std::to_string(code);
    for (const auto each : events)
        if (const auto message = text_answer(each, CL_TRANSFER_ERROR_MESSAGE); !message.empty()) text += "; " + message;
    throw std::runtime_error(text);
}

void wait_for_all(const std::vector<apps::event>& events) {
    std::vector<cl_event> plain;
    for (const auto& each : events) plain.push_back(each.get());
    wait_for(plain);
}

std::string words_on_links(cl_device_id device) {
    char text[512] = "";
    return causeway_direct_links(device, text, sizeof text) < 0 ? causeway_error_last_message() : text;
}

used_plan plan_of(cl_event transfer) {
    return {text_answer(transfer, CL_TRANSFER_STRATEGY), answer<std::size_t>(transfer, CL_TRANSFER_BLOCK_SIZE),
            answer<cl_uint>(transfer, CL_TRANSFER_DEPTH), answer<cl_uint>(transfer, CL_TRANSFER_LANES)};
}

apps::event create_gate(cl_context context) {
    cl_int code = CL_SUCCESS;
    apps::event made(clCreateUserEvent(context, &code));
    apps::check(code, "clCreateUserEvent");
    return made;
}

void open_gate(const apps::event& gate) {
    apps::check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
}

} // namespace perf
