/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a symmetric heap in the directives' context are present, as long as they are allocated. */
#include <CL/cl.h>
#include <causeway/symmetric.h>
#include <mpi.h>
#include <openacc.h>
#include <stdio.h>

enum { n = 1024 };

static int failures;
static void expect(int holds, const char* rule) {
    if (holds) return;
    failures++;
    fprintf(stderr, "symmetric: broken: %s\n", rule);
}

static void fill(int* x, int value) {
#pragma acc parallel loop present(x[0 : n])
    for (int i = 0; i < n; i++) x[i] = value + i;
}

/* Nothing but the launch asks what is present. */
static void fill_present(int* x, int value) {
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; i++) x[i] = value + i;
}

/* Each element becomes the first: `x1` points to the end of the allocation before. */
static void spread_first(int* x1, const int* x) {
#pragma acc kernels loop
    for (int i = 2; i <= n; i++) x1[i] = x[i - 2];
}

static int count_wrong(const int* x, int value, int step) {
    int wrong = 0;
#pragma acc parallel loop reduction(+ : wrong)
    for (int i = 0; i < n; i++) wrong += x[i] != value + step * i;
    return wrong;
}

/* Whether the address lies in a mapping that nobody may touch, as what stands for device memory does. */
static int is_reserved(const void* address) {
    FILE* const maps = fopen("/proc/self/maps", "r");
    unsigned long first, end;
    char access[5];
    int found = 0;
    while (maps && fscanf(maps, "%lx-%lx %4s%*[^\n]", &first, &end, access) == 3)
        found |= first <= (unsigned long)address && (unsigned long)address < end && access[0] == '-';
    if (maps) fclose(maps);
    return found;
}

static void put(const int* from, int* to, int pe) {
    size_t offset = 0;
    const cl_mem heap = causeway_symmetric_buffer(from, &offset, NULL);
    expect(clEnqueuePut(acc_get_opencl_queue(acc_async_sync), heap, CL_TRUE, offset, n * sizeof *from, to, pe, 0, NULL,
                        NULL) == CL_SUCCESS,
           "a put of what a region made");
}

static void use_a_heap(int round) {
    cl_context context = acc_get_current_opencl_context();
    expect(causeway_symmetric_init(context, acc_get_current_opencl_device(), MPI_COMM_WORLD, 1 << 20) == CL_SUCCESS,
           "a heap in the directives' context");
    const int pe = causeway_symmetric_pe(), pes = causeway_symmetric_pes();
    int* const moved = round > 0 ? causeway_symmetric_malloc(4096) : NULL; /* the same address is another array then */
    int *const x = causeway_symmetric_malloc(n * sizeof *x), *const y = causeway_symmetric_malloc(n * sizeof *y);
    fill_present(x, round); /* straight away: the launch before used that address of the heap before */
    expect(count_wrong(x, round, 1) == 0, "the memory of another heap at the same address");
    expect(acc_is_present(x, n * sizeof *x) && acc_is_present(x + n - 1, sizeof *x), "an allocation is present");
    expect(!acc_is_present(x, n * sizeof *x + 1), "beyond its end nothing is");
    fill(x, 10 * pe + round);
    put(x, y, (pe + 1) % pes);
    causeway_symmetric_free(causeway_symmetric_malloc(1)); /* all have put */
    expect(count_wrong(y, 10 * ((pe + pes - 1) % pes) + round, 1) == 0, "what another PE has put");
    /* A count is left, so that nothing moves. */
#pragma acc data copyin(x[0 : n]) copyout(y[0 : n])
    fill(y, 7);
#pragma acc enter data copyin(x[0 : n])
#pragma acc exit data copyout(x[0 : n]) finalize
#pragma acc update self(x[0 : n]) device(y[0 : n])
    acc_update_self(y, n * sizeof *y);
    acc_update_device(x, n * sizeof *x);
    expect(count_wrong(x, 10 * pe + round, 1) == 0 && count_wrong(y, 7, 1) == 0, "clauses that name what is present");
    spread_first(y - 1, y);
    expect(count_wrong(y, 7, 0) == 0, "a loop in order, as two pointers point to one allocation");
    const void* const device_address = acc_deviceptr(y);
    expect(is_reserved(device_address), "a device address is nobody's memory");
    causeway_symmetric_free(y);
    expect(!acc_is_present(y, 1), "freed memory is not present");
    fill_present(x, 0);
    expect(!is_reserved(device_address), "the device address of freed memory is given back");
    if (moved) causeway_symmetric_free(moved);
    expect(causeway_symmetric_finalize() == CL_SUCCESS, "the end of the heap");
    expect(!acc_is_present(x, 1), "the memory of a heap that has ended is not present");
}

int main(int argc, char** argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int round = 0; round < 3; round++) use_a_heap(round);
    MPI_Finalize();
    if (!failures) printf("symmetric: all rules hold\n");
    return failures != 0;
}
