// SPDX-License-Identifier: Apache-2.0
// Enqueues every command that moves bytes or computes, on an OpenCL device, and prints the kind of each.
#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::size_t width = 16, size = width * width;

void check(cl_int code, const char* what) {
    if (code == CL_SUCCESS) return;
    std::fprintf(stderr, "every_command: %s: %d\n", what, code);
    std::exit(1);
}

template <class Object> Object made(Object object, cl_int code, const char* what) {
    check(code, what);
    return object;
}

/// A device and what all commands work on; the process's end gives it back.
struct set_up {
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_mem a = nullptr, b = nullptr;
    std::array<unsigned char, size> host{};

    set_up() {
        cl_platform_id platform = nullptr;
        check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
        check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
        cl_int code = CL_SUCCESS;
        context = made(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code), code, "clCreateContext");
        queue = made(clCreateCommandQueue(context, device, 0, &code), code, "clCreateCommandQueue");
        a = made(clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code), code, "clCreateBuffer");
        b = made(clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code), code, "clCreateBuffer");
    }

    template <class Value> [[nodiscard]] Value asked(cl_device_info what) const {
        Value value{};
        return clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : Value{};
    }
};

void enqueued(const char* kind, cl_int code) {
    check(code, kind);
    std::printf("%s\n", kind);
}

void buffers(set_up& of) {
    const std::size_t origin[3] = {}, region[3] = {width, 2, 1};
    auto* const memory = of.host.data();
    cl_event event = nullptr; // one of the commands has an event that the program asked for
    enqueued("write buffer", clEnqueueWriteBuffer(of.queue, of.a, CL_TRUE, 0, size, memory, 0, nullptr, &event));
    enqueued("read buffer", clEnqueueReadBuffer(of.queue, of.a, CL_FALSE, 0, size, memory, 1, &event, nullptr));
    check(clReleaseEvent(event), "clReleaseEvent");
    enqueued("write buffer", clEnqueueWriteBufferRect(of.queue, of.a, CL_FALSE, origin, origin, region, width, 0, width,
                                                      0, memory, 0, nullptr, nullptr));
    enqueued("read buffer", clEnqueueReadBufferRect(of.queue, of.a, CL_TRUE, origin, origin, region, width, 0, width, 0,
                                                    memory, 0, nullptr, nullptr));
    enqueued("copy buffer", clEnqueueCopyBuffer(of.queue, of.a, of.b, 0, 0, size, 0, nullptr, nullptr));
    enqueued("copy buffer", clEnqueueCopyBufferRect(of.queue, of.a, of.b, origin, origin, region, width, 0, width, 0, 0,
                                                    nullptr, nullptr));
    enqueued("fill buffer", clEnqueueFillBuffer(of.queue, of.a, memory, 1, 0, size, 0, nullptr, nullptr));
    enqueued("migrate",
             clEnqueueMigrateMemObjects(of.queue, 1, &of.a, CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, nullptr));
    cl_int code = CL_SUCCESS;
    void* const mapped = clEnqueueMapBuffer(of.queue, of.a, CL_TRUE, CL_MAP_READ, 0, size, 0, nullptr, nullptr, &code);
    enqueued("map", code);
    enqueued("unmap", clEnqueueUnmapMemObject(of.queue, of.a, mapped, 0, nullptr, nullptr));
}

void kernels(set_up& of) {
    const char* source = "kernel void whole(global uchar *x) { x[get_global_id(0)] = 1; }"
                         "kernel void single(global uchar *x) { x[0] = 1; }";
    cl_int code = CL_SUCCESS;
    auto* const program = made(clCreateProgramWithSource(of.context, 1, &source, nullptr, &code), code, "a program");
    check(clBuildProgram(program, 1, &of.device, "", nullptr, nullptr), "clBuildProgram");
    auto* const whole = made(clCreateKernel(program, "whole", &code), code, "a kernel");
    auto* const single = made(clCreateKernel(program, "single", &code), code, "a kernel");
    for (auto* const each : {whole, single}) check(clSetKernelArg(each, 0, sizeof of.a, &of.a), "clSetKernelArg");
    enqueued("whole", clEnqueueNDRangeKernel(of.queue, whole, 1, nullptr, &size, nullptr, 0, nullptr, nullptr));
    enqueued("single", clEnqueueTask(of.queue, single, 0, nullptr, nullptr));
    if ((of.asked<cl_device_exec_capabilities>(CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL) == 0) return;
    int argument = 0;
    enqueued("native kernel",
             clEnqueueNativeKernel(
                 of.queue, [](void*) {}, &argument, sizeof argument, 0, nullptr, nullptr, 0, nullptr, nullptr));
}

void images(set_up& of) {
    if (of.asked<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) return;
    const cl_image_format format{CL_R, CL_UNSIGNED_INT8};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = shape.image_height = width;
    cl_int code = CL_SUCCESS;
    auto* const one = made(clCreateImage(of.context, CL_MEM_READ_WRITE, &format, &shape, nullptr, &code), code,
                           "an image");
    auto* const other = made(clCreateImage(of.context, CL_MEM_READ_WRITE, &format, &shape, nullptr, &code), code,
                             "an image");
    const std::size_t origin[3] = {}, region[3] = {width, width, 1};
    const cl_uint color[4] = {1, 2, 3, 4};
    auto* const memory = of.host.data();
    enqueued("write image",
             clEnqueueWriteImage(of.queue, one, CL_TRUE, origin, region, 0, 0, memory, 0, nullptr, nullptr));
    enqueued("read image",
             clEnqueueReadImage(of.queue, one, CL_TRUE, origin, region, 0, 0, memory, 0, nullptr, nullptr));
    enqueued("copy image", clEnqueueCopyImage(of.queue, one, other, origin, origin, region, 0, nullptr, nullptr));
    enqueued("copy image to buffer",
             clEnqueueCopyImageToBuffer(of.queue, one, of.a, origin, region, 0, 0, nullptr, nullptr));
    enqueued("copy buffer to image",
             clEnqueueCopyBufferToImage(of.queue, of.a, one, 0, origin, region, 0, nullptr, nullptr));
    enqueued("fill image", clEnqueueFillImage(of.queue, one, color, origin, region, 0, nullptr, nullptr));
    std::size_t row = 0;
    void* const mapped = clEnqueueMapImage(of.queue, one, CL_TRUE, CL_MAP_WRITE, origin, region, &row, nullptr, 0,
                                           nullptr, nullptr, &code);
    enqueued("map", code);
    enqueued("unmap", clEnqueueUnmapMemObject(of.queue, one, mapped, 0, nullptr, nullptr));
}

void shared_memory(set_up& of) {
    if ((of.asked<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) == 0)
        return;
    void* one = clSVMAlloc(of.context, CL_MEM_READ_WRITE, size, 0);
    void* const other = clSVMAlloc(of.context, CL_MEM_READ_WRITE, size, 0);
    check(one != nullptr && other != nullptr ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "clSVMAlloc");
    enqueued("SVM fill", clEnqueueSVMMemFill(of.queue, one, of.host.data(), 1, size, 0, nullptr, nullptr));
    enqueued("SVM copy", clEnqueueSVMMemcpy(of.queue, CL_TRUE, other, one, size, 0, nullptr, nullptr));
    enqueued("SVM map", clEnqueueSVMMap(of.queue, CL_TRUE, CL_MAP_READ, one, size, 0, nullptr, nullptr));
    enqueued("SVM unmap", clEnqueueSVMUnmap(of.queue, one, 0, nullptr, nullptr));
    const void* const moved = one;
    const auto to_host = clEnqueueSVMMigrateMem(of.queue, 1, const_cast<const void**>(&moved), nullptr,
                                                CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, nullptr);
    if (to_host != CL_INVALID_OPERATION) enqueued("SVM migrate", to_host); // of OpenCL 2.1
    enqueued("SVM free", clEnqueueSVMFree(of.queue, 1, &one, nullptr, nullptr, 0, nullptr, nullptr));
    check(clFinish(of.queue), "clFinish");
    clSVMFree(of.context, other);
}

} // namespace

int main() {
    set_up of;
    buffers(of);
    kernels(of);
    images(of);
    shared_memory(of);
    check(clFinish(of.queue), "clFinish");
    return 0;
}
