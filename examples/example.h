/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up that the examples share, in C99 and C++: MPI, a device for each rank, checks, a kernel. */
#ifndef CAUSEWAY_EXAMPLE_H
#define CAUSEWAY_EXAMPLE_H

#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The status of a program that cannot run here. */
#define EXAMPLE_SKIPPED 77

/* Ends the program, and the job, if a call does not give CL_SUCCESS (or MPI_SUCCESS, which is 0 too). */
#define EXAMPLE_CHECK(call) example_check((call), #call, __FILE__, __LINE__)

static inline void example_abort(void) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    exit(EXIT_FAILURE);
}

static inline void example_check(int code, const char* call, const char* file, int line) {
    if (code == CL_SUCCESS) return;
    fprintf(stderr, "%s:%d: %s gave %d; %s\n", file, line, call, code, causeway_error_last_message());
    example_abort();
}

/* What an example computes on. */
struct example {
    int rank;
    int ranks;
    cl_device_id device;
    cl_context context;
};

/* Initialises MPI for threads, as transfers between ranks need it, and takes device `rank` modulo their number. */
static inline struct example example_begin(int* argc, char*** argv) {
    struct example with;
    int provided = MPI_THREAD_SINGLE;
    cl_platform_id platforms[16];
    cl_device_id devices[64];
    cl_uint platform_count = 0;
    cl_uint device_count = 0;
    cl_int code = CL_SUCCESS;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &with.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &with.ranks);
    if (provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE; causeway info says what it has, and what to do\n");
        example_abort();
    }
    if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0; /* the loader's error if it finds none */
    for (cl_uint platform = 0; platform < platform_count && platform < 16 && device_count < 64; ++platform) {
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 64 - device_count, devices + device_count,
                           &count) == CL_SUCCESS)
            device_count += count < 64 - device_count ? count : 64 - device_count;
    }
    if (device_count == 0) {
        fprintf(stderr, "there is no OpenCL device; causeway info says why, and what to do\n");
        example_abort();
    }
    with.device = devices[(cl_uint)with.rank % device_count];
    with.context = clCreateContext(NULL, 1, &with.device, NULL, NULL, &code);
    EXAMPLE_CHECK(code);
    return with;
}

static inline cl_command_queue example_queue(const struct example* with) {
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(with->context, with->device, 0, &code);
    EXAMPLE_CHECK(code);
    return queue;
}

/* A buffer of `size` bytes that begins as `contents`, or undefined if that is null. */
static inline cl_mem example_buffer(const struct example* with, size_t size, const void* contents) {
    cl_int code = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(with->context, CL_MEM_READ_WRITE | (contents ? CL_MEM_COPY_HOST_PTR : 0), size,
                                   (void*)contents, &code);
    EXAMPLE_CHECK(code);
    return buffer;
}

static inline cl_kernel example_kernel(const struct example* with, const char* source, const char* name) {
    cl_int code = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(with->context, 1, &source, NULL, &code);
    cl_kernel kernel;
    EXAMPLE_CHECK(code);
    EXAMPLE_CHECK(clBuildProgram(program, 1, &with->device, "", NULL, NULL));
    kernel = clCreateKernel(program, name, &code);
    EXAMPLE_CHECK(code);
    clReleaseProgram(program);
    return kernel;
}

/* Ends an example that needs more ranks than it has. */
static inline void example_need_ranks(struct example* with, int ranks) {
    if (with->ranks >= ranks) return;
    printf("skipped: needs %d ranks\n", ranks);
    clReleaseContext(with->context);
    MPI_Finalize();
    exit(EXAMPLE_SKIPPED);
}

/* Combines the ranks' verdicts, prints one line and gives the exit status. */
static inline int example_end(struct example* with, const char* name, int good) {
    int all_good = 0;
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (with->rank == 0)
        printf("%s on %d rank%s: %s\n", name, with->ranks, with->ranks == 1 ? "" : "s",
               all_good ? "result verified" : "WRONG RESULT");
    clReleaseContext(with->context);
    MPI_Finalize();
    return all_good ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
