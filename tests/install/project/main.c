/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a small file into a device buffer with an installed Causeway and compares the bytes. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>
#include <causeway/graph.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS) {
        fprintf(stderr, "%s: %d %s\n", what, code, causeway_error_last_message());
        exit(1);
    }
}

int main(void) {
    const char text[] = "islands of memory, and one road between them";
    char back[sizeof text] = {0};
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem buffer;
    cl_event filled;
    cl_int code;
    causeway_graph* graph = NULL;
    FILE* file = tmpfile();

    if (!file || fwrite(text, 1, sizeof text, file) != sizeof text) {
        perror("temporary file");
        return 1;
    }
    rewind(file);

    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &code);
    check(code, "clCreateCommandQueue");
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof text, NULL, &code);
    check(code, "clCreateBuffer");

    check(clEnqueueWriteBufferFromStdioFile(queue, buffer, CL_FALSE, 0, sizeof text, file, 0, NULL, &filled),
          "clEnqueueWriteBufferFromStdioFile");
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof text, back, 1, &filled, NULL), "clEnqueueReadBuffer");
    if (memcmp(text, back, sizeof text) != 0) {
        fprintf(stderr, "the device holds other bytes than the file\n");
        return 1;
    }

    check(causeway_graph_create(context, device, &graph), "causeway_graph_create");
    causeway_graph_release(graph);
    check(clReleaseEvent(filled), "clReleaseEvent");
    check(clReleaseMemObject(buffer), "clReleaseMemObject");
    check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    check(clReleaseContext(context), "clReleaseContext");
    fclose(file);
    printf("causeway %s: %lu bytes from file to device\n", causeway_version(), (unsigned long)sizeof text);
    return 0;
}
