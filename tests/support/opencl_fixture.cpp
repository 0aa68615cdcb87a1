// SPDX-License-Identifier: Apache-2.0
// Makes the OpenCL objects that device tests work with.
#include "support/opencl_fixture.hpp"
#include "support/kept_queues.hpp"

#include <causeway/causeway.h>

#include <stdexcept>

namespace support {

namespace {

void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS) {
        throw std::runtime_error(std::string(what) + " gave " + std::to_string(code));
    }
}

void check_transfer(cl_int code, const char* what) {
    if (code != CL_SUCCESS) {
        throw std::runtime_error(std::string(what) + " gave " + std::to_string(code) + ": " +
                                 causeway_error_last_message());
    }
}

cl_uint count(const wait_list& waits) { return static_cast<cl_uint>(waits.size()); }
const cl_event* list(const wait_list& waits) { return waits.empty() ? nullptr : waits.data(); }

} // namespace

void PrintTo(const device_under_test& device, std::ostream* out) { *out << device.name; }

std::string name_of(const testing::TestParamInfo<device_under_test>& info) { return info.param.name; }

context_handle make_context(const std::vector<cl_device_id>& devices) {
    cl_int code = CL_SUCCESS;
    context_handle made(
        clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &code));
    check(code, "clCreateContext");
    return made;
}

queue_handle make_queue(cl_context context, cl_device_id device, queue_order order) {
    const cl_command_queue_properties properties = order == queue_order::out_of_order
                                                       ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
                                                       : 0;
    cl_int code = CL_SUCCESS;
    queue_handle made(clCreateCommandQueue(context, device, properties, &code));
    check(code, "clCreateCommandQueue");
    keep_while_commands_end(made.get());
    return made;
}

bool supports_out_of_order(cl_device_id device) {
    cl_command_queue_properties properties = 0;
    check(clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr),
          "clGetDeviceInfo");
    return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

buffer_handle make_buffer(cl_context context, std::size_t size, cl_mem_flags flags) {
    cl_int code = CL_SUCCESS;
    buffer_handle made(clCreateBuffer(context, flags, size, nullptr, &code));
    check(code, "clCreateBuffer");
    return made;
}

void fill(cl_command_queue queue, cl_mem buffer, std::size_t offset, const bytes& contents) {
    if (!contents.empty()) {
        check(
            clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, contents.size(), contents.data(), 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
        // A blocking write may return once it has copied the host's bytes (OpenCL 1.2, section 5.2.2); Intel's does.
        check(clFinish(queue), "clFinish");
    }
}

bytes contents(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t size) {
    bytes result(size);
    if (size != 0) {
        check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, size, result.data(), 0, nullptr, nullptr),
              "clEnqueueReadBuffer");
    }
    return result;
}

kernel_handle make_add_kernel(cl_context context, cl_device_id device) {
    // `volatile` keeps the compiler from adding all rounds at once: the kernel is to take its time.
    const char* source = "__kernel void add(volatile __global uchar* data, uint rounds) {"
                         "    size_t at = get_global_id(0);"
                         "    for (uint i = 0; i < rounds; ++i) data[at] += 1;"
                         "}";
    cl_int code = CL_SUCCESS;
    const program_handle program(clCreateProgramWithSource(context, 1, &source, nullptr, &code));
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr), "clBuildProgram");
    kernel_handle kernel(clCreateKernel(program.get(), "add", &code));
    check(code, "clCreateKernel");
    return kernel;
}

event_handle enqueue_add(cl_command_queue queue, cl_kernel add, cl_mem buffer, std::size_t size, cl_uint rounds,
                         const wait_list& waits) {
    check(clSetKernelArg(add, 0, sizeof buffer, &buffer), "clSetKernelArg");
    check(clSetKernelArg(add, 1, sizeof rounds, &rounds), "clSetKernelArg");
    event_handle event;
    check(clEnqueueNDRangeKernel(queue, add, 1, nullptr, &size, nullptr, count(waits), list(waits), event.out()),
          "clEnqueueNDRangeKernel");
    return event;
}

event_handle enqueue_fill(cl_command_queue queue, cl_mem buffer, unsigned char value, std::size_t size,
                          const wait_list& waits) {
    event_handle event;
    check(clEnqueueFillBuffer(queue, buffer, &value, 1, 0, size, count(waits), list(waits), event.out()),
          "clEnqueueFillBuffer");
    return event;
}

event_handle write_buffer_from(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t size,
                               std::FILE* file, const wait_list& waits) {
    event_handle event;
    check_transfer(clEnqueueWriteBufferFromStdioFile(queue, buffer, CL_FALSE, offset, size, file, count(waits),
                                                     list(waits), event.out()),
                   "clEnqueueWriteBufferFromStdioFile");
    return event;
}

event_handle read_buffer_to(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t size,
                            std::FILE* file, const wait_list& waits) {
    event_handle event;
    check_transfer(clEnqueueReadBufferToStdioFile(queue, buffer, CL_FALSE, offset, size, file, count(waits),
                                                  list(waits), event.out()),
                   "clEnqueueReadBufferToStdioFile");
    return event;
}

event_handle write_buffer_from(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t size, int fd,
                               std::int64_t file_offset, const wait_list& waits) {
    event_handle event;
    check_transfer(clEnqueueWriteBufferFromFile(queue, buffer, CL_FALSE, offset, size, fd, file_offset, count(waits),
                                                list(waits), event.out()),
                   "clEnqueueWriteBufferFromFile");
    return event;
}

event_handle read_buffer_to(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t size, int fd,
                            std::int64_t file_offset, const wait_list& waits) {
    event_handle event;
    check_transfer(clEnqueueReadBufferToFile(queue, buffer, CL_FALSE, offset, size, fd, file_offset, count(waits),
                                             list(waits), event.out()),
                   "clEnqueueReadBufferToFile");
    return event;
}

device_test::device_test()
    : m_context(make_context({GetParam().device})),
      m_queue(make_queue(m_context.get(), GetParam().device, queue_order::in_order)),
      m_own_queue(make_queue(m_context.get(), GetParam().device, queue_order::in_order)) {}

queue_handle device_test::new_queue(queue_order order) const { return make_queue(context(), device(), order); }

buffer_handle device_test::new_buffer(std::size_t size, cl_mem_flags flags) const {
    return make_buffer(context(), size, flags);
}

buffer_handle device_test::new_buffer(const bytes& contents) const {
    buffer_handle buffer = make_buffer(context(), contents.size());
    fill(m_own_queue.get(), buffer.get(), 0, contents);
    return buffer;
}

bytes device_test::contents_of(const buffer_handle& buffer, std::size_t offset, std::size_t size) const {
    return contents(m_own_queue.get(), buffer.get(), offset, size);
}

} // namespace support
