// SPDX-License-Identifier: Apache-2.0
// Two ranks exchange a halo in every step, between a kernel that makes it and one that uses it, all in an in-order
// queue: by hand, with ordinary buffers, and with buffers of causeway_buffer_create(). Beside them what a step takes in
// which nothing moves, and another thread only holds the queue and lets it go by standard events, as any library has
// to.
#include "common/end_job.hpp"
#include "common/linked_buffer.hpp"
#include "common/statistics.hpp"

#include <CL/cl_data_transfer.h>

#include <mpi.h>

#include <array>
#include <chrono>
#include <deque>
#include <cstdio>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int steps = 200, rounds = 7;

constexpr const char* kernels = R"(
kernel void make(global uint* halo, uint step, uint rank) {
    halo[get_global_id(0)] = (uint)get_global_id(0) * 7 + step * 3 + rank;
}
kernel void use(global const uint* halo, global uint* sum) { sum[get_global_id(0)] += halo[get_global_id(0)]; }
)";

/// Completes a user event as soon as another event is complete.
class releaser {
  public:
    explicit releaser(std::size_t most) : m_most(most), m_thread([this](const std::stop_token& stop) { run(stop); }) {}

    void release(apps::event held, apps::event seen) {
        for (;;) {
            const std::lock_guard lock(m_mutex);
            if (m_held.size() >= m_most) continue;
            m_held.emplace_back(std::move(held), std::move(seen));
            return;
        }
    }

  private:
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const std::lock_guard lock(m_mutex);
            if (m_held.empty()) continue;
            cl_int status = CL_QUEUED;
            (void)clGetEventInfo(m_held.front().second.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                 nullptr);
            if (status > CL_COMPLETE) continue;
            (void)clSetUserEventStatus(m_held.front().first.get(), CL_COMPLETE);
            m_held.pop_front();
        }
    }

    std::size_t m_most;
    std::mutex m_mutex; // guards m_held
    std::deque<std::pair<apps::event, apps::event>> m_held;
    std::jthread m_thread;
};

/// Of one size and kind of buffer. Both ranks call the same functions in the same order.
class exchange {
  public:
    exchange(cl_device_id device, std::size_t bytes, bool linked, int ahead)
        : m_bytes(bytes), m_ahead(std::size_t(ahead)), m_context(apps::create_context(device)),
          m_queue(apps::create_in_order_queue(m_context.get(), device)),
          m_sum(apps::create_buffer(m_context.get(), bytes)), m_sent(m_context.get(), m_queue.get(), bytes),
          m_received(m_context.get(), m_queue.get(), bytes),
          m_program(apps::build_program(m_context.get(), device, kernels, "")),
          m_make(apps::create_kernel(m_program.get(), "make")), m_use(apps::create_kernel(m_program.get(), "use")) {
        MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
        for (auto& each : m_halos)
            each = linked ? apps::create_linked_buffer(m_context.get(), device, bytes)
                          : apps::create_buffer(m_context.get(), bytes);
        const auto sum = m_sum.get(), in = m_halos[1].get();
        apps::set_arguments(m_use.get(), in, sum);
    }

    /// Microseconds of a step, of the slower rank; checks what has arrived.
    double run(void (exchange::*move)()) {
        clear();
        MPI_Barrier(MPI_COMM_WORLD);
        const auto begin = std::chrono::steady_clock::now();
        for (cl_uint step = 0; step < steps; ++step) {
            const auto out = m_halos[0].get();
            apps::set_arguments(m_make.get(), out, step, cl_uint(m_rank));
            launch(m_make.get());
            (this->*move)();
            launch(m_use.get());
        }
        apps::check(clFinish(m_queue.get()), "clFinish");
        m_under_way.clear();
        const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - begin;
        double took = all.count() / steps;
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (move != &exchange::nothing && move != &exchange::hold) verify();
        return took;
    }

    void nothing() {}

    void hold() {
        cl_int code = CL_SUCCESS;
        apps::event held(clCreateUserEvent(m_context.get(), &code));
        apps::check(code, "clCreateUserEvent");
        cl_event before = nullptr;
        apps::check(clEnqueueBarrierWithWaitList(m_queue.get(), 0, nullptr, &before), "clEnqueueBarrierWithWaitList");
        apps::event seen(before);
        const cl_event behind = held.get();
        apps::check(clEnqueueBarrierWithWaitList(m_queue.get(), 1, &behind, nullptr), "clEnqueueBarrierWithWaitList");
        apps::check(clFlush(m_queue.get()), "clFlush");
        m_releaser.release(std::move(held), std::move(seen));
    }

    void by_hand() {
        const auto out = m_halos[0].get(), in = m_halos[1].get();
        apps::check(clEnqueueReadBuffer(m_queue.get(), out, CL_TRUE, 0, m_bytes, m_sent.data(), 0, nullptr, nullptr),
                    "clEnqueueReadBuffer");
        MPI_Sendrecv(m_sent.data(), int(m_bytes), MPI_BYTE, 1 - m_rank, 0, m_received.data(), int(m_bytes), MPI_BYTE,
                     1 - m_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        // The next step's message comes after a blocking read behind this.
        const auto code = clEnqueueWriteBuffer(m_queue.get(), in, CL_FALSE, 0, m_bytes, m_received.data(), 0, nullptr,
                                               nullptr);
        apps::check(code, "clEnqueueWriteBuffer");
    }

    void by_command() {
        const int peer = 1 - m_rank;
        cl_event moved = nullptr;
        const auto code = clEnqueueSendrecvBuffer(m_queue.get(), m_halos[0].get(), m_halos[1].get(), CL_FALSE, 0,
                                                  m_bytes, peer, 0, 0, m_bytes, peer, 0, MPI_COMM_WORLD, 0, nullptr,
                                                  &moved);
        apps::check(code, "clEnqueueSendrecvBuffer");
        m_under_way.emplace_back(moved);
        if (m_under_way.size() <= m_ahead) return;
        apps::wait_for({m_under_way.front().get()}, "exchanging a halo");
        m_under_way.pop_front();
    }

  private:
    void launch(cl_kernel kernel) {
        const std::size_t items = m_bytes / sizeof(cl_uint);
        apps::check(clEnqueueNDRangeKernel(m_queue.get(), kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
    }

    void clear() {
        const cl_uint zero = 0;
        const auto code = clEnqueueFillBuffer(m_queue.get(), m_sum.get(), &zero, sizeof zero, 0, m_bytes, 0, nullptr,
                                              nullptr);
        apps::check(code, "clEnqueueFillBuffer");
        apps::check(clFinish(m_queue.get()), "clFinish");
    }

    void verify() {
        std::vector<cl_uint> sums(m_bytes / sizeof(cl_uint));
        const auto sum = m_sum.get();
        apps::check(clEnqueueReadBuffer(m_queue.get(), sum, CL_TRUE, 0, m_bytes, sums.data(), 0, nullptr, nullptr),
                    "clEnqueueReadBuffer");
        const cl_uint of_steps = 3 * (steps * (steps - 1) / 2) + steps * cl_uint(1 - m_rank);
        for (cl_uint i = 0; i < sums.size(); ++i)
            if (sums[i] != i * 7 * steps + of_steps)
                throw std::runtime_error("wrong sum at " + std::to_string(i) + ", halo of " + std::to_string(m_bytes));
    }

    int m_rank = 0;
    std::size_t m_bytes, m_ahead;
    releaser m_releaser{m_ahead};
    std::deque<apps::event> m_under_way;
    apps::context m_context;
    apps::queue m_queue;
    std::array<apps::buffer, 2> m_halos; // out, in
    apps::buffer m_sum;
    apps::pinned_memory m_sent, m_received;
    apps::program m_program;
    apps::kernel m_make, m_use;
};

void measure(cl_device_id device, std::size_t bytes, int ahead, bool tells) {
    exchange ordinary(device, bytes, false, ahead), linked(device, bytes, true, ahead);
    const std::array<std::function<double()>, 5> ways = {
        [&] { return linked.run(&exchange::nothing); }, [&] { return linked.run(&exchange::hold); },
        [&] { return ordinary.run(&exchange::by_hand); }, [&] { return ordinary.run(&exchange::by_command); },
        [&] { return linked.run(&exchange::by_command); }};
    std::array<std::vector<double>, ways.size()> times;
    for (const auto& way : ways) (void)way();
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < ways.size(); ++i) times[i].push_back(ways[i]());
    std::array<double, ways.size()> medians{};
    for (std::size_t i = 0; i < ways.size(); ++i) medians[i] = apps::quartiles_of(times[i]).median;
    const auto [kernels_alone, held, hand, by_command, by_link] = medians;
    if (tells)
        std::printf("%6zu KiB %10.1f %10.1f %10.1f %10.1f %10.1f %10.2f %10.2f\n", bytes >> 10, kernels_alone, held,
                    hand, by_command, by_link, hand / by_command, hand / by_link);
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        if (ranks != 2) throw std::runtime_error("takes two ranks: causeway run -n 2 halo");
        const int ahead = argc > 1 ? std::stoi(argv[1]) : 4;
        const auto devices = apps::devices_of("");
        const auto device = devices[std::size_t(rank) % devices.size()];
        if (rank == 0) {
            std::printf("halo, %s, %d steps, enqueued %d ahead, median of %d, microseconds of a step\n",
                        apps::device_name(device).c_str(), steps, ahead, rounds);
            std::printf("%10s %10s %10s %10s %10s %10s %10s %10s\n", "halo", "kernels", "held", "by hand", "ordinary",
                        "linked", "hand/ord.", "hand/link.");
        }
        std::vector<std::size_t> sizes = {64, 128, 256, 512, 1024, 2048, 4096};
        if (argc > 2) sizes.clear();
        for (int i = 2; i < argc; ++i) sizes.push_back(std::stoul(argv[i]));
        for (const auto kib : sizes) measure(device, kib << 10, ahead, rank == 0);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "halo: %s\n", error.what());
        apps::end_job(1);
    }
    MPI_Finalize();
}
