/* SPDX-License-Identifier: Apache-2.0 */
/* The program of docs/one-sided.md: each PE puts numbers to the next one, doubles what has come, and adds up over all.
 */
#include <CL/cl.h>
#include <causeway/symmetric.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000 };

static void check(cl_int code, const char* what) {
    if (code == CL_SUCCESS) return;
    fprintf(stderr, "%s: %d %s\n", what, code, causeway_error_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static const char* const
    source = "kernel void doubling(global int* heap, ulong first) { heap[first + get_global_id(0)] *= 2; }";

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    check(code, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, &code);
    check(code, "program");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "kernel");
    cl_kernel doubling = clCreateKernel(program, "doubling", &code);
    check(code, "kernel");

    check(causeway_symmetric_init(context, device, MPI_COMM_WORLD, 1 << 20), "heap");
    const int me = causeway_symmetric_pe(), all = causeway_symmetric_pes(), next = (me + 1) % all;
    int* numbers = causeway_symmetric_calloc(COUNT, sizeof(int));
    uint64_t* arrived = causeway_symmetric_calloc(1, sizeof *arrived);
    int mine[COUNT];
    for (int i = 0; i < COUNT; ++i) mine[i] = i + me;
    cl_mem own = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof mine, mine, &code);
    check(code, "buffer");

    check(clEnqueuePutSignal(queue, own, CL_FALSE, 0, sizeof mine, numbers, arrived, 1, CL_SIGNAL_ADD, next, 0, NULL,
                             NULL),
          "put");
    check(clEnqueueSignalWait(queue, CL_FALSE, arrived, CL_COMPARE_GE, 1, 0, NULL, NULL), "wait");
    size_t offset, count = COUNT;
    cl_mem heap = causeway_symmetric_buffer(numbers, &offset, &code);
    check(code, "the heap's buffer");
    const cl_ulong first = offset / sizeof(int);
    check(clSetKernelArg(doubling, 0, sizeof heap, &heap), "argument");
    check(clSetKernelArg(doubling, 1, sizeof first, &first), "argument");
    check(clEnqueueNDRangeKernel(queue, doubling, 1, NULL, &count, NULL, 0, NULL, NULL), "kernel");
    check(
        clEnqueueSymmetricReduce(queue, CL_TRUE, numbers, numbers, COUNT, CL_ELEMENT_INT, CL_REDUCE_SUM, 0, NULL, NULL),
        "reduction");

    int wrong = 0, seen[COUNT];
    check(causeway_symmetric_get(seen, numbers, sizeof seen, me), "get");
    for (int i = 0; i < COUNT; ++i) wrong += seen[i] != 2 * i * all + all * (all - 1);
    printf("PE %d of %d: %s\n", me, all, wrong == 0 ? "right" : "WRONG");
    check(causeway_symmetric_finalize(), "end of the heap");
    clReleaseMemObject(own);
    clReleaseKernel(doubling);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
