// SPDX-License-Identifier: Apache-2.0
// A program of a cluster that starts and ends MPI by itself, while contents are still on their way between the ranks.
#include <CL/cl.h>
#include <mpi.h>

#if defined CAUSEWAY_TEST_ENDS_TRANSFERS
#define CAUSEWAY_NO_MPI_MACROS
#include <CL/cl_data_transfer.h>
#elif defined MPICH_VERSION
#include <CL/cl_data_transfer.h> // MPICH gives up its locks in MPI_Finalize before a library hears of it
#endif

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    cl_platform_id platform = nullptr;
    cl_device_id devices[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS || count < 2)
        return 1;
    cl_int code = CL_SUCCESS;
    auto* const context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &code);
    constexpr std::size_t large = 4 << 20;
    auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, large, nullptr, &code);
    const char* source = "__kernel void nothing() {}";
    auto* const program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
    if (clBuildProgram(program, 0, nullptr, "", nullptr, nullptr) != CL_SUCCESS) return 1;
    auto* const kernel = clCreateKernel(program, "nothing", &code);
    std::vector<cl_command_queue> queues;
    for (cl_uint i = 0; i < count; ++i) queues.push_back(clCreateCommandQueue(context, devices[i], 0, &code));
    static cl_uint values[large / sizeof(cl_uint)];
    cl_event last = nullptr;
    for (cl_uint step = 0; step < 40; ++step) {
        cl_event after = nullptr;
        if (clEnqueueFillBuffer(queues[step % count], buffer, &step, sizeof step, 0, large / 2, last == nullptr ? 0 : 1,
                                last == nullptr ? nullptr : &last, &after) != CL_SUCCESS)
            return 1;
        last = after;
    }
    if (clEnqueueReadBuffer(queues.front(), buffer, CL_FALSE, 0, large, values, 1, &last, nullptr) != CL_SUCCESS)
        return 1;
#ifdef CAUSEWAY_TEST_ENDS_TRANSFERS
    causeway_mpi_end_transfers();
#endif
    MPI_Finalize();
    // Each rank answers by what it has itself, also of devices of others.
    for (cl_uint i = 0; i < count; ++i) {
        std::size_t largest = 0;
        if (clGetKernelWorkGroupInfo(kernel, devices[i], CL_KERNEL_WORK_GROUP_SIZE, sizeof largest, &largest,
                                     nullptr) != CL_SUCCESS ||
            largest == 0)
            return 1;
    }
    std::vector<std::size_t> sizes(count);
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof sizes[0], sizes.data(), nullptr) !=
        CL_SUCCESS)
        return 1;
    std::vector<std::vector<unsigned char>> binaries;
    std::vector<unsigned char*> places;
    for (const auto size : sizes) places.push_back(binaries.emplace_back(size).data());
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof places[0], places.data(), nullptr) != CL_SUCCESS)
        return 1;
    // This rank's devices have theirs, and nobody can be asked for the others'.
    cl_uint own = 0;
    for (const auto& binary : binaries)
        if (!binary.empty()) ++own;
    if (own == 0 || own == count) return 1;
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    for (auto* const queue : queues) clReleaseCommandQueue(queue);
    clReleaseMemObject(buffer);
    clReleaseContext(context);
    if (values[0] != 39) return 1;
    std::puts("ended");
    return 0;
}
