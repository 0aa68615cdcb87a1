/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before the library (LD_PRELOAD): a machine whose set-up is wrong in the way that CAUSEWAY_TEST_MISTAKE names.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static int is_made(const char* mistake) {
    const char* made = getenv("CAUSEWAY_TEST_MISTAKE");
    return made && strcmp(made, mistake) == 0;
}

/* An MPI that was built without MPI_THREAD_MULTIPLE. */
EXPORTED int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (is_made("thread level")) *provided = MPI_THREAD_SERIALIZED;
    return code;
}

/* Devices with memory of their own, for which the system lets nobody lock any; PoCL 4 with its single-threaded one. */
EXPORTED cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void*, size_t*);
    *(void**)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    const cl_int code = real(device, name, size, value, size_ret);
    if (code == CL_SUCCESS && value && name == CL_DEVICE_HOST_UNIFIED_MEMORY && is_made("locked memory"))
        memset(value, 0, sizeof(cl_bool));
    if (code == CL_SUCCESS && value && name == CL_DEVICE_NAME && is_made("single-threaded device"))
        strncpy(value, "cpu-minimal", size - 1);
    return code;
}

EXPORTED cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* memory, cl_int* code) {
    cl_mem (*real)(cl_context, cl_mem_flags, size_t, void*, cl_int*);
    *(void**)&real = dlsym(RTLD_NEXT, "clCreateBuffer");
    if ((flags & CL_MEM_ALLOC_HOST_PTR) && is_made("locked memory")) {
        *code = CL_OUT_OF_RESOURCES;
        return NULL;
    }
    return real(context, flags, size, memory, code);
}

/* A file system, or a user, without direct access; or one without files that have no name. */
EXPORTED int open(const char* path, int flags, ...) {
    int (*real)(const char*, int, ...);
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if ((flags & O_DIRECT) && is_made("direct access")) {
        errno = EACCES;
        return -1;
    }
    if ((flags & O_TMPFILE) == O_TMPFILE && is_made("unnamed files")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    *(void**)&real = dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}
