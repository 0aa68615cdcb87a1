// SPDX-License-Identifier: Apache-2.0
// Ends with work in flight, in the way its argument says: ending_program <scenario> <device> <file>.
#include "plain_program.hpp"

#include <causeway/causeway.h>
#include <causeway/trace.h>

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <string_view>
#include <thread>

using namespace programs;

namespace {

std::atomic<bool> driver_is_gone{false};

} // namespace

/// In place of the driver's, which may have shut down when a process ends: then it never answers.
__attribute__((visibility("default"))) cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name,
                                                                      size_t size, void* value, size_t* size_ret) {
    while (driver_is_gone) pause();
    static auto* const driver = reinterpret_cast<decltype(&clGetEventProfilingInfo)>(
        dlsym(RTLD_NEXT, "clGetEventProfilingInfo"));
    return driver(event, name, size, value, size_ret);
}

namespace {

const program* at_work = nullptr; // for exit handlers, which take no argument

/// Whether every call is refused at once, without an event and without effect.
void call_after_the_end() {
    cl_event event = nullptr;
    const cl_int codes[] = {clEnqueueReadBufferToFile(at_work->queue, at_work->buffer, CL_TRUE, 0, size / 2,
                                                      at_work->fd, 0, 0, nullptr, &event),
                            clEnqueueWriteBufferFromFile(at_work->queue, at_work->buffer, CL_FALSE, 0, size,
                                                         at_work->fd, 0, 0, nullptr, &event),
                            clEnqueueReadBufferToStdioFile(at_work->queue, at_work->buffer, CL_TRUE, 0, size,
                                                           at_work->file, 0, nullptr, &event),
                            clEnqueuePeerCopyBuffer(at_work->queue, at_work->buffer, at_work->queue, at_work->buffer,
                                                    CL_TRUE, 0, size / 2, size / 2, 0, nullptr, &event)};
    for (const cl_int code : codes) {
        if (code != CL_INVALID_OPERATION) {
            give_up("a call after the end", code);
        }
    }
    if (event != nullptr || std::string_view(causeway_error_last_message()).empty()) {
        give_up("a refused call", 0);
    }
}

void write_in_exit_handler() {
    check(clEnqueueReadBufferToFile(at_work->queue, at_work->buffer, CL_TRUE, 0, size / 2, at_work->fd, 0, 0, nullptr,
                                    nullptr),
          "a blocking clEnqueueReadBufferToFile");
    check(clEnqueueReadBufferToFile(at_work->queue, at_work->buffer, CL_FALSE, size / 2, size / 2, at_work->fd,
                                    size / 2, 0, nullptr, nullptr),
          "clEnqueueReadBufferToFile");
}

/// Handlers run last in, first out: one that is registered before the first transfer runs after the library's. `work`
/// must live as long: end by exit(), not by return.
void at_exit(const program& work, void (*handler)()) {
    at_work = &work;
    if (std::atexit(handler) != 0) {
        give_up("atexit", -1);
    }
}

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
    if (scenario == "blocking_exit") {
        const cl_event never = work.never_set();
        std::atomic<bool> begun{false};
        std::thread([&] {
            begun = true;
            clEnqueueReadBufferToFile(work.queue, work.buffer, CL_TRUE, 0, size, work.fd, 0, 1, &never, nullptr);
            pause();
        }).detach();
        while (!begun) {
            std::this_thread::yield();
        }
        std::exit(7);
    }
    if (scenario == "calls_after_the_end") {
        at_exit(work, call_after_the_end);
        work.write_file();
        std::exit(7);
    }
    if (scenario == "first_call_in_exit_handler") {
        at_exit(work, write_in_exit_handler);
        std::exit(7);
    }
    if (scenario == "driver_gone_exit") {
        work.write_file();
        cl_event last = nullptr;
        const unsigned char value = 0;
        const cl_event held = work.never_set();
        check(clEnqueueFillBuffer(work.queue, work.buffer, &value, 1, 0, size, 1, &held, &last), "clEnqueueFillBuffer");
        if (causeway_trace_command(last, "the last", 0, nullptr) != 1) {
            give_up("causeway_trace_command", 0);
        }
        clSetUserEventStatus(held, CL_COMPLETE);
        check(clFinish(work.queue), "clFinish");
        driver_is_gone = true;
        std::exit(7);
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
