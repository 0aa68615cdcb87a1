// SPDX-License-Identifier: Apache-2.0
// OpenCL for the applications, implemented.
#include "common/opencl.hpp"

#include <stdexcept>

namespace apps {

void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS) throw std::runtime_error(std::string(what) + ": OpenCL code " + std::to_string(code));
}

void wait_for(std::initializer_list<cl_event> events, const char* what) {
    for (cl_event event : events)
        if (event != nullptr) check(clWaitForEvents(1, &event), what);
}

namespace {

std::string platform_name_of(cl_platform_id platform) {
    std::size_t size = 0;
    check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &size), "clGetPlatformInfo");
    std::string name(size, '\0');
    check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, name.data(), nullptr), "clGetPlatformInfo");
    return name.c_str();
}

std::vector<cl_device_id> all_devices(cl_platform_id platform) {
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
    std::vector<cl_device_id> devices(count);
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
    return devices;
}

std::vector<cl_platform_id> all_platforms() {
    cl_uint count = 0;
    // The loader's code for none at all, of cl_khr_icd.
    constexpr cl_int platform_not_found = -1001;
    const cl_int code = clGetPlatformIDs(0, nullptr, &count);
    if (code == platform_not_found) return {};
    check(code, "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    return platforms;
}

} // namespace

std::vector<cl_device_id> devices_of(const std::string& platform_name) {
    for (cl_platform_id platform : all_platforms()) {
        if (platform_name_of(platform).find(platform_name) == std::string::npos) continue;
        if (auto devices = all_devices(platform); !devices.empty()) return devices;
    }
    throw std::runtime_error((platform_name.empty()
                                  ? "no OpenCL device"
                                  : "no OpenCL device on a platform whose name contains \"" + platform_name + "\"") +
                             std::string("; causeway info shows what there is, and what is wrong"));
}

cl_device_id device_of(const std::string& platform_name, std::size_t index) {
    const auto devices = devices_of(platform_name);
    if (index >= devices.size())
        throw std::runtime_error("the platform has no device " + std::to_string(index) + ", only " +
                                 std::to_string(devices.size()));
    return devices[index];
}

cl_device_id device_of_another_platform(cl_device_id device, const std::string& platform_name) {
    cl_platform_id own = nullptr;
    check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(own), &own, nullptr), "clGetDeviceInfo");
    for (cl_platform_id platform : all_platforms()) {
        if (platform == own || platform_name_of(platform).find(platform_name) == std::string::npos) continue;
        if (const auto devices = all_devices(platform); !devices.empty()) return devices.front();
    }
    return nullptr;
}

std::string device_text(cl_device_id device, cl_device_info what) {
    std::size_t size = 0;
    check(clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo");
    std::string text(size, '\0');
    check(clGetDeviceInfo(device, what, size, text.data(), nullptr), "clGetDeviceInfo");
    return text.c_str();
}

std::string device_name(cl_device_id device) { return device_text(device, CL_DEVICE_NAME); }

cl_device_type device_type(cl_device_id device) {
    cl_device_type type = 0;
    check(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, nullptr), "clGetDeviceInfo");
    return type;
}

context create_context(cl_device_id device) { return create_context(std::vector{device}); }

context create_context(const std::vector<cl_device_id>& devices) {
    cl_int code = CL_SUCCESS;
    context created(clCreateContext(nullptr, cl_uint(devices.size()), devices.data(), nullptr, nullptr, &code));
    check(code, "clCreateContext");
    return created;
}

queue create_in_order_queue(cl_context context, cl_device_id device) {
    cl_int code = CL_SUCCESS;
    queue created(clCreateCommandQueue(context, device, 0, &code));
    check(code, "clCreateCommandQueue");
    return created;
}

queue create_out_of_order_queue(cl_context context, cl_command_queue sibling) {
    cl_device_id device = nullptr;
    check(clGetCommandQueueInfo(sibling, CL_QUEUE_DEVICE, sizeof(device), &device, nullptr), "clGetCommandQueueInfo");
    cl_int code = CL_SUCCESS;
    queue created(clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code));
    check(code, "clCreateCommandQueue");
    return created;
}

buffer create_buffer(cl_context context, std::size_t size_bytes) {
    cl_int code = CL_SUCCESS;
    buffer created(clCreateBuffer(context, CL_MEM_READ_WRITE, size_bytes, nullptr, &code));
    check(code, "clCreateBuffer");
    return created;
}

program build_program(cl_context context, cl_device_id device, const char* source, const std::string& options) {
    return build_program(context, std::vector{device}, source, options);
}

program build_program(cl_context context, const std::vector<cl_device_id>& devices, const char* source,
                      const std::string& options) {
    cl_int code = CL_SUCCESS;
    program created(clCreateProgramWithSource(context, 1, &source, nullptr, &code));
    check(code, "clCreateProgramWithSource");
    if (clBuildProgram(created.get(), cl_uint(devices.size()), devices.data(), options.c_str(), nullptr, nullptr) ==
        CL_SUCCESS)
        return created;
    std::string logs;
    for (cl_device_id device : devices) {
        std::size_t size = 0;
        check(clGetProgramBuildInfo(created.get(), device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size), "build log");
        std::string log(size, '\0');
        check(clGetProgramBuildInfo(created.get(), device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr),
              "build log");
        logs += log.c_str();
    }
    throw std::runtime_error("building the kernels failed:\n" + logs);
}

kernel create_kernel(cl_program program, const char* name) {
    cl_int code = CL_SUCCESS;
    kernel created(clCreateKernel(program, name, &code));
    check(code, name);
    return created;
}

pinned_memory::pinned_memory(cl_context context, cl_command_queue queue, std::size_t size_bytes) {
    check(clRetainCommandQueue(queue), "clRetainCommandQueue");
    m_queue.reset(queue);
    cl_int code = CL_SUCCESS;
    m_buffer.reset(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size_bytes, nullptr, &code));
    check(code, "clCreateBuffer of page-locked memory");
    m_data = clEnqueueMapBuffer(queue, m_buffer.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size_bytes, 0, nullptr,
                                nullptr, &code);
    check(code, "clEnqueueMapBuffer of page-locked memory");
}

pinned_memory::~pinned_memory() {
    clEnqueueUnmapMemObject(m_queue.get(), m_buffer.get(), m_data, 0, nullptr, nullptr);
    clFinish(m_queue.get());
}

} // namespace apps
