/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test of several ranks, it ends a rank of which PoCL builds a program while that of another rank
 * builds one. */
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static cl_int(CL_API_CALL* real)(cl_program, cl_uint, const cl_device_id*, const char*,
                                 void(CL_CALLBACK*)(cl_program, void*), void*);

static void fail(const char* what, int status) {
    fprintf(stderr, "builds_in_turn: %s\n", what);
    _exit(status);
}

static cl_int CL_API_CALL build_alone(cl_program program, cl_uint count, const cl_device_id* devices,
                                      const char* options, void(CL_CALLBACK* done)(cl_program, void*), void* data) {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (flock(file, LOCK_EX | LOCK_NB) != 0) fail("two ranks build at the same time", 1);
    const cl_int code = real(program, count, devices, options, done, data);
    usleep(100000); /* shows builds at the same time also where they are short */
    close(file);
    return code;
}

__attribute__((constructor)) static void take_the_place(void) {
    void* const driver = dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) fail("skipped: no libpocl.so.2", 77);
    void* (*address)(const char*);
    *(void**)&address = dlsym(driver, "clGetExtensionFunctionAddress");
    cl_int (*platforms)(cl_uint, cl_platform_id*, cl_uint*) = NULL;
    if (address != NULL) *(void**)&platforms = address("clIcdGetPlatformIDsKHR");
    cl_platform_id platform = NULL;
    if (platforms == NULL || platforms(1, &platform, NULL) != CL_SUCCESS) fail("libpocl.so.2 has no platform", 77);
    /* All objects of PoCL share one table, which is constant. */
    cl_icd_dispatch* const table = *(cl_icd_dispatch**)platform;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)&table->clBuildProgram & ~(page - 1);
    if (mprotect((void*)first, page, PROT_READ | PROT_WRITE) != 0)
        fail("the table of libpocl.so.2 cannot be changed", 77);
    real = table->clBuildProgram;
    table->clBuildProgram = build_alone;
}
