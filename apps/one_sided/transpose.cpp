// SPDX-License-Identifier: Apache-2.0
// Transposes a matrix that is spread over all PEs by rows: tiles go by boxed puts and a barrier, or by all-to-all,
// beside transfers between ranks, and by hand: to the host, by MPI, and back.
#include "pe.hpp"

#include <cstdio>
#include <cstring>

namespace one_sided {

bool transpose(const pe& here, int rounds) {
    const auto all = static_cast<std::size_t>(here.all), own = static_cast<std::size_t>(here.own);
    const std::size_t rows = 256, width = rows * all, tile = rows * rows * 8, row_bytes = width * 8;
    std::vector<std::uint64_t> matrix(rows * width);
    for (std::size_t y = 0; y < rows; ++y)
        for (std::size_t x = 0; x < width; ++x) matrix[y * width + x] = (own * rows + y) * width + x;
    cl_mem source = here.make_buffer(matrix.size() * 8, matrix.data()),
           received = here.make_buffer(matrix.size() * 8, matrix.data());
    // Tile i comes from PE i.
    auto* const tiles = here.allocate<std::uint64_t>(rows * width);
    const auto verify = [&](const std::vector<std::uint64_t>& got) {
        for (std::size_t i = 0; i < all; ++i)
            for (std::size_t y = 0; y < rows; ++y)
                for (std::size_t x = 0; x < rows; ++x)
                    if (got[(i * rows + y) * rows + x] != (i * rows + y) * width + own * rows + x) return false;
        return true;
    };
    // A send waits for its receive, which so must not wait behind another send.
    cl_int code = CL_SUCCESS;
    cl_command_queue receiving = clCreateCommandQueue(here.context, here.device, 0, &code);
    check(code, "clCreateCommandQueue");
    bool right = true;
    std::vector<std::uint64_t> got(matrix.size());
    const std::size_t region[3] = {rows * 8, rows, 1}, zero[3] = {0, 0, 0};
    std::vector<std::uint64_t> packed(matrix.size());
    std::vector<double> seconds[3];
    for (int round = 0; round < rounds; ++round) {
        check(causeway_symmetric_barrier(), "barrier");
        seconds[0].push_back(timed([&] {
            for (std::size_t i = 1; i <= all; ++i) {
                const auto pe = (own + i) % all;
                const std::size_t origin[3] = {pe * rows * 8, 0, 0};
                check(clEnqueuePutRect(here.queue, source, CL_FALSE, origin, zero, region, row_bytes, 0, rows * 8, 0,
                                       tiles + own * rows * rows, static_cast<int>(pe), 0, nullptr, nullptr),
                      "put");
            }
            check(clEnqueueSymmetricBarrier(here.queue, CL_TRUE, 0, nullptr, nullptr), "barrier");
        }));
        check(causeway_symmetric_get(got.data(), tiles, got.size() * 8, here.own), "get");
        right = right && verify(got);

        MPI_Barrier(MPI_COMM_WORLD);
        seconds[1].push_back(timed([&] {
            std::vector<cl_event> ends;
            for (std::size_t i = 1; i <= all; ++i) {
                const auto to = (own + i) % all, from = (own + all - i) % all;
                const std::size_t origin[3] = {to * rows * 8, 0, 0};
                cl_event sent = nullptr;
                check(clEnqueueSendBufferRect(here.queue, source, CL_FALSE, origin, region, row_bytes, 0,
                                              static_cast<int>(to), 2, MPI_COMM_WORLD, 0, nullptr, &sent),
                      "send");
                ends.push_back(sent);
                check(clEnqueueRecvBuffer(receiving, received, CL_TRUE, from * tile, tile, static_cast<int>(from), 2,
                                          MPI_COMM_WORLD, 0, nullptr, nullptr),
                      "receive");
            }
            check(clWaitForEvents(static_cast<cl_uint>(ends.size()), ends.data()), "clWaitForEvents");
            for (auto* each : ends) clReleaseEvent(each);
        }));
        const auto read = [&](cl_mem from, std::vector<std::uint64_t>& to) {
            check(clEnqueueReadBuffer(here.queue, from, CL_TRUE, 0, to.size() * 8, to.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
        };
        read(received, got);
        right = right && verify(got);

        MPI_Barrier(MPI_COMM_WORLD);
        seconds[2].push_back(timed([&] {
            read(source, matrix);
            for (std::size_t pe = 0; pe < all; ++pe)
                for (std::size_t y = 0; y < rows; ++y)
                    std::memcpy(&packed[(pe * rows + y) * rows], &matrix[y * width + pe * rows], rows * 8);
            MPI_Alltoall(packed.data(), static_cast<int>(rows * rows), MPI_UINT64_T, got.data(),
                         static_cast<int>(rows * rows), MPI_UINT64_T, MPI_COMM_WORLD);
            check(
                clEnqueueWriteBuffer(here.queue, received, CL_TRUE, 0, got.size() * 8, got.data(), 0, nullptr, nullptr),
                "clEnqueueWriteBuffer");
        }));
        read(received, got);
        right = right && verify(got);
    }
    if (here.own == 0)
        std::printf("tiles of a %zu x %zu matrix: %.2f ms by puts and a barrier, %.2f ms by transfers between ranks, "
                    "%.2f ms by hand\n",
                    width, width, median(seconds[0]) * 1e3, median(seconds[1]) * 1e3, median(seconds[2]) * 1e3);
    clReleaseCommandQueue(receiving);
    clReleaseMemObject(source);
    clReleaseMemObject(received);
    return right;
}

} // namespace one_sided
