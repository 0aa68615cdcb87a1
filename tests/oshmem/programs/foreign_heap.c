/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory of a program that has a heap of libcauseway's already. Argument: over which PEs. */
#include <CL/cl.h>
#include <causeway/symmetric.h>
#include <mpi.h>
#include <shmemg.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    int provided = 0, me = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const char* const over = argc > 1 ? argv[1] : "all";
    MPI_Comm some = MPI_COMM_NULL;
    int colour = 0;
    if (strcmp(over, "split") == 0) colour = me;
    if (strcmp(over, "first") == 0 && me != 0) colour = MPI_UNDEFINED;
    MPI_Comm_split(MPI_COMM_WORLD, colour, strcmp(over, "reordered") == 0 ? -me : me, &some);
    if (some != MPI_COMM_NULL) {
        cl_platform_id platform;
        cl_device_id device;
        cl_int code = CL_SUCCESS;
        if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 1;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 1;
        cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
        if (code != CL_SUCCESS || causeway_symmetric_init(context, device, some, 1 << 20) != CL_SUCCESS) return 1;
        clReleaseContext(context);
        MPI_Comm_free(&some);
    }
    shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT, &provided);
    if ((provided & SHMEM_DEVICE_HOST_INIT) == 0) puts("not provided");
    fflush(stdout);
    const int all = shmem_n_pes();
    long* const who = shmemg_malloc(sizeof *who);
    shmem_long_p(who, me, (me + 1) % all);
    shmem_barrier_all();
    puts(shmem_long_g(who, me) == (me + all - 1) % all ? "right" : "WRONG: a put of another PE than the one before");
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
