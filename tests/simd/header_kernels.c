// SPDX-License-Identifier: Apache-2.0
// causeway/simd.h in OpenCL kernels computes what plain loops do. Whole numbers: no device rounds them, fused or not.
// usage: header_kernels FOLDER (which has causeway/simd.h)
#include <CL/cl.h>

#include <stdio.h>
#include <string.h>

enum { most = 70, side = 4, elements = side * side };

static const char*
    source = "#include <causeway/simd.h>\n"
             "__kernel void short_loop(__global float* c, __global const float* a, __global const float* b, int n) {\n"
             "    CAUSEWAY_SHORT_LOOP(int, i, n, 16, c[i] = a[i] * b[i] + 1;);\n"
             "}\n"
             "__kernel void matrices(__global float* c, __global const float* a, __global const float* b) {\n"
             "    const causeway_mat4 x = causeway_mat4_load(a), y = causeway_mat4_load(b);\n"
             "    causeway_mat4 p, q;\n"
             "    causeway_mat4_store(causeway_mat4_multiply(x, y), c);\n"
             "    causeway_mat4_store(causeway_mat4_multiply_by_transpose(x, y), c + 16);\n"
             "    causeway_mat4_store(causeway_mat4_transpose(x), c + 32);\n"
             "    causeway_mat4_pair(x, y, &p, &q);\n"
             "    causeway_mat4_store(p, c + 48);\n"
             "    causeway_mat4_store(q, c + 64);\n"
             "    causeway_mat4_store(causeway_mat4_add_product(x, x, y), c + 80);\n"
             "    causeway_mat4_store(causeway_mat4_add_product_by_transpose(x, x, y), c + 96);\n"
             "}\n";
static const char* names[] = {"multiply",    "multiply_by_transpose",   "transpose", "pair, first", "pair, second",
                              "add_product", "add_product_by_transpose"};
enum { operations = sizeof names / sizeof *names };

static int failures;

static void check(const char* what, const float* expected, const float* got, size_t count) {
    if (memcmp(expected, got, sizeof(float) * count) != 0) {
        printf("%s differs\n", what);
        ++failures;
    }
}

/// sum + a b, of transposes where asked.
static void multiply(float* c, const float* sum, const float* a, const float* b, int a_transposed, int b_transposed) {
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            float s = sum ? sum[side * i + j] : 0;
            for (int k = 0; k < side; ++k)
                s += (a_transposed ? a[side * k + i] : a[side * i + k]) *
                     (b_transposed ? b[side * j + k] : b[side * k + j]);
            c[side * i + j] = s;
        }
}

static int failed(const char* what, cl_int status) {
    if (status == CL_SUCCESS) return 0;
    printf("%s: %d\n", what, status);
    return 1;
}

int main(int argc, char** argv) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    if (argc != 2) return 2;
    if (failed("clGetPlatformIDs", clGetPlatformIDs(1, &platform, NULL)) ||
        failed("clGetDeviceIDs", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (failed("clCreateContext", status)) return 1;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    if (failed("clCreateCommandQueue", status)) return 1;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    if (failed("clCreateProgramWithSource", status)) return 1;
    char options[1024];
    snprintf(options, sizeof options, "-I %s", argv[1]);
    status = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (status != CL_SUCCESS) {
        static char log[16384];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        printf("%s\n", log);
        return failed("clBuildProgram", status);
    }
    cl_kernel short_loop = clCreateKernel(program, "short_loop", &status);
    if (failed("clCreateKernel", status)) return 1;
    cl_kernel matrices = clCreateKernel(program, "matrices", &status);
    if (failed("clCreateKernel", status)) return 1;

    float a[most + 1], b[most + 1], expected[operations * elements], got[operations * elements];
    for (int i = 0; i <= most; ++i) {
        a[i] = (float)(i * 37 % 19 - 9);
        b[i] = (float)(i * 11 % 23 - 7);
    }
    cl_mem memory[3] = {
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof got, NULL, &status),
        clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof a, a, &status),
        clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof b, b, &status),
    };
    if (failed("clCreateBuffer", status)) return 1;
    for (cl_uint i = 0; i < 3; ++i) {
        clSetKernelArg(short_loop, i, sizeof memory[i], &memory[i]);
        clSetKernelArg(matrices, i, sizeof memory[i], &memory[i]);
    }
    const size_t one = 1;
    for (int n = -1; n <= most; ++n) {
        for (int i = 0; i <= most; ++i) expected[i] = got[i] = -1;
        for (int i = 0; i < n; ++i) expected[i] = a[i] * b[i] + 1;
        clSetKernelArg(short_loop, 3, sizeof n, &n);
        if (failed("clEnqueueWriteBuffer",
                   clEnqueueWriteBuffer(queue, memory[0], CL_TRUE, 0, sizeof got, got, 0, NULL, NULL)) ||
            failed("clEnqueueNDRangeKernel",
                   clEnqueueNDRangeKernel(queue, short_loop, 1, NULL, &one, &one, 0, NULL, NULL)) ||
            failed("clEnqueueReadBuffer",
                   clEnqueueReadBuffer(queue, memory[0], CL_TRUE, 0, sizeof got, got, 0, NULL, NULL)))
            return 1;
        check("CAUSEWAY_SHORT_LOOP", expected, got, most + 1);
    }
    multiply(expected, NULL, a, b, 0, 0);
    multiply(expected + elements, NULL, a, b, 0, 1);
    for (int i = 0; i < elements; ++i) expected[2 * elements + i] = a[i % side * side + i / side];
    multiply(expected + 3 * elements, NULL, a, b, 1, 0);
    multiply(expected + 4 * elements, NULL, b, a, 0, 0);
    multiply(expected + 5 * elements, a, a, b, 0, 0);
    multiply(expected + 6 * elements, a, a, b, 0, 1);
    if (failed("clEnqueueNDRangeKernel", clEnqueueNDRangeKernel(queue, matrices, 1, NULL, &one, &one, 0, NULL, NULL)) ||
        failed("clEnqueueReadBuffer",
               clEnqueueReadBuffer(queue, memory[0], CL_TRUE, 0, sizeof got, got, 0, NULL, NULL)))
        return 1;
    for (int o = 0; o < operations; ++o) check(names[o], expected + o * elements, got + o * elements, elements);

    for (int i = 0; i < 3; ++i) clReleaseMemObject(memory[i]);
    clReleaseKernel(short_loop);
    clReleaseKernel(matrices);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("%d differ\n", failures);
    return failures != 0;
}
