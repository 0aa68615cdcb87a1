// SPDX-License-Identifier: Apache-2.0
// The platform Causeway as a program sees it through the ordinary loader, and contexts over all its devices.
#pragma once

#include "support/devices.hpp"
#include "support/handles.hpp"
#include "support/patterns.hpp"

#include <CL/cl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace support {

inline void release_sampler(cl_sampler sampler) { clReleaseSampler(sampler); }
using sampler_handle = handle<cl_sampler, release_sampler>;

/// A context over every device of the platform and an in-order queue on each. With CAUSEWAY_TEST_DRIVER the platform is
/// whatever comes first: what fails there as well is the driver's.
class platform_test : public testing::Test {
  protected:
    void SetUp() override {
        cl_uint count = 0;
        ASSERT_EQ(clGetPlatformIDs(1, &m_platform, &count), CL_SUCCESS);
        char name[64] = "";
        ASSERT_EQ(clGetPlatformInfo(m_platform, CL_PLATFORM_NAME, sizeof name, name, nullptr), CL_SUCCESS);
        if (std::getenv("CAUSEWAY_TEST_DRIVER") == nullptr) {
            ASSERT_STREQ(name, "Causeway");
        }
        ASSERT_EQ(clGetDeviceIDs(m_platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count), CL_SUCCESS);
        m_devices.resize(count);
        ASSERT_EQ(clGetDeviceIDs(m_platform, CL_DEVICE_TYPE_ALL, count, m_devices.data(), nullptr), CL_SUCCESS);
        cl_int code = CL_SUCCESS;
        m_context = context_handle(clCreateContext(nullptr, count, m_devices.data(), nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        for (auto* const device : m_devices) m_queues.push_back(new_queue(device, CL_QUEUE_PROFILING_ENABLE));
    }

    [[nodiscard]] cl_platform_id platform() const { return m_platform; }
    [[nodiscard]] const std::vector<cl_device_id>& devices() const { return m_devices; }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] cl_command_queue queue(std::size_t of = 0) const { return m_queues.at(of).get(); }
    [[nodiscard]] cl_command_queue last_queue() const { return m_queues.back().get(); }

    [[nodiscard]] bool all_have_images() const {
        return std::all_of(m_devices.begin(), m_devices.end(), [](cl_device_id device) {
            cl_bool has_images = CL_FALSE;
            EXPECT_EQ(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, nullptr),
                      CL_SUCCESS);
            return has_images != CL_FALSE;
        });
    }
    /// Whether contents move between the first device and the last: they are of different drivers or of different
    /// ranks.
    [[nodiscard]] bool spans() const {
        const auto vendor = [](cl_device_id device) {
            char name[256] = "";
            EXPECT_EQ(clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof name, name, nullptr), CL_SUCCESS);
            return std::string(name);
        };
        const auto* const contexts = std::getenv("CAUSEWAY_CONTEXTS");
        if (contexts != nullptr && contexts == std::string_view("device")) return true;
        cl_device_type type = 0;
        EXPECT_EQ(clGetDeviceInfo(m_devices.back(), CL_DEVICE_TYPE, sizeof type, &type, nullptr), CL_SUCCESS);
        if (contexts == nullptr && type == CL_DEVICE_TYPE_GPU && m_devices.size() > 1) return true;
        return std::getenv("CAUSEWAY_CLUSTER") != nullptr || vendor(m_devices.front()) != vendor(m_devices.back());
    }

    [[nodiscard]] queue_handle new_queue(cl_device_id device, cl_command_queue_properties properties = 0) const {
        cl_int code = CL_SUCCESS;
        queue_handle made(clCreateCommandQueue(context(), device, properties, &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return made;
    }
    [[nodiscard]] buffer_handle new_buffer(std::size_t size, cl_mem_flags flags = CL_MEM_READ_WRITE,
                                           void* host = nullptr) const {
        cl_int code = CL_SUCCESS;
        buffer_handle made(clCreateBuffer(context(), flags, size, host, &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return made;
    }
    [[nodiscard]] program_handle build(const char* source, const char* options = "") const {
        cl_int code = CL_SUCCESS;
        program_handle program(clCreateProgramWithSource(context(), 1, &source, nullptr, &code));
        EXPECT_EQ(code, CL_SUCCESS);
        EXPECT_EQ(clBuildProgram(program.get(), 0, nullptr, options, nullptr, nullptr), CL_SUCCESS);
        return program;
    }
    [[nodiscard]] static kernel_handle kernel_of(const program_handle& program, const char* name) {
        cl_int code = CL_SUCCESS;
        kernel_handle kernel(clCreateKernel(program.get(), name, &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return kernel;
    }
    [[nodiscard]] event_handle new_user_event() const {
        cl_int code = CL_SUCCESS;
        event_handle made(clCreateUserEvent(context(), &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return made;
    }
    /// Enqueues kernel(buffer, value) over `items` items.
    static void launch(cl_command_queue queue, const kernel_handle& kernel, const buffer_handle& buffer, cl_uint value,
                       std::size_t items, const std::vector<cl_event>& waits = {}, cl_event* event = nullptr) {
        auto* const raw = buffer.get();
        EXPECT_EQ(clSetKernelArg(kernel.get(), 0, sizeof raw, &raw), CL_SUCCESS);
        EXPECT_EQ(clSetKernelArg(kernel.get(), 1, sizeof value, &value), CL_SUCCESS);
        EXPECT_EQ(clEnqueueNDRangeKernel(queue, kernel.get(), 1, nullptr, &items, nullptr,
                                         static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(),
                                         event),
                  CL_SUCCESS);
    }
    [[nodiscard]] static std::vector<cl_uint> read(cl_command_queue queue, const buffer_handle& buffer,
                                                   std::size_t items) {
        std::vector<cl_uint> values(items);
        EXPECT_EQ(clEnqueueReadBuffer(queue, buffer.get(), CL_TRUE, 0, items * sizeof(cl_uint), values.data(), 0,
                                      nullptr, nullptr),
                  CL_SUCCESS);
        return values;
    }
    [[nodiscard]] static cl_int status_of(cl_event event) {
        cl_int status = CL_QUEUED;
        EXPECT_EQ(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                  CL_SUCCESS);
        return status;
    }

    static constexpr const char*
        add_source = "__kernel void add(__global uint* data, uint value) {"
                     "    data[get_global_id(0)] += value;"
                     "}"
                     "__kernel void scale(__global const uint* from, __global uint* to, uint by) {"
                     "    to[get_global_id(0)] = from[get_global_id(0)] * by;"
                     "}";

    /// Takes its time: some nanoseconds for each round.
    static constexpr const char*
        slow_source = "__kernel void slow(__global uint* data, uint rounds) {"
                      "    uint x = data[0];"
                      "    for (uint i = 0; i < rounds; ++i) x = x * 1664525 + 1013904223;"
                      "    data[0] = x;"
                      "}"
                      "__kernel void slow_copy(__global const volatile uint* from, __global uint* to, uint rounds) {"
                      "    uint x = rounds;"
                      "    for (uint i = 0; i < rounds; ++i) x = x * 1664525 + 1013904223;"
                      "    to[0] = x == 1 ? x : from[0];"
                      "}";

  private:
    cl_platform_id m_platform = nullptr;
    std::vector<cl_device_id> m_devices;
    context_handle m_context;
    std::vector<queue_handle> m_queues;
};

} // namespace support
