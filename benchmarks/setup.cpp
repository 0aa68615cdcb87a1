// SPDX-License-Identifier: Apache-2.0
// Devices, data and questions to transfers, for every route.
#include "setup.hpp"

#include "machine.hpp"

#include <causeway/causeway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace benchmarks {

namespace {

template <class Value>
Value answer(cl_event transfer, cl_transfer_info what) {
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

} // namespace

bool settings::wants(const std::string& route) const {
    return routes.empty() || std::ranges::find(routes, route) != routes.end();
}

int settings::rounds_for(std::size_t bytes) const {
    return rounds * int(std::clamp<std::size_t>(32 * mib / std::max<std::size_t>(bytes, 1), 1, 10));
}

place::place(cl_device_id chosen)
    : device(chosen), context(apps::create_context(chosen)),
      in_order(apps::create_in_order_queue(context.get(), chosen)),
      other_way(apps::create_in_order_queue(context.get(), chosen)), host_memory(has_host_memory(chosen)) {
    cl_int code = CL_SUCCESS;
    out_of_order.reset(clCreateCommandQueue(context.get(), chosen, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code));
    apps::check(code, "clCreateCommandQueue of an out-of-order queue");
}

test_data::test_data(const place& where, std::size_t window_bytes)
    : m_bytes(window_bytes), m_memory(where.context.get(), where.in_order.get(), window_bytes + slack) {
    auto* const bytes = static_cast<std::byte*>(m_memory.data());
    for (std::size_t at = 0; at < whole_bytes(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = (at + 1) * 0x9E3779B97F4A7C15U;
        std::memcpy(bytes + at, &word, std::min(sizeof word, whole_bytes() - at));
    }
}

apps::buffer test_data::on_device(const place& where) const {
    auto made = apps::create_buffer(where.context.get(), whole_bytes());
    write_device(where.in_order.get(), made.get(), 0, whole_bytes(), whole());
    return made;
}

void test_data::verify(const void* found, std::size_t window) const {
    const auto* const expected = at(window);
    if (std::memcmp(found, expected, m_bytes) == 0) return;
    const auto* const bytes = static_cast<const std::byte*>(found);
    const auto wrong = std::mismatch(bytes, bytes + m_bytes, expected).first - bytes;
    throw std::runtime_error("wrong data from byte " + std::to_string(wrong) + " of " + std::to_string(m_bytes));
}

pageable_memory::pageable_memory(std::size_t bytes) : m_memory(bytes + 4096) {
    const auto address = reinterpret_cast<std::uintptr_t>(m_memory.data());
    m_first = m_memory.data() + (4096 - address % 4096) % 4096;
}

void read_device(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t bytes, void* target) {
    apps::check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, bytes, target, 0, nullptr, nullptr),
                "clEnqueueReadBuffer");
}

void write_device(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t bytes, const void* source) {
    apps::check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, bytes, source, 0, nullptr, nullptr),
                "clEnqueueWriteBuffer");
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

unsigned lanes_of(cl_event transfer) { return answer<cl_uint>(transfer, CL_TRANSFER_LANES); }

std::size_t block_of(cl_event transfer) { return answer<std::size_t>(transfer, CL_TRANSFER_BLOCK_SIZE); }

std::string plan_of(cl_event transfer) {
    const auto lanes = lanes_of(transfer);
    return text_answer(transfer, CL_TRANSFER_STRATEGY) + " " + size_text(block_of(transfer)) + " x " +
           std::to_string(answer<cl_uint>(transfer, CL_TRANSFER_DEPTH)) +
           (lanes > 1 ? ", " + std::to_string(lanes) + " lanes" : "");
}

forced_block::forced_block(std::size_t bytes) {
    if (bytes == 0) return;
    char value[32] = "";
    causeway_option_get("block", value, sizeof value);
    m_before = value;
    if (causeway_option_set("block", std::to_string(bytes).c_str()) != 0)
        throw std::runtime_error(causeway_error_last_message());
}

forced_block::~forced_block() {
    if (!m_before.empty()) (void)causeway_option_set("block", m_before.c_str());
}

std::string name_with_block(const std::string& name, std::size_t block) {
    return block == 0 ? name : name + ", block " + size_text(block);
}

} // namespace benchmarks
