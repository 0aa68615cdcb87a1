// SPDX-License-Identifier: Apache-2.0
// Ends with work in flight, in the way its argument says: ending_program <scenario> <device> <file>.
#include <CL/cl_data_transfer.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t size = 64 << 20;

[[noreturn]] void give_up(const std::string& what, cl_int code) {
    std::fprintf(stderr, "ending_program: %s gave %d\n", what.c_str(), code);
    std::_Exit(99);
}

void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS) {
        give_up(what, code);
    }
}

/// The device with this index among those of all platforms, in the loader's order.
cl_device_id find_device(std::size_t index) {
    cl_uint platform_count = 0;
    clGetPlatformIDs(0, nullptr, &platform_count);
    std::vector<cl_platform_id> platforms(platform_count);
    clGetPlatformIDs(platform_count, platforms.data(), nullptr);
    std::vector<cl_device_id> all;
    for (cl_platform_id platform : platforms) {
        cl_uint count = 0;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) == CL_SUCCESS) {
            all.resize(all.size() + count);
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, all.data() + all.size() - count, nullptr);
        }
    }
    if (index >= all.size()) {
        give_up("finding the device", CL_DEVICE_NOT_FOUND);
    }
    return all[index];
}

/// The objects of a plain OpenCL program, which ends without much care for them.
struct program {
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_mem buffer = nullptr;
    int fd = -1;
    std::FILE* file = nullptr;

    program(cl_device_id device, const char* path) {
        cl_int code = CL_SUCCESS;
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        check(code, "clCreateContext");
        queue = clCreateCommandQueue(context, device, 0, &code);
        check(code, "clCreateCommandQueue");
        buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code);
        check(code, "clCreateBuffer");
        const unsigned char value = 0x5a;
        check(clEnqueueFillBuffer(queue, buffer, &value, 1, 0, size, 0, nullptr, nullptr), "clEnqueueFillBuffer");
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        file = std::fopen(path, "r+");
        if (fd < 0 || file == nullptr) {
            give_up("opening the file", -1);
        }
    }

    void write_file(const cl_event* wait = nullptr) const {
        check(clEnqueueReadBufferToFile(queue, buffer, CL_FALSE, 0, size, fd, 0, wait == nullptr ? 0 : 1, wait,
                                        nullptr),
              "clEnqueueReadBufferToFile");
    }

    void write_stream() const {
        check(clEnqueueReadBufferToStdioFile(queue, buffer, CL_FALSE, 0, size, file, 0, nullptr, nullptr),
              "clEnqueueReadBufferToStdioFile");
    }

    [[nodiscard]] cl_event never_set() const {
        cl_int code = CL_SUCCESS;
        const cl_event event = clCreateUserEvent(context, &code);
        check(code, "clCreateUserEvent");
        return event;
    }

    void release() const {
        clReleaseMemObject(buffer);
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: ending_program <scenario> <device> <file>\n", stderr);
        return 98;
    }
    const std::string_view scenario = argv[1];
    const program work(find_device(std::strtoul(argv[2], nullptr, 10)), argv[3]);

    if (scenario == "pending_exit") {
        const cl_event never = work.never_set();
        for (int i = 0; i < 20; ++i) {
            work.write_file(&never);
        }
        std::exit(7);
    }
    if (scenario == "pending_return") {
        const cl_event never = work.never_set();
        work.write_file(&never);
        return 7;
    }
    if (scenario == "running_exit") {
        work.write_file();
        std::exit(7);
    }
    if (scenario == "running_return") {
        work.write_file();
        return 7;
    }
    if (scenario == "running_stream_return") {
        work.write_stream();
        return 7;
    }
    if (scenario == "released_return") {
        work.write_file();
        work.release();
        return 7;
    }
    if (scenario == "released_pending_return") {
        const cl_event never = work.never_set();
        work.write_file(&never);
        work.release();
        return 7;
    }
    if (scenario == "exit_in_thread") {
        work.write_file();
        std::thread([] { std::exit(7); }).join();
    }
    if (scenario == "stuck_pipe_return") {
        // A worker sits in a read that never ends.
        int ends[2];
        if (pipe(ends) != 0) {
            give_up("pipe", -1);
        }
        check(clEnqueueWriteBufferFromStdioFile(work.queue, work.buffer, CL_FALSE, 0, size, fdopen(ends[0], "r"), 0,
                                                nullptr, nullptr),
              "clEnqueueWriteBufferFromStdioFile");
        return 7;
    }
    if (scenario == "nothing") {
        return 7;
    }
    std::fputs("ending_program: unknown scenario\n", stderr);
    return 97;
}
