// SPDX-License-Identifier: Apache-2.0
// The fixture of device tests: a context, queues and buffers on the device under test.
#pragma once

#include "support/devices.hpp"
#include "support/handles.hpp"
#include "support/patterns.hpp"

#include <CL/cl_data_transfer.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

namespace support {

void PrintTo(const device_under_test& device, std::ostream* out);
[[nodiscard]] std::string name_of(const testing::TestParamInfo<device_under_test>& info);

using wait_list = std::vector<cl_event>;
enum class queue_order { in_order, out_of_order };

// Objects on any device. All of these throw std::runtime_error where OpenCL refuses.
[[nodiscard]] context_handle make_context(const std::vector<cl_device_id>& devices);
[[nodiscard]] queue_handle make_queue(cl_context context, cl_device_id device, queue_order order);
[[nodiscard]] bool supports_out_of_order(cl_device_id device);
[[nodiscard]] buffer_handle make_buffer(cl_context context, std::size_t size, cl_mem_flags flags = CL_MEM_READ_WRITE);
void fill(cl_command_queue queue, cl_mem buffer, std::size_t offset, const bytes& contents);
[[nodiscard]] bytes contents(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t size);

/// The kernel add(data, rounds): adds 1 to each byte, `rounds` times, slowly.
[[nodiscard]] kernel_handle make_add_kernel(cl_context context, cl_device_id device);
/// Enqueues add() over the first `size` bytes of `buffer`.
[[nodiscard]] event_handle enqueue_add(cl_command_queue queue, cl_kernel add, cl_mem buffer, std::size_t size,
                                       cl_uint rounds, const wait_list& waits = {});
/// Enqueues a fill of `size` bytes of `buffer` with `value`.
[[nodiscard]] event_handle enqueue_fill(cl_command_queue queue, cl_mem buffer, unsigned char value, std::size_t size,
                                        const wait_list& waits = {});

// Non-blocking transfers. They throw std::runtime_error with the library's text if the call is refused.
[[nodiscard]] event_handle write_buffer_from(cl_command_queue queue, cl_mem buffer, std::size_t offset,
                                             std::size_t size, std::FILE* file, const wait_list& waits = {});
[[nodiscard]] event_handle read_buffer_to(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t size,
                                          std::FILE* file, const wait_list& waits = {});
[[nodiscard]] event_handle write_buffer_from(cl_command_queue queue, cl_mem buffer, std::size_t offset,
                                             std::size_t size, int fd, std::int64_t file_offset,
                                             const wait_list& waits = {});
[[nodiscard]] event_handle read_buffer_to(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t size,
                                          int fd, std::int64_t file_offset, const wait_list& waits = {});

/// A context on the device under test, an in-order queue, and a second in-order queue that moves the test's own data.
class device_test : public testing::TestWithParam<device_under_test> {
  protected:
    device_test();

    [[nodiscard]] cl_device_id device() const { return GetParam().device; }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] cl_command_queue queue() const { return m_queue.get(); }

    [[nodiscard]] queue_handle new_queue(queue_order order = queue_order::in_order) const;
    [[nodiscard]] buffer_handle new_buffer(std::size_t size, cl_mem_flags flags = CL_MEM_READ_WRITE) const;
    [[nodiscard]] buffer_handle new_buffer(const bytes& contents) const;
    [[nodiscard]] bytes contents_of(const buffer_handle& buffer, std::size_t offset, std::size_t size) const;

  private:
    context_handle m_context;
    queue_handle m_queue;
    queue_handle m_own_queue;
};

} // namespace support
