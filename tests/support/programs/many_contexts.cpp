// SPDX-License-Identifier: Apache-2.0
// Makes a transfer in each of many contexts, and looks how many of them the library keeps.
#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

void check(cl_int code, const char* what) {
    if (code == CL_SUCCESS) return;
    std::printf("%s gave %d\n", what, code);
    std::exit(EXIT_FAILURE);
}

bool is_kept(cl_context which) {
    cl_uint references = 0;
    check(clGetContextInfo(which, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, nullptr),
          "clGetContextInfo");
    return references > 1;
}

} // namespace

int main() {
    constexpr std::size_t size = 4096;
    constexpr std::ptrdiff_t most_kept = 66; // 64, and those whose ends are not seen yet
    check(causeway_option_set("keep", "3600000"), "causeway_option_set");
    std::FILE* const file = std::tmpfile();
    if (file == nullptr || ::ftruncate(fileno(file), size) != 0) return EXIT_FAILURE;
    cl_platform_id platform = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    cl_device_id device = nullptr;
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    std::vector<cl_context> all;
    for (int i = 0; i < 150; ++i) {
        cl_int code = CL_SUCCESS;
        all.push_back(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
        check(code, "clCreateContext");
        cl_command_queue queue = clCreateCommandQueue(all.back(), device, 0, &code);
        check(code, "clCreateCommandQueue");
        cl_mem buffer = clCreateBuffer(all.back(), CL_MEM_READ_WRITE, size, nullptr, &code);
        check(code, "clCreateBuffer");
        check(clEnqueueWriteBufferFromFile(queue, buffer, CL_TRUE, 0, size, fileno(file), 0, 0, nullptr, nullptr),
              "clEnqueueWriteBufferFromFile");
        check(clReleaseMemObject(buffer), "clReleaseMemObject");
        check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    }
    const auto kept = [&] { return std::count_if(all.begin(), all.end(), is_kept); };
    // The engine gives back in its own time.
    for (int i = 0; i < 1000 && kept() > most_kept; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::printf("%td of %zu contexts are kept\n", kept(), all.size());
    const bool good = kept() <= most_kept;
    for (auto* const each : all) clReleaseContext(each);
    std::fclose(file);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
