/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test, it makes devices say that they have memory of their own, on a platform that nobody knows:
 * the library then does what it does on graphics cards. */
#include <CL/cl.h>
#include <dlfcn.h>
#include <string.h>

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value, size_t *size_ret)
{
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    const cl_int code = real(device, name, size, value, size_ret);
    if (code == CL_SUCCESS && value != NULL && name == CL_DEVICE_HOST_UNIFIED_MEMORY)
        memset(value, 0, sizeof(cl_bool));
    return code;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void *value, size_t *size_ret)
{
    cl_int (*real)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "clGetPlatformInfo");
    const cl_int code = real(platform, name, size, value, size_ret);
    if (code == CL_SUCCESS && value != NULL && name == CL_PLATFORM_NAME)
        strncpy(value, "another", size);
    return code;
}
