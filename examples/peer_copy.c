/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between two devices of one process, whatever their contexts and vendors; or two contexts of a lone device. */
#include "example.h"

int main(int argc, char** argv) {
    struct example with = example_begin(&argc, &argv);
    struct example target = with;
    const size_t size = 3000000;
    unsigned char* contents = malloc(size);
    cl_device_id devices[64];
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    cl_command_queue source_queue;
    cl_command_queue target_queue;
    cl_mem source_buffer;
    cl_mem target_buffer;
    cl_event copied;
    cl_int code = CL_SUCCESS;
    int good = 1;

    /* The last device that is not the first one. */
    EXAMPLE_CHECK(clGetPlatformIDs(16, platforms, &platform_count));
    for (cl_uint platform = 0; platform < platform_count && platform < 16; ++platform) {
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 64, devices, &count) != CL_SUCCESS) continue;
        for (cl_uint at = 0; at < count && at < 64; ++at)
            if (devices[at] != with.device) target.device = devices[at];
    }
    target.context = clCreateContext(NULL, 1, &target.device, NULL, NULL, &code);
    EXAMPLE_CHECK(code);

    if (!contents) example_abort();
    for (size_t at = 0; at < size; ++at) contents[at] = (unsigned char)(at * 17 + at / 999);
    source_queue = example_queue(&with);
    target_queue = example_queue(&target);
    source_buffer = example_buffer(&with, size, contents);
    target_buffer = example_buffer(&target, size + 100, NULL);

    EXAMPLE_CHECK(clEnqueuePeerCopyBuffer(source_queue, source_buffer, target_queue, target_buffer, CL_FALSE, 0, 100,
                                          size, 0, NULL, &copied));
    memset(contents, 0, size);
    EXAMPLE_CHECK(clEnqueueReadBuffer(target_queue, target_buffer, CL_TRUE, 100, size, contents, 1, &copied, NULL));
    for (size_t at = 0; good && at < size; ++at) good = contents[at] == (unsigned char)(at * 17 + at / 999);

    clReleaseEvent(copied);
    clReleaseMemObject(source_buffer);
    clReleaseMemObject(target_buffer);
    clReleaseCommandQueue(source_queue);
    clReleaseCommandQueue(target_queue);
    clReleaseContext(target.context);
    free(contents);
    return example_end(&with, "peer copy", good);
}
