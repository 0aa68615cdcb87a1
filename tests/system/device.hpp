// SPDX-License-Identifier: Apache-2.0
// What rank tests and rank programs share: the OpenCL device of a rank, bounded waits, patterns to compare.
#pragma once

#include "support/handles.hpp"

#include <CL/cl_data_transfer.h>
#include <causeway/buffer.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace system_test {

using bytes = std::vector<unsigned char>;

/// How long a wait may take before it counts as a hang; CAUSEWAY_TEST_PATIENCE=<seconds> changes it.
inline std::chrono::seconds patience() {
    static const char* const wanted = std::getenv("CAUSEWAY_TEST_PATIENCE");
    return std::chrono::seconds(wanted ? std::max(1, std::atoi(wanted)) : 60);
}

/// What `wait` returns for an event that is not complete in time; no status of OpenCL.
inline constexpr cl_int timed_out = 1 << 20;

/// Throws if an OpenCL call of the test's own set-up failed.
inline void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS) throw std::runtime_error(std::string(what) + " gave " + std::to_string(code));
}

/// With CAUSEWAY_TEST_BUFFERS=mixed: in turn false and true.
inline bool every_second_in_window() {
    static const bool is_mixed = std::getenv("CAUSEWAY_TEST_BUFFERS") != nullptr;
    static bool last = true;
    return is_mixed && (last = !last);
}

using context = support::context_handle;
using queue = support::queue_handle;
using buffer = support::buffer_handle;
using event = support::event_handle;
using program = support::program_handle;
using kernel = support::kernel_handle;

/// All devices of all platforms that the loader shows.
inline std::vector<cl_device_id> all_devices() {
    cl_uint platform_count = 0;
    check(clGetPlatformIDs(0, nullptr, &platform_count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(platform_count);
    check(clGetPlatformIDs(platform_count, platforms.data(), nullptr), "clGetPlatformIDs");
    std::vector<cl_device_id> devices;
    for (cl_platform_id platform : platforms) {
        cl_uint count = 0;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
        const std::size_t before = devices.size();
        devices.resize(before + count);
        check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data() + before, nullptr), "clGetDeviceIDs");
    }
    if (devices.empty()) throw std::runtime_error("no OpenCL device");
    return devices;
}

/// Eight bytes of the pattern that tells one message of one rank, and each of its positions, from every other.
inline std::uint64_t pattern_word(int rank, int message, std::uint64_t word) {
    std::uint64_t mixed = static_cast<std::uint64_t>(rank + 1) << 52;
    mixed += static_cast<std::uint64_t>(message + 1) << 36;
    mixed = (mixed + word) * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 29;
    mixed *= 0xBF58476D1CE4E5B9u;
    return mixed ^ (mixed >> 32);
}

/// `size` bytes of a message from its position `first`, a multiple of 8.
inline bytes pattern(int rank, int message, std::size_t size, std::size_t first = 0) {
    bytes made(size);
    for (std::size_t at = 0; at < size; at += 8) {
        const std::uint64_t word = pattern_word(rank, message, (first + at) / 8);
        std::memcpy(made.data() + at, &word, std::min<std::size_t>(8, size - at));
    }
    return made;
}

/// The device of one rank with a context and a queue for the test's own reads and writes.
class rank_device {
  public:
    explicit rank_device(int rank) {
        const std::vector<cl_device_id> devices = all_devices();
        m_device = devices[static_cast<std::size_t>(rank) % devices.size()];
        m_context = make_context();
        m_queue = make_queue(0);
    }

    [[nodiscard]] cl_device_id device() const { return m_device; }
    [[nodiscard]] bool is_host_memory() const {
        cl_bool unified = CL_FALSE;
        check(clGetDeviceInfo(m_device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, nullptr),
              "clGetDeviceInfo");
        return unified == CL_TRUE;
    }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] cl_command_queue queue() const { return m_queue.get(); }

    /// One more context on the same device.
    [[nodiscard]] system_test::context make_context() const {
        cl_int code = CL_SUCCESS;
        system_test::context made(clCreateContext(nullptr, 1, &m_device, nullptr, nullptr, &code));
        check(code, "clCreateContext");
        return made;
    }

    [[nodiscard]] system_test::queue make_queue(cl_command_queue_properties properties) const {
        cl_int code = CL_SUCCESS;
        system_test::queue made(clCreateCommandQueue(context(), m_device, properties, &code));
        check(code, "clCreateCommandQueue");
        return made;
    }

    /// A buffer with `contents`; of one byte if they are empty.
    [[nodiscard]] buffer make_buffer(bytes contents, cl_mem_flags flags = 0) const {
        if (every_second_in_window() && flags == 0 && !contents.empty()) return make_buffer_in_window(contents);
        unsigned char nothing = 0;
        cl_int code = CL_SUCCESS;
        buffer made(clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR | flags,
                                   std::max<std::size_t>(1, contents.size()),
                                   contents.empty() ? &nothing : contents.data(), &code));
        check(code, "clCreateBuffer");
        return made;
    }

    [[nodiscard]] buffer make_buffer_in_window(const bytes& contents) const {
        cl_int code = CL_SUCCESS;
        buffer made(causeway_buffer_create(context(), m_device, CL_MEM_READ_WRITE, contents.size(), &code));
        check(code, "causeway_buffer_create");
        check(clEnqueueWriteBuffer(queue(), made.get(), CL_TRUE, 0, contents.size(), contents.data(), 0, nullptr,
                                   nullptr),
              "clEnqueueWriteBuffer");
        return made;
    }

    [[nodiscard]] buffer make_buffer(std::size_t size, unsigned char fill) const {
        return make_buffer(bytes(size, fill));
    }

    /// A buffer that is born without contents, for flags that forbid the host to write any.
    [[nodiscard]] buffer make_empty_buffer(std::size_t size, cl_mem_flags flags) const {
        cl_int code = CL_SUCCESS;
        buffer made(clCreateBuffer(context(), CL_MEM_READ_WRITE | flags, size, nullptr, &code));
        check(code, "clCreateBuffer");
        return made;
    }

    [[nodiscard]] bytes read(cl_mem source, std::size_t offset, std::size_t size) const {
        bytes contents(size);
        if (size != 0)
            check(clEnqueueReadBuffer(queue(), source, CL_TRUE, offset, size, contents.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
        return contents;
    }

    [[nodiscard]] event make_user_event() const {
        cl_int code = CL_SUCCESS;
        event made(clCreateUserEvent(context(), &code));
        check(code, "clCreateUserEvent");
        return made;
    }

    /// A kernel that adds `amount` to each byte of its one buffer argument.
    [[nodiscard]] kernel make_adding_kernel(unsigned amount) const {
        const std::string source = "__kernel void add(__global uchar *data) { data[get_global_id(0)] += " +
                                   std::to_string(amount) + "; }";
        const char* text = source.c_str();
        cl_int code = CL_SUCCESS;
        program built(clCreateProgramWithSource(context(), 1, &text, nullptr, &code));
        check(code, "clCreateProgramWithSource");
        check(clBuildProgram(built.get(), 1, &m_device, "", nullptr, nullptr), "clBuildProgram");
        kernel made(clCreateKernel(built.get(), "add", &code));
        check(code, "clCreateKernel");
        return made;
    }

  private:
    cl_device_id m_device = nullptr;
    system_test::context m_context;
    system_test::queue m_queue;
};

inline cl_int status_of(cl_event of) {
    cl_int status = CL_QUEUED;
    check(clGetEventInfo(of, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), "clGetEventInfo");
    return status;
}

/// Polls until the event is complete or has failed; its status then, or `timed_out`.
inline cl_int wait(cl_event of, std::chrono::nanoseconds limit = patience()) {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (int round = 0;; ++round) {
        const cl_int status = status_of(of);
        if (status <= CL_COMPLETE) return status;
        if (std::chrono::steady_clock::now() > end) return timed_out;
        if (round < 100)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

/// One answer of clGetTransferInfo.
template <typename Value> Value transfer_info(cl_event of, cl_transfer_info name) {
    Value value{};
    check(clGetTransferInfo(of, name, sizeof value, &value, nullptr), "clGetTransferInfo");
    return value;
}

inline std::string transfer_text(cl_event of, cl_transfer_info name) {
    std::size_t size = 0;
    if (clGetTransferInfo(of, name, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
    std::string text(size, '\0');
    check(clGetTransferInfo(of, name, size, text.data(), nullptr), "clGetTransferInfo");
    text.resize(size - 1);
    return text;
}

} // namespace system_test
