/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test, it makes PoCL take what a write sends when the write is enqueued, whatever comes before
 * that, as NVIDIA's driver does (580). */
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The headers name this type differently from year to year. */
static cl_int(CL_API_CALL* real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void*, cl_uint,
                                 const cl_event*, cl_event*);

static cl_int CL_API_CALL write_early(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, const void* source, cl_uint count, const cl_event* list,
                                      cl_event* event) {
    void* const taken = malloc(size); /* for good: nobody says when the driver is done with it */
    memcpy(taken, source, size);
    return real(queue, buffer, blocking, offset, size, taken, count, list, event);
}

static void fail(const char* what) {
    fprintf(stderr, "early_writes: %s\n", what);
    _exit(77);
}

__attribute__((constructor)) static void take_the_place(void) {
    void* const driver = dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) fail("skipped: no libpocl.so.2");
    void* (*address)(const char*);
    *(void**)&address = dlsym(driver, "clGetExtensionFunctionAddress");
    cl_int (*platforms)(cl_uint, cl_platform_id*, cl_uint*) = NULL;
    if (address != NULL) *(void**)&platforms = address("clIcdGetPlatformIDsKHR");
    cl_platform_id platform = NULL;
    if (platforms == NULL || platforms(1, &platform, NULL) != CL_SUCCESS) fail("libpocl.so.2 has no platform");
    /* All objects of PoCL share one table, which is constant. */
    cl_icd_dispatch* const table = *(cl_icd_dispatch**)platform;
    real = table->clEnqueueWriteBuffer;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)&table->clEnqueueWriteBuffer & ~(page - 1);
    if (mprotect((void*)first, page, PROT_READ | PROT_WRITE) != 0) fail("the table of libpocl.so.2 cannot be changed");
    table->clEnqueueWriteBuffer = write_early;
}
