// SPDX-License-Identifier: Apache-2.0
// What transfers cost those that have nothing to do with them: the processor's time while all that there is waits, a
// kernel that keeps all processors busy beside that, and how long a small transfer takes among many large ones that
// share too little memory.
#include "common/opencl.hpp"
#include "common/statistics.hpp"

#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr auto idle_time = std::chrono::seconds(5);
constexpr std::size_t transfers = 64, small_bytes = 4096, large_bytes = 1500000;
constexpr int rounds = 9;

void set_option(const char* name, const char* value) {
    if (causeway_option_set(name, value) != CL_SUCCESS) throw std::runtime_error(causeway_error_last_message());
}

double processor_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Of the engine's own thread; the rest is the drivers'.
double engine_seconds() {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(task.path() / "comm"), name);
        if (name != "causeway-engine") continue;
        double nanoseconds = 0;
        std::ifstream(task.path() / "schedstat") >> nanoseconds;
        return 1e-9 * nanoseconds;
    }
    return 0;
}

void print_share(const char* what) {
    const double before = processor_seconds(), engine_before = engine_seconds();
    std::this_thread::sleep_for(idle_time);
    const double per_cent = 100 / std::chrono::duration<double>(idle_time).count();
    const double all = processor_seconds() - before, engine = engine_seconds() - engine_before;
    std::printf("%-44s %6.2f %% of a core, of which the engine's thread %.2f\n", what, per_cent * all,
                per_cent * engine);
    std::fflush(stdout);
}

/// A file of large_bytes without a name.
class scratch_file {
  public:
    scratch_file() {
        std::string name = "/tmp/engine-cost-XXXXXX";
        m_number = mkstemp(name.data());
        if (m_number < 0) throw std::runtime_error("cannot make a file in /tmp");
        unlink(name.c_str());
        const std::vector<char> bytes(large_bytes, 'c');
        if (write(m_number, bytes.data(), bytes.size()) != ssize_t(bytes.size()))
            throw std::runtime_error("cannot write a file in /tmp");
    }
    ~scratch_file() { close(m_number); }
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;
    [[nodiscard]] int number() const { return m_number; }

  private:
    int m_number;
};

struct bench_device {
    explicit bench_device(cl_device_id chosen)
        : device(chosen), context(apps::create_context(chosen)),
          in_order(apps::create_in_order_queue(context.get(), chosen)),
          queue(apps::create_out_of_order_queue(context.get(), in_order.get())) {}
    cl_device_id device;
    apps::context context;
    apps::queue in_order, queue;
};

apps::event user_event(const bench_device& where) {
    cl_int code = CL_SUCCESS;
    apps::event made(clCreateUserEvent(where.context.get(), &code));
    apps::check(code, "clCreateUserEvent");
    return made;
}

apps::event read_file(const bench_device& where, cl_mem buffer, std::size_t bytes, const scratch_file& file,
                      cl_event after) {
    cl_event read = nullptr;
    apps::check(clEnqueueWriteBufferFromFile(where.queue.get(), buffer, CL_FALSE, 0, bytes, file.number(), 0,
                                             after != nullptr ? 1 : 0, after != nullptr ? &after : nullptr, &read),
                "clEnqueueWriteBufferFromFile");
    return apps::event(read);
}

void print_idle_shares(const bench_device& where) {
    const auto buffer = apps::create_buffer(where.context.get(), large_bytes);
    const scratch_file file;
    print_share("before any transfer, what the driver takes");
    apps::wait_for({read_file(where, buffer.get(), large_bytes, file, nullptr).get()}, "a transfer");
    print_share("nothing in flight, after a transfer");

    const auto gate = user_event(where);
    const auto gated = read_file(where, buffer.get(), large_bytes, file, gate.get());
    print_share("a transfer that waits for an event");
    apps::check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
    apps::wait_for({gated.get()}, "a transfer");

    cl_event received = nullptr;
    apps::check(clEnqueueRecvBuffer(where.queue.get(), buffer.get(), CL_FALSE, 0, small_bytes, 0, 1, MPI_COMM_SELF, 0,
                                    nullptr, &received),
                "clEnqueueRecvBuffer");
    const apps::event receive(received);
    print_share("a receive that waits for its message");
    apps::check(clEnqueueSendBuffer(where.queue.get(), buffer.get(), CL_TRUE, 0, small_bytes, 0, 1, MPI_COMM_SELF, 0,
                                    nullptr, nullptr),
                "clEnqueueSendBuffer");
    apps::wait_for({receive.get()}, "a receive");
}

/// A kernel that only computes, in as many work-groups as keep all processors busy, for some 50 ms.
class busy_kernel {
  public:
    explicit busy_kernel(const bench_device& where)
        : m_where(where), m_result(apps::create_buffer(where.context.get(), items * sizeof(float))),
          m_program(apps::build_program(where.context.get(), where.device, source, "")),
          m_kernel(apps::create_kernel(m_program.get(), "compute")) {
        // The first run compiles.
        for (const int times : {m_times, m_times, m_times}) {
            const double took = seconds();
            m_times = std::max(1, int(times * 0.05 / took));
        }
    }
    double seconds() {
        apps::set_arguments(m_kernel.get(), m_result.get(), m_times);
        const auto begun = std::chrono::steady_clock::now();
        apps::check(clEnqueueNDRangeKernel(m_where.in_order.get(), m_kernel.get(), 1, nullptr, &items, &group, 0,
                                           nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
        apps::check(clFinish(m_where.in_order.get()), "clFinish");
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    }

  private:
    static constexpr std::size_t items = 1 << 14, group = 64;
    static constexpr const char* source = "kernel void compute(global float* result, int times) {"
                                          "    float x = get_global_id(0);"
                                          "    for (int i = 0; i < times; ++i) x = x * 0.999f + 1.0f;"
                                          "    result[get_global_id(0)] = x;"
                                          "}";
    const bench_device& m_where;
    apps::buffer m_result;
    apps::program m_program;
    apps::kernel m_kernel;
    cl_int m_times = 10000;
};

/// Rounds in turn: the kernel alone, beside a transfer that waits for an event, beside a receive that waits for its
/// message.
void print_slowdowns(const bench_device& where) {
    constexpr int kernels = 25;
    const auto buffer = apps::create_buffer(where.context.get(), large_bytes);
    const scratch_file file;
    busy_kernel kernel(where);
    std::vector<double> alone, gated, received;
    for (int i = 0; i < kernels; ++i) {
        alone.push_back(kernel.seconds());
        const auto gate = user_event(where);
        const auto transfer = read_file(where, buffer.get(), large_bytes, file, gate.get());
        gated.push_back(kernel.seconds());
        apps::check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
        apps::wait_for({transfer.get()}, "a transfer");
        cl_event made = nullptr;
        apps::check(clEnqueueRecvBuffer(where.queue.get(), buffer.get(), CL_FALSE, 0, small_bytes, 0, 1, MPI_COMM_SELF,
                                        0, nullptr, &made),
                    "clEnqueueRecvBuffer");
        const apps::event receive(made);
        received.push_back(kernel.seconds());
        apps::check(clEnqueueSendBuffer(where.queue.get(), buffer.get(), CL_TRUE, 0, small_bytes, 0, 1, MPI_COMM_SELF,
                                        0, nullptr, nullptr),
                    "clEnqueueSendBuffer");
        apps::wait_for({receive.get()}, "a receive");
    }
    std::printf("a kernel on all processors, alone            %8.2f ms\n"
                "beside a transfer that waits for an event      %+6.2f %%\n"
                "beside a receive that waits for its message    %+6.2f %%\n",
                1e3 * apps::quartiles_of(alone).median, 100 * (apps::median_ratio(gated, alone) - 1),
                100 * (apps::median_ratio(received, alone) - 1));
}

cl_ulong ended_at(const apps::event& transfer) {
    cl_ulong time = 0;
    apps::check(clGetTransferInfo(transfer.get(), CL_TRANSFER_TIME_ENDED, sizeof time, &time, nullptr),
                "clGetTransferInfo");
    return time;
}

struct sized_buffer {
    apps::buffer buffer;
    std::size_t bytes;
};

/// One small buffer behind large ones of random sizes.
std::vector<sized_buffer> make_buffers(const bench_device& where) {
    std::mt19937 random(20240101);
    std::vector<sized_buffer> made;
    const auto add = [&](std::size_t bytes) {
        made.push_back({apps::create_buffer(where.context.get(), bytes), bytes});
    };
    for (std::size_t i = 1; i < transfers; ++i) add(large_bytes / 10 + random() % (large_bytes / 10 * 9));
    add(small_bytes);
    return made;
}

/// Microseconds until the small transfer is over, from the moment when it and those to the buffers before it may start.
double small_one_of(const bench_device& where, std::span<const sized_buffer> buffers) {
    const scratch_file file;
    const auto gate = user_event(where);
    std::vector<apps::event> all;
    for (const auto& each : buffers) all.push_back(read_file(where, each.buffer.get(), each.bytes, file, gate.get()));
    const auto begun = std::chrono::steady_clock::now().time_since_epoch();
    apps::check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
    for (const auto& each : all) apps::wait_for({each.get()}, "a transfer");
    return 1e-3 * (double(ended_at(all.back())) - double(std::chrono::nanoseconds(begun).count()));
}

void print_fairness(const bench_device& where) {
    set_option("strategy", "pipelined");
    set_option("staging", "256K");
    const auto buffers = make_buffers(where);
    std::vector<double> alone, among;
    for (int i = 0; i <= rounds; ++i) {
        const double one = small_one_of(where, std::span(buffers).last(1)), other = small_one_of(where, buffers);
        if (i == 0) continue; // to warm up
        alone.push_back(one);
        among.push_back(other);
    }
    const double one = apps::quartiles_of(alone).median, other = apps::quartiles_of(among).median;
    std::printf("%zu bytes from a file, alone                   %8.0f us\n"
                "the last of %zu transfers, 256 KiB of staging %8.0f us, %.1f x\n",
                small_bytes, one, transfers, other, other / one);
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::string platform = argc > 1 ? argv[1] : "";
        if (platform == "--help") {
            std::puts("usage: engine_cost [PLATFORM]");
            return 2;
        }
        int level = MPI_THREAD_SINGLE;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
        {
            const bench_device where(apps::devices_of(platform).front());
            std::printf("%s\n", apps::device_name(where.device).c_str());
            print_idle_shares(where);
            print_slowdowns(where);
            print_fairness(where);
        }
        causeway_mpi_finalize();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "engine_cost: %s\n", error.what());
        return 2;
    }
}
