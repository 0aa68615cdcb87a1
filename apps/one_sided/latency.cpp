// SPDX-License-Identifier: Apache-2.0
// Put with signal and wait, to and fro between PEs 0 and 1, beside transfers between ranks, MPI and a plain memcpy. All
// buffers lie in memory that links reach. By events, all commands are enqueued before the first begins; by calls, each
// is enqueued when the one before is over, into an in-order queue; from host code, no queue takes part.
#include "pe.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace one_sided {

bool latency(const pe& here, int rounds) {
    if (here.all < 2) throw std::runtime_error("latency needs two PEs");
    bool right = true;
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, here.own < 2 ? 0 : 1, here.own, &both);
    for (const std::size_t bytes :
         {std::size_t{8}, std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{16} << 20}) {
        // As many at all sizes up to 1 MiB: each that is enqueued lengthens the engine's polls, and so the trips before
        // it.
        const int trips = bytes <= (std::size_t{1} << 20) ? 20 : 4;
        auto* const target = here.allocate<unsigned char>(bytes);
        auto* const signal = here.allocate<std::uint64_t>(1);
        std::vector<unsigned char> contents(bytes, static_cast<unsigned char>(here.own + 1)), host(bytes),
            other_host(bytes);
        cl_mem source = here.make_linked_buffer(bytes, contents.data()),
               received = here.make_linked_buffer(bytes, contents.data());
        const int peer = 1 - here.own;
        std::uint64_t puts = 0, waits = 0;
        cl_int code = CL_SUCCESS;
        cl_command_queue unordered = clCreateCommandQueue(here.context, here.device,
                                                          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
        check(code, "clCreateCommandQueue");
        const auto put = [&](cl_command_queue queue, cl_event after, cl_event* done) {
            check(clEnqueuePutSignal(queue, source, CL_FALSE, 0, bytes, target, signal, ++puts, CL_SIGNAL_SET, peer,
                                     after != nullptr ? 1 : 0, after != nullptr ? &after : nullptr, done),
                  "put");
        };
        const auto wait = [&](cl_command_queue queue, cl_bool blocking, cl_event* done) {
            check(clEnqueueSignalWait(queue, blocking, signal, CL_COMPARE_GE, ++waits, 0, nullptr, done), "wait");
        };
        const auto send = [&](cl_command_queue queue, cl_event after, cl_event* done) {
            check(clEnqueueSendBuffer(queue, source, CL_FALSE, 0, bytes, peer, 1, MPI_COMM_WORLD,
                                      after != nullptr ? 1 : 0, after != nullptr ? &after : nullptr, done),
                  "send");
        };
        const auto receive = [&](cl_command_queue queue, cl_bool blocking, cl_event* done) {
            check(clEnqueueRecvBuffer(queue, received, blocking, 0, bytes, peer, 1, MPI_COMM_WORLD, 0, nullptr, done),
                  "receive");
        };
        const auto by_events = [&](auto go, auto come) {
            const cl_event gate = clCreateUserEvent(here.context, &code);
            check(code, "clCreateUserEvent");
            std::vector<cl_event> all{gate};
            const auto add = [&] { return &all.emplace_back(nullptr); };
            for (int i = 0; i < trips; ++i) {
                const auto before = all.back();
                if (here.own == 0) {
                    go(unordered, before, nullptr);
                    come(unordered, CL_FALSE, add());
                } else {
                    come(unordered, CL_FALSE, add());
                    const auto come_now = all.back();
                    go(unordered, come_now, add());
                }
            }
            MPI_Barrier(both);
            const double taken = timed([&] {
                check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
                cl_int status = CL_QUEUED;
                for (;; std::this_thread::yield()) {
                    check(
                        clGetEventInfo(all.back(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                        "clGetEventInfo");
                    if (status <= CL_COMPLETE) break;
                }
                check(status, "the last command");
            });
            check(clFinish(unordered), "clFinish");
            for (auto* const each : all) clReleaseEvent(each);
            return taken;
        };
        const auto by_calls = [&](auto go, auto come) {
            return timed([&] {
                for (int i = 0; i < trips; ++i) {
                    if (here.own == 0) go(here.queue, nullptr, nullptr);
                    come(here.queue, CL_TRUE, nullptr);
                    if (here.own == 1) go(here.queue, nullptr, nullptr);
                }
                check(clFinish(here.queue), "clFinish");
            });
        };
        const auto by_host = [&] {
            const auto put_now = [&] {
                check(
                    causeway_symmetric_put_signal(target, contents.data(), bytes, signal, ++puts, CL_SIGNAL_SET, peer),
                    "causeway_symmetric_put_signal");
            };
            for (int i = 0; i < trips; ++i) {
                if (here.own == 0) put_now();
                check(causeway_symmetric_wait(signal, sizeof *signal, CL_COMPARE_GE, ++waits),
                      "causeway_symmetric_wait");
                if (here.own == 1) put_now();
            }
        };
        const auto by_mpi = [&] {
            for (int i = 0; i < trips; ++i) {
                const auto tell = [&] {
                    MPI_Send(contents.data(), static_cast<int>(bytes), MPI_BYTE, peer, 1, MPI_COMM_WORLD);
                };
                if (here.own == 0) tell();
                MPI_Recv(host.data(), static_cast<int>(bytes), MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (here.own == 1) tell();
            }
        };
        const auto by_memcpy = [&] {
            for (int i = 0; i < trips; ++i) {
                std::memcpy(other_host.data(), host.data(), bytes);
                std::memcpy(host.data(), other_host.data(), bytes);
            }
        };
        std::vector<double> seconds[7];
        for (int round = 0; round < rounds + 1; ++round) {
            int way = 0;
            const auto run = [&](auto action) {
                MPI_Barrier(MPI_COMM_WORLD);
                double taken = 0;
                if (here.own < 2) taken = action() / (2 * trips);
                if (round > 0) seconds[way].push_back(taken); // the first one warms up
                ++way;
            };
            run([&] { return by_events(put, wait); });
            run([&] { return by_events(send, receive); });
            run([&] { return by_calls(put, wait); });
            run([&] { return by_calls(send, receive); });
            run([&] { return timed(by_mpi); });
            run([&] { return timed(by_memcpy); });
            run([&] { return timed(by_host); });
        }
        if (here.own < 2) {
            std::vector<unsigned char> seen(bytes);
            check(causeway_symmetric_get(seen.data(), target, bytes, here.own), "get");
            right = right && seen == std::vector<unsigned char>(bytes, static_cast<unsigned char>(peer + 1));
        }
        if (here.own == 0) {
            const double one_sided = median(seconds[0]), ranks = median(seconds[1]),
                         one_sided_calls = median(seconds[2]), rank_calls = median(seconds[3]);
            std::printf("%9zu B, one way, by events: put+signal+wait %9.2f us, send+receive %9.2f us (%.2f of it); by "
                        "calls %9.2f and %9.2f us (%.2f), from host code %9.2f us; MPI, host memory %9.2f us, memcpy "
                        "%9.2f us\n",
                        bytes, one_sided * 1e6, ranks * 1e6, one_sided / ranks, one_sided_calls * 1e6, rank_calls * 1e6,
                        one_sided_calls / rank_calls, median(seconds[6]) * 1e6, median(seconds[4]) * 1e6,
                        median(seconds[5]) * 1e6);
        }
        clReleaseCommandQueue(unordered);
        clReleaseMemObject(source);
        clReleaseMemObject(received);
        check(causeway_symmetric_free(signal), "free");
        check(causeway_symmetric_free(target), "free");
    }
    MPI_Comm_free(&both);
    return right;
}

} // namespace one_sided
