/* SPDX-License-Identifier: Apache-2.0 */
/* For libraries that are preloaded before a test: the table of PoCL's functions, to be changed. */
#ifndef TESTS_SUPPORT_POCL_TABLE_H
#define TESTS_SUPPORT_POCL_TABLE_H

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void skip_for(const char* who, const char* why) {
    fprintf(stderr, "%s: skipped: %s\n", who, why);
    _exit(77);
}

/* Of `who`, for the user. Ends the process as skipped where that cannot be. */
static cl_icd_dispatch* table_of_pocl(const char* who) {
    void* const driver = dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) skip_for(who, "no libpocl.so.2");
    void* (*address)(const char*);
    *(void**)&address = dlsym(driver, "clGetExtensionFunctionAddress");
    cl_int (*platforms)(cl_uint, cl_platform_id*, cl_uint*) = NULL;
    if (address != NULL) *(void**)&platforms = address("clIcdGetPlatformIDsKHR");
    cl_platform_id platform = NULL;
    if (platforms == NULL || platforms(1, &platform, NULL) != CL_SUCCESS) skip_for(who, "libpocl.so.2 has no platform");
    /* All objects of PoCL share one table, which is constant. */
    cl_icd_dispatch* const table = *(cl_icd_dispatch**)platform;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)table & ~(page - 1);
    if (mprotect((void*)first, (uintptr_t)(table + 1) - first, PROT_READ | PROT_WRITE) != 0)
        skip_for(who, "the table of libpocl.so.2 cannot be changed");
    return table;
}

#endif
