// SPDX-License-Identifier: Apache-2.0
// Two ranks: one sends thousands of small messages before the other receives any, which then takes them in order, in
// reverse and by chance; beside MPI_Send and MPI_Recv of the same messages in the same orders.
#include "common/end_job.hpp"
#include "common/opencl.hpp"
#include "common/statistics.hpp"

#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int rounds = 3;
constexpr std::size_t bytes = 64;

void check(cl_int code) {
    if (code != CL_SUCCESS) throw std::runtime_error(causeway_error_last_message());
}

/// The same on both ranks: `order[i]` is the tag of the receive i.
class exchange {
  public:
    exchange(cl_device_id device, int count, std::vector<int> order, MPI_Comm comm)
        : m_context(apps::create_context(device)), m_queue(apps::create_in_order_queue(m_context.get(), device)),
          m_buffer(apps::create_buffer(m_context.get(), bytes)), m_memory(bytes), m_count(count),
          m_order(std::move(order)), m_comm(comm) {
        MPI_Comm_rank(comm, &m_rank);
        const cl_uchar first = 7;
        check(clEnqueueFillBuffer(m_queue.get(), m_buffer.get(), &first, 1, 0, bytes, 0, nullptr, nullptr));
        check(clFinish(m_queue.get()));
    }

    /// Seconds that the receives took, on rank 0.
    double by_library() {
        if (m_rank == 1) {
            for (int tag = 0; tag < m_count; ++tag)
                check(clEnqueueSendBuffer(m_queue.get(), m_buffer.get(), CL_FALSE, 0, bytes, 0, tag, m_comm, 0, nullptr,
                                          nullptr));
            check(clFinish(m_queue.get()));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const auto begin = std::chrono::steady_clock::now();
        if (m_rank == 0)
            for (const int tag : m_order)
                check(clEnqueueRecvBuffer(m_queue.get(), m_buffer.get(), CL_TRUE, 0, bytes, 1, tag, m_comm, 0, nullptr,
                                          nullptr));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    double by_mpi() {
        if (m_rank == 1)
            for (int tag = 0; tag < m_count; ++tag) MPI_Send(m_memory.data(), int(bytes), MPI_BYTE, 0, tag, m_comm);
        MPI_Barrier(MPI_COMM_WORLD);
        const auto begin = std::chrono::steady_clock::now();
        if (m_rank == 0)
            for (const int tag : m_order)
                MPI_Recv(m_memory.data(), int(bytes), MPI_BYTE, 1, tag, m_comm, MPI_STATUS_IGNORE);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

  private:
    apps::context m_context;
    apps::queue m_queue;
    apps::buffer m_buffer;
    std::vector<char> m_memory;
    int m_count;
    std::vector<int> m_order;
    MPI_Comm m_comm;
    int m_rank = 0;
};

void measure(cl_device_id device, int count, const std::string& order, MPI_Comm comm, MPI_Comm plain, bool prints) {
    std::vector<int> tags(static_cast<std::size_t>(count));
    std::iota(tags.begin(), tags.end(), 0);
    if (order == "reverse") std::reverse(tags.begin(), tags.end());
    if (order == "random") std::shuffle(tags.begin(), tags.end(), std::mt19937(1));
    exchange ours(device, count, tags, comm), theirs(device, count, tags, plain);
    std::vector<double> own, mpi;
    for (int i = 0; i < rounds; ++i) {
        own.push_back(ours.by_library() / count * 1e6);
        MPI_Barrier(MPI_COMM_WORLD);
        mpi.push_back(theirs.by_mpi() / count * 1e6);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!prints) return;
    const auto one = apps::quartiles_of(own), other = apps::quartiles_of(mpi);
    std::printf("%8d %8s %8.2f (%.2f - %.2f) %8.2f (%.2f - %.2f)\n", count, order.c_str(), one.median, one.lower,
                one.upper, other.median, other.lower, other.upper);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        if (ranks != 2) throw std::runtime_error("takes two ranks: causeway run -n 2 unexpected_messages");
        const auto devices = apps::devices_of("");
        auto* const device = devices[std::size_t(rank) % devices.size()];
        MPI_Comm comm = MPI_COMM_NULL, plain = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &plain);
        if (rank == 0) {
            std::printf("unexpected messages of %zu bytes, %s, microseconds of a receive, median of %d (quartiles)\n",
                        bytes, apps::device_name(device).c_str(), rounds);
            std::printf("%8s %8s %8s %24s\n", "messages", "order", "causeway", "MPI_Recv");
        }
        std::vector<int> counts;
        for (int i = 1; i < argc; ++i) counts.push_back(std::stoi(argv[i]));
        if (counts.empty()) counts = {1000, 4000, 16000};
        for (const int count : counts)
            for (const char* const order : {"same", "reverse", "random"})
                measure(device, count, order, comm, plain, rank == 0);
        MPI_Comm_free(&plain);
        MPI_Comm_free(&comm);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "unexpected_messages: %s\n", error.what());
        apps::end_job(1);
    }
    MPI_Finalize();
}
