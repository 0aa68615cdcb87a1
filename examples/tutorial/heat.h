/* SPDX-License-Identifier: Apache-2.0 */
/* What the four programs of the tutorial share: the problem, and the set-up that any program with MPI and OpenCL has.
 *
 * A plate is divided among the ranks by rows. In each step every cell takes some heat of its four neighbours, and
 * radiates some. The rows above and below those of a rank are copies of the neighbours' outermost rows: the halo. The
 * plate is closed to a ring in both directions, so that all ranks do the same. */
#ifndef HEAT_H
#define HEAT_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

/* Ends the job if a call does not give CL_SUCCESS (or MPI_SUCCESS, which is 0 too). */
#define CHECK(call) heat_check((call), #call, __FILE__, __LINE__)

static inline void heat_check(int code, const char* call, const char* file, int line) {
    if (code == CL_SUCCESS) return;
    fprintf(stderr, "%s:%d: %s gave %d\n", file, line, call, code);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static const char* const heat_source =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "kernel void heat(global const float *from, global float *to, int first, int stride)\n"
    "{\n"
    "    size_t columns = get_global_size(0), column = get_global_id(0);\n"
    "    size_t row = (first + stride * get_global_id(1)) * columns;\n"
    "    size_t left = column == 0 ? columns - 1 : column - 1, right = column == columns - 1 ? 0 : column + 1;\n"
    "    float sides = from[row + left] + from[row + right] + from[row + column - columns] + from[row + column + "
    "columns];\n"
    "    float cell = from[row + column] + 0.2f * (sides - 4 * from[row + column]);\n"
    "    to[row + column] = cell / (1 + 1e-11f * cell * cell * cell);\n"
    "}\n";

struct heat {
    int rank, up, down;           /* this rank, and its neighbours */
    size_t columns, rows;         /* of this rank, without the halo */
    int steps, every;             /* the plate is stored after each `every` steps */
    size_t row_size, size;        /* in bytes: one row; all rows without the halo */
    cl_device_id device;
    cl_context context;
    cl_kernel kernel;
    cl_mem from, to;              /* row 0 and row rows + 1 are the halo */
    FILE* file;                   /* of this rank */
    double begun;
    double alone; /* seconds of one step's kernel alone, before anything else runs */
};

/* Where a row begins in `from` and in `to`, in bytes. */
static inline size_t heat_row(const struct heat* heat, size_t row) { return row * heat->row_size; }

static inline cl_command_queue heat_queue(const struct heat* heat, cl_command_queue_properties properties) {
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(heat->context, heat->device, properties, &code);
    CHECK(code);
    return queue;
}

static inline cl_mem heat_buffer(const struct heat* heat, size_t size) {
    cl_int code;
    cl_mem buffer = clCreateBuffer(heat->context, CL_MEM_READ_WRITE, size, NULL, &code);
    CHECK(code);
    return buffer;
}

/* Enqueues the kernel for `count` rows: `first`, `first` + `stride`, and so on. */
static inline void heat_compute(const struct heat* heat, cl_command_queue queue, int first, int stride, size_t count,
                                cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
    const size_t cells[2] = {heat->columns, count};
    CHECK(clSetKernelArg(heat->kernel, 0, sizeof heat->from, &heat->from));
    CHECK(clSetKernelArg(heat->kernel, 1, sizeof heat->to, &heat->to));
    CHECK(clSetKernelArg(heat->kernel, 2, sizeof first, &first));
    CHECK(clSetKernelArg(heat->kernel, 3, sizeof stride, &stride));
    CHECK(clEnqueueNDRangeKernel(queue, heat->kernel, 2, NULL, cells, NULL, wait_count, wait_list, event));
}

/* Enqueues the kernel for the rows that no other rank needs: some at a time, as devices that do one thing after another
 * (PoCL's) give way to transfers between two kernels. */
static inline void heat_compute_inside(const struct heat* heat, cl_command_queue queue) {
    const size_t most = heat->rows < 16 ? 2 : heat->rows / 8;
    for (size_t row = 2; row < heat->rows; row += most)
        heat_compute(heat, queue, (int)row, 1, row + most < heat->rows ? most : heat->rows - row, 0, NULL, NULL);
    CHECK(clFlush(queue));
}

static inline void heat_swap(struct heat* heat) {
    cl_mem other = heat->from;
    heat->from = heat->to;
    heat->to = other;
}

/* Arguments: FILE ROWS COLUMNS STEPS EVERY, of which rank r writes FILE.r. `thread_level` is what MPI must be able to
 * do. */
static inline struct heat heat_begin(int argc, char** argv, int thread_level) {
    struct heat heat = {0};
    int ranks, provided, all_rows;
    cl_platform_id platform;
    cl_device_id devices[16];
    cl_uint device_count = 0;
    cl_int code;
    cl_program program;
    cl_command_queue queue;
    float* plate;
    char name[4096];

    MPI_Init_thread(&argc, &argv, thread_level, &provided);
    if (argc < 2 || provided < thread_level) {
        fprintf(stderr,
                argc < 2 ? "usage: %s FILE [ROWS COLUMNS STEPS EVERY]\n" : "%s: this MPI has no such thread level\n",
                argv[0]);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &heat.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    heat.up = (heat.rank + ranks - 1) % ranks;
    heat.down = (heat.rank + 1) % ranks;
    all_rows = argc > 2 ? atoi(argv[2]) : 64;
    heat.rows = (size_t)(all_rows / ranks);
    heat.columns = argc > 3 ? (size_t)atoi(argv[3]) : 131072;
    heat.steps = argc > 4 ? atoi(argv[4]) : 30;
    heat.every = argc > 5 ? atoi(argv[5]) : 10;
    if (heat.rows < 2 || heat.columns < 2 || heat.every < 1) {
        fprintf(stderr,
                "%s: each rank needs two rows at least, and two columns; the plate is stored every 1 or more steps\n",
                argv[0]);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    heat.row_size = heat.columns * sizeof(float);
    heat.size = heat.rows * heat.row_size;
    snprintf(name, sizeof name, "%s.%d", argv[1], heat.rank);
    heat.file = fopen(name, "wb");
    if (!heat.file) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }

    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices, &device_count) != CL_SUCCESS) {
        fprintf(stderr, "there is no OpenCL device; causeway info says why, and what to do\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    heat.device = devices[(cl_uint)heat.rank % (device_count < 16 ? device_count : 16)];
    heat.context = clCreateContext(NULL, 1, &heat.device, NULL, NULL, &code);
    CHECK(code);
    program = clCreateProgramWithSource(heat.context, 1, (const char**)&heat_source, NULL, &code);
    CHECK(code);
    CHECK(clBuildProgram(program, 1, &heat.device, "", NULL, NULL));
    heat.kernel = clCreateKernel(program, "heat", &code);
    CHECK(code);
    CHECK(clReleaseProgram(program));

    /* Some cells are hot. */
    plate = malloc(heat_row(&heat, heat.rows + 2));
    if (!plate) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    for (size_t row = 0; row < heat.rows + 2; ++row) {
        const size_t of_all = ((size_t)heat.rank * heat.rows + row + (size_t)all_rows - 1) % (size_t)all_rows;
        for (size_t column = 0; column < heat.columns; ++column)
            plate[row * heat.columns + column] = (of_all * 31 + column * 7) % 101 == 0 ? 1000.0f : 300.0f;
    }
    heat.from = heat_buffer(&heat, heat_row(&heat, heat.rows + 2));
    heat.to = heat_buffer(&heat, heat_row(&heat, heat.rows + 2));
    queue = heat_queue(&heat, 0);
    CHECK(clEnqueueWriteBuffer(queue, heat.from, CL_TRUE, 0, heat_row(&heat, heat.rows + 2), plate, 0, NULL, NULL));
    /* Drivers compile at the first launch, which is not to be timed. Its result is overwritten by the first step. */
    heat_compute(&heat, queue, 1, 1, heat.rows, 0, NULL, NULL);
    heat_compute(&heat, queue, 1, (int)heat.rows - 1, 2, 0, NULL, NULL);
    CHECK(clFinish(queue));
    for (int launch = 0; launch < 5; ++launch) {
        double begun, took;
        MPI_Barrier(MPI_COMM_WORLD);
        begun = MPI_Wtime();
        heat_compute(&heat, queue, 1, 1, heat.rows, 0, NULL, NULL);
        CHECK(clFinish(queue));
        took = MPI_Wtime() - begun;
        if (launch == 0 || took < heat.alone) heat.alone = took;
    }
    CHECK(clReleaseCommandQueue(queue));
    free(plate);
    MPI_Barrier(MPI_COMM_WORLD);
    heat.begun = MPI_Wtime();
    return heat;
}

/* Ends the job if the plate was not stored. */
static inline void heat_stored(int good) {
    if (good) return;
    perror("storing the plate");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static inline int heat_end(struct heat* heat) {
    double took, kernels = heat->steps * heat->alone;
    MPI_Barrier(MPI_COMM_WORLD);
    took = MPI_Wtime() - heat->begun;
    if (kernels > took) kernels = took;
    if (heat->rank == 0)
        printf("%d steps in %.1f ms: %.1f ms of kernels, %.1f ms waited\n", heat->steps, took * 1e3, kernels * 1e3,
               (took - kernels) * 1e3);
    CHECK(clReleaseMemObject(heat->from));
    CHECK(clReleaseMemObject(heat->to));
    CHECK(clReleaseKernel(heat->kernel));
    CHECK(clReleaseContext(heat->context));
    heat_stored(fclose(heat->file) == 0);
    MPI_Finalize();
    return EXIT_SUCCESS;
}

#endif
