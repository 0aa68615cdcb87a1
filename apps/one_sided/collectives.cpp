// SPDX-License-Identifier: Apache-2.0
// All-to-all and the sum over all PEs as commands, beside all-to-all by transfers between ranks, and both by hand: to
// the host, by MPI, and back.
#include "pe.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace one_sided {

namespace {

float element(int pe, std::size_t i) { return static_cast<float>(pe + 1) + static_cast<float>(i % 1021); }

struct heap_part {
    float* address;
    cl_mem buffer;
    std::size_t offset;
};

heap_part make_part(const pe& here, std::size_t count) {
    heap_part made{here.allocate<float>(count), nullptr, 0};
    cl_int code = CL_SUCCESS;
    made.buffer = causeway_symmetric_buffer(made.address, &made.offset, &code);
    check(code, "causeway_symmetric_buffer");
    return made;
}

} // namespace

bool collectives(const pe& here, int rounds) {
    const auto all = static_cast<std::size_t>(here.all);
    // As many for each PE, and at most 64 MiB.
    const auto each = std::min(here.heap_bytes / 4, std::size_t{64} << 20) / sizeof(float) / all;
    const auto count = each * all, bytes = count * sizeof(float);
    const auto source = make_part(here, count), target = make_part(here, count);
    std::vector<float> mine(count), seen(count);
    for (std::size_t i = 0; i < count; ++i) mine[i] = element(here.own, i);
    check(clEnqueueWriteBuffer(here.queue, source.buffer, CL_TRUE, source.offset, bytes, mine.data(), 0, nullptr,
                               nullptr),
          "clEnqueueWriteBuffer");

    const auto all_to_all = [&] {
        check(clEnqueueSymmetricAllToAll(here.queue, CL_TRUE, target.address, source.address, each * sizeof(float), 0,
                                         nullptr, nullptr),
              "clEnqueueSymmetricAllToAll");
    };
    const auto sum = [&] {
        check(clEnqueueSymmetricReduce(here.queue, CL_TRUE, target.address, source.address, count, CL_ELEMENT_FLOAT,
                                       CL_REDUCE_SUM, 0, nullptr, nullptr),
              "clEnqueueSymmetricReduce");
    };
    // A send waits for its receive, which so must not wait behind another send.
    cl_int code = CL_SUCCESS;
    cl_command_queue receiving = clCreateCommandQueue(here.context, here.device, 0, &code);
    check(code, "clCreateCommandQueue");
    const auto all_to_all_by_transfers = [&] {
        const auto part = each * sizeof(float);
        for (std::size_t i = 1; i <= all; ++i) {
            const auto to = (static_cast<std::size_t>(here.own) + i) % all,
                       from = (static_cast<std::size_t>(here.own) + all - i) % all;
            check(clEnqueueSendBuffer(here.queue, source.buffer, CL_FALSE, source.offset + to * part, part,
                                      static_cast<int>(to), 3, MPI_COMM_WORLD, 0, nullptr, nullptr),
                  "clEnqueueSendBuffer");
            check(clEnqueueRecvBuffer(receiving, target.buffer, CL_FALSE, target.offset + from * part, part,
                                      static_cast<int>(from), 3, MPI_COMM_WORLD, 0, nullptr, nullptr),
                  "clEnqueueRecvBuffer");
        }
        check(clFinish(receiving), "clFinish");
        check(clFinish(here.queue), "clFinish");
    };
    const auto by_hand = [&](auto exchange) {
        check(clEnqueueReadBuffer(here.queue, source.buffer, CL_TRUE, source.offset, bytes, mine.data(), 0, nullptr,
                                  nullptr),
              "clEnqueueReadBuffer");
        exchange();
        check(clEnqueueWriteBuffer(here.queue, target.buffer, CL_TRUE, target.offset, bytes, seen.data(), 0, nullptr,
                                   nullptr),
              "clEnqueueWriteBuffer");
    };
    const auto all_to_all_by_hand = [&] {
        by_hand([&] {
            MPI_Alltoall(mine.data(), static_cast<int>(each), MPI_FLOAT, seen.data(), static_cast<int>(each), MPI_FLOAT,
                         MPI_COMM_WORLD);
        });
    };
    const auto sum_by_hand = [&] {
        by_hand([&] {
            MPI_Allreduce(mine.data(), seen.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        });
    };

    const auto exchanged = [&](std::size_t i) {
        return element(static_cast<int>(i / each), static_cast<std::size_t>(here.own) * each + i % each);
    };
    const auto summed = [&](std::size_t i) {
        float of_all = 0;
        for (int from = 0; from < here.all; ++from) of_all += element(from, i); // whole numbers: exact in any order
        return of_all;
    };
    bool right = true;
    const auto in_turn = [&](const char* what, const auto& action, const auto& expected, std::vector<double>& seconds,
                             bool counts) {
        check(causeway_symmetric_barrier(), "causeway_symmetric_barrier");
        const auto took = timed([&] {
            action();
            check(causeway_symmetric_barrier(), "causeway_symmetric_barrier");
        });
        if (counts) seconds.push_back(took);
        check(clEnqueueReadBuffer(here.queue, target.buffer, CL_TRUE, target.offset, bytes, seen.data(), 0, nullptr,
                                  nullptr),
              "clEnqueueReadBuffer");
        std::size_t wrong = 0, first = count, last = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (seen[i] == expected(i)) continue;
            first = wrong++ == 0 ? i : first;
            last = i;
        }
        if (wrong > 0) {
            std::printf("PE %d, %s: %zu of %zu elements are wrong, from element %zu (%g instead of %g) to %zu\n",
                        here.own, what, wrong, count, first, static_cast<double>(seen[first]),
                        static_cast<double>(expected(first)), last);
            right = false;
        }
        std::ranges::fill(seen, -1.0F);
        check(clEnqueueWriteBuffer(here.queue, target.buffer, CL_TRUE, target.offset, bytes, seen.data(), 0, nullptr,
                                   nullptr),
              "clEnqueueWriteBuffer");
    };
    std::vector<double> seconds[5];
    for (int round = 0; round < rounds + 1; ++round) { // the first one warms up
        in_turn("all-to-all", all_to_all, exchanged, seconds[0], round > 0);
        in_turn("all-to-all by hand", all_to_all_by_hand, exchanged, seconds[1], round > 0);
        in_turn("all-to-all by transfers", all_to_all_by_transfers, exchanged, seconds[4], round > 0);
        in_turn("sum", sum, summed, seconds[2], round > 0);
        in_turn("sum by hand", sum_by_hand, summed, seconds[3], round > 0);
    }
    if (here.own == 0) {
        // What each PE sends at least: its other parts once; for sums, twice.
        const auto sent = static_cast<double>(bytes) * static_cast<double>(here.all - 1) / here.all;
        const auto tell = [&](const char* what, double moved, std::vector<double>& ours, std::vector<double>& hand) {
            const double own = median(ours), other = median(hand);
            std::printf("%s of %.1f MiB for each of %d PEs: %.3f ms, %.1f GB/s from each; by hand %.3f ms: %.1f x\n",
                        what, static_cast<double>(bytes) / (1 << 20), here.all, own * 1e3, moved / own * 1e-9,
                        other * 1e3, other / own);
        };
        tell("all-to-all", sent, seconds[0], seconds[1]);
        std::printf("all-to-all by transfers between ranks: %.3f ms\n", median(seconds[4]) * 1e3);
        tell("sum", 2 * sent, seconds[2], seconds[3]);
    }
    clReleaseCommandQueue(receiving);
    check(causeway_symmetric_free(target.address), "free");
    check(causeway_symmetric_free(source.address), "free");
    return right;
}

} // namespace one_sided
