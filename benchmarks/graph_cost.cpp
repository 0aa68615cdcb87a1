// SPDX-License-Identifier: Apache-2.0
// What a token of a stream graph costs the thread that executes it: in the library, and in the calls of OpenCL that it
// makes. The program stands before these calls with functions of its own.
#include "common/opencl.hpp"
#include "common/statistics.hpp"

#include <causeway/causeway.h>
#include <causeway/graph.hpp>

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

struct {
    bool counting = false;
    clock_type::duration working{}, waiting{}; ///< in calls that do something, and in those that wait
    std::size_t calls = 0;
} seen;

/// Calls the function that the library would have called, and adds its time to `sum`.
template <auto Own, class... Arguments> auto timed(const char* name, clock_type::duration& sum,
                                                   Arguments... arguments) {
    static const auto real = reinterpret_cast<decltype(Own)>(dlsym(RTLD_NEXT, name));
    if (!seen.counting) return real(arguments...);
    const auto begin = clock_type::now();
    const auto result = real(arguments...);
    sum += clock_type::now() - begin;
    ++seen.calls;
    return result;
}

constexpr const char* source = "kernel void next(global const uchar *in, global uchar *out)"
                               "{ size_t i = get_global_id(0); out[i] = in[i] + 1; }";
constexpr double limit_us = 5;

struct costs {
    double library_us, calls_us;
    double calls;
    std::size_t token;
};

constexpr std::size_t token = 256;

/// memory -> next -> next -> memory, `tokens` times. With a `stream_token` of 0 the library chooses the token size.
costs run(cl_context context, cl_device_id device, std::size_t tokens, std::size_t stream_token) {
    const auto queue = apps::create_in_order_queue(context, device);
    const apps::pinned_memory input(context, queue.get(), tokens * token), output(context, queue.get(), tokens * token);
    causeway::stream_graph graph(context, device);
    graph.add_input_stream("input", input.data(), tokens * token, stream_token);
    graph.add_output_stream("output", output.data(), tokens * token, stream_token);
    graph.use_page_locked("input");
    graph.use_page_locked("output");
    causeway_kernel code{};
    code.source = source;
    code.function = "next";
    code.item_size = 1;
    graph.add_kernel("first", code);
    graph.add_kernel("second", code);
    graph.connect("input", "first", token);
    graph.connect("first", "second", token);
    graph.connect("second", "output", token);
    graph.initialize();
    graph.execute();
    costs best{1e9, 1e9, 0, graph.token_size("input")};
    for (int round = 0; round < 9; ++round) {
        seen = {.counting = true};
        const auto begin = clock_type::now();
        graph.execute();
        const auto whole = clock_type::now() - begin;
        seen.counting = false;
        const auto us = [&](clock_type::duration time) {
            return std::chrono::duration<double, std::micro>(time).count() / double(tokens);
        };
        const double library = us(whole - seen.working - seen.waiting);
        if (library < best.library_us)
            best = {library, us(seen.working), double(seen.calls) / double(tokens), best.token};
    }
    return best;
}

} // namespace

// The calls of a graph's steady state.
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            const void* from, cl_uint count, const cl_event* list, cl_event* event) {
    return timed<&clEnqueueWriteBuffer>("clEnqueueWriteBuffer", seen.working, queue, buffer, blocking, offset, size,
                                        from, count, list, event);
}
cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           void* to, cl_uint count, const cl_event* list, cl_event* event) {
    return timed<&clEnqueueReadBuffer>("clEnqueueReadBuffer", seen.working, queue, buffer, blocking, offset, size, to,
                                       count, list, event);
}
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint count, const cl_event* list,
                              cl_event* event) {
    return timed<&clEnqueueNDRangeKernel>("clEnqueueNDRangeKernel", seen.working, queue, kernel, dimensions, offset,
                                          global, local, count, list, event);
}
cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t size, void* value, size_t* size_ret) {
    return timed<&clGetEventInfo>("clGetEventInfo", seen.working, event, name, size, value, size_ret);
}
cl_int clReleaseEvent(cl_event event) { return timed<&clReleaseEvent>("clReleaseEvent", seen.working, event); }
cl_int clFlush(cl_command_queue queue) { return timed<&clFlush>("clFlush", seen.working, queue); }
cl_int clFinish(cl_command_queue queue) { return timed<&clFinish>("clFinish", seen.waiting, queue); }
cl_int clWaitForEvents(cl_uint count, const cl_event* list) {
    return timed<&clWaitForEvents>("clWaitForEvents", seen.waiting, count, list);
}

int main(int argc, char** argv) {
    try {
        const std::string platform = argc > 1 ? argv[1] : "";
        const std::size_t tokens = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5000;
        if (platform == "--help" || tokens == 0) {
            std::puts("usage: graph_cost [PLATFORM [TOKENS]]");
            return 2;
        }
        const auto device = apps::devices_of(platform).front();
        const auto context = apps::create_context(device);
        std::printf("%s, %zu tokens through two kernels, best of 9 runs\n", apps::device_name(device).c_str(), tokens);
        for (const char* mode : {"plain", "overlap"}) {
            if (causeway_option_set("graph", mode) != CL_SUCCESS)
                throw std::runtime_error(causeway_error_last_message());
            for (const std::size_t stream_token : {token, std::size_t{0}}) {
                const auto found = run(context.get(), device, tokens, stream_token);
                std::printf("graph %-8s %6.2f us per %zu B in the library (%.0f %% of %.0f us), %6.2f us in %.2f calls "
                            "of OpenCL; tokens of %zu B%s\n",
                            mode, found.library_us, token, 100 * found.library_us / limit_us, limit_us, found.calls_us,
                            found.calls, found.token, stream_token == 0 ? ", chosen by the library" : "");
            }
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "graph_cost: %s\n", error.what());
        return 2;
    }
}
