// SPDX-License-Identifier: Apache-2.0
// Put with signal and wait, to and fro between PEs 0 and 1, beside transfers between ranks, MPI and a plain memcpy. All
// buffers lie in memory that links reach. Out of order, only events are between a command and the next; in order, the
// queue is entered, too.
#include "pe.hpp"

#include <cstdio>
#include <cstring>
#include <string>

namespace one_sided {

bool latency(const pe& here, int rounds) {
    if (here.all < 2) throw std::runtime_error("latency needs two PEs");
    bool right = true;
    for (const std::size_t bytes :
         {std::size_t{8}, std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{16} << 20}) {
        const int trips = bytes <= 8 ? 50 : bytes <= (std::size_t{1} << 20) ? 10 : 2;
        auto* const target = here.allocate<unsigned char>(bytes);
        auto* const signal = here.allocate<std::uint64_t>(1);
        std::vector<unsigned char> contents(bytes, static_cast<unsigned char>(here.own + 1)), host(bytes),
            other_host(bytes);
        cl_mem source = here.make_linked_buffer(bytes, contents.data()),
               received = here.make_linked_buffer(bytes, contents.data());
        const int peer = 1 - here.own;
        std::uint64_t count = 0;
        cl_int code = CL_SUCCESS;
        cl_command_queue unordered = clCreateCommandQueue(here.context, here.device,
                                                          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
        check(code, "clCreateCommandQueue");
        const auto one_sided = [&](cl_command_queue queue) {
            for (int i = 0; i < trips; ++i) {
                ++count;
                const auto put = [&] {
                    check(clEnqueuePutSignal(queue, source, CL_FALSE, 0, bytes, target, signal, count, CL_SIGNAL_SET,
                                             peer, 0, nullptr, nullptr),
                          "put");
                };
                if (here.own == 0) put();
                check(clEnqueueSignalWait(queue, CL_TRUE, signal, CL_COMPARE_GE, count, 0, nullptr, nullptr), "wait");
                if (here.own == 1) put();
            }
            check(clFinish(queue), "clFinish");
        };
        const auto by_ranks = [&](cl_command_queue queue) {
            for (int i = 0; i < trips; ++i) {
                const auto send = [&] {
                    check(clEnqueueSendBuffer(queue, source, CL_FALSE, 0, bytes, peer, 1, MPI_COMM_WORLD, 0, nullptr,
                                              nullptr),
                          "send");
                };
                if (here.own == 0) send();
                check(clEnqueueRecvBuffer(queue, received, CL_TRUE, 0, bytes, peer, 1, MPI_COMM_WORLD, 0, nullptr,
                                          nullptr),
                      "receive");
                if (here.own == 1) send();
            }
            check(clFinish(queue), "clFinish");
        };
        const auto by_mpi = [&] {
            for (int i = 0; i < trips; ++i) {
                const auto send = [&] {
                    MPI_Send(contents.data(), static_cast<int>(bytes), MPI_BYTE, peer, 1, MPI_COMM_WORLD);
                };
                if (here.own == 0) send();
                MPI_Recv(host.data(), static_cast<int>(bytes), MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (here.own == 1) send();
            }
        };
        const auto by_memcpy = [&] {
            for (int i = 0; i < trips; ++i) {
                std::memcpy(other_host.data(), host.data(), bytes);
                std::memcpy(host.data(), other_host.data(), bytes);
            }
        };
        std::vector<double> seconds[6];
        for (int round = 0; round < rounds + 1; ++round) {
            int way = 0;
            const auto run = [&](auto action) {
                MPI_Barrier(MPI_COMM_WORLD);
                double taken = 0;
                if (here.own < 2) taken = timed(action) / (2 * trips);
                if (round > 0) seconds[way].push_back(taken); // the first one warms up
                ++way;
            };
            run([&] { one_sided(unordered); });
            run([&] { by_ranks(unordered); });
            run([&] { one_sided(here.queue); });
            run([&] { by_ranks(here.queue); });
            run(by_mpi);
            run(by_memcpy);
        }
        if (here.own < 2) {
            std::vector<unsigned char> seen(bytes);
            check(causeway_symmetric_get(seen.data(), target, bytes, here.own), "get");
            right = right && seen == std::vector<unsigned char>(bytes, static_cast<unsigned char>(peer + 1));
        }
        if (here.own == 0) {
            const double put = median(seconds[0]), rank = median(seconds[1]), put_in_order = median(seconds[2]),
                         rank_in_order = median(seconds[3]);
            std::printf("%9zu B, one way: put+signal+wait %9.2f us, send+receive %9.2f us (%.2f of it), in order %9.2f "
                        "and %9.2f us (%.2f), MPI, host memory %9.2f us, memcpy %9.2f us\n",
                        bytes, put * 1e6, rank * 1e6, put / rank, put_in_order * 1e6, rank_in_order * 1e6,
                        put_in_order / rank_in_order, median(seconds[4]) * 1e6, median(seconds[5]) * 1e6);
        }
        clReleaseCommandQueue(unordered);
        clReleaseMemObject(source);
        clReleaseMemObject(received);
        check(causeway_symmetric_free(signal), "free");
        check(causeway_symmetric_free(target), "free");
    }
    return right;
}

} // namespace one_sided
