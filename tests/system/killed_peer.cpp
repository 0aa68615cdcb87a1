// SPDX-License-Identifier: Apache-2.0
// A program for two ranks: rank 1 kills itself in the middle of large transfers; rank 0's events must fail in time.
#include "device.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace {

using namespace system_test;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t size = std::size_t{384} << 20;
constexpr std::chrono::seconds limit{5};

struct transfers {
    buffer outgoing;
    buffer incoming;
    event sent;
    event received;
};

transfers begin(const rank_device& own, cl_command_queue on, int rank) {
    transfers both;
    both.outgoing = own.make_buffer(pattern(rank, 1, size));
    both.incoming = own.make_buffer(size, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    check(clEnqueueRecvBuffer(on, both.incoming.get(), CL_FALSE, 0, size, 1 - rank, rank, MPI_COMM_WORLD, 0, nullptr,
                              both.received.out()),
          "clEnqueueRecvBuffer");
    check(clEnqueueSendBuffer(on, both.outgoing.get(), CL_FALSE, 0, size, 1 - rank, 1 - rank, MPI_COMM_WORLD, 0,
                              nullptr, both.sent.out()),
          "clEnqueueSendBuffer");
    return both;
}

bool running(const event& of) {
    return status_of(of.get()) > CL_COMPLETE && transfer_info<std::size_t>(of.get(), CL_TRANSFER_BYTES_MOVED) > 0;
}

/// Windows of devices are opened beside the first messages, which may take a while. Goes on until both ranks send by
/// them.
void open_windows(const rank_device& own, cl_command_queue on, int rank) {
    constexpr std::size_t enough = std::size_t{1} << 20;
    const buffer outgoing = own.make_buffer(enough, 0);
    const buffer incoming = own.make_buffer(enough, 0);
    for (int tries = 0, open = 0; open == 0 && tries < 200; ++tries) {
        event moved;
        check(clEnqueueSendrecvBuffer(on, outgoing.get(), incoming.get(), CL_TRUE, 0, enough, 1 - rank, 5, 0, enough,
                                      1 - rank, 5, MPI_COMM_WORLD, 0, nullptr, moved.out()),
              "clEnqueueSendrecvBuffer");
        open = transfer_text(moved.get(), CL_TRANSFER_STRATEGY) == "device-window" ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &open, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
}

[[noreturn]] void end(bool good) {
    std::printf("verdict: %s\n", good ? "passed" : "FAILED");
    std::fflush(stdout);
    // MPI cannot be finalised with a dead rank.
    _exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}

[[noreturn]] void die_in_the_middle(const transfers& both) {
    while (!running(both.sent) && !running(both.received)) std::this_thread::yield();
    raise(SIGKILL);
    std::abort();
}

} // namespace

int main(int argc, char** argv) {
    alarm(200); // a busy machine takes long to make the buffers
    int provided = MPI_THREAD_SINGLE;
    int rank = 0;
    int ranks = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) {
        std::puts("needs 2 ranks");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    // UCX, MPICH's transport, sees by itself that the other process is gone.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    causeway_option_set("block", "64K"); // so that the transfers take a while
    causeway_option_set("keep", "600000"); // windows stay open while a busy machine makes the large buffers
    const rank_device own(rank);
    const queue on = own.make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);

    const char* const forced = std::getenv("CAUSEWAY_STRATEGY");
    const std::string strategy = forced != nullptr ? forced : "";
    if (strategy == "device-window") open_windows(own, on.get(), rank);

    // Never matched: these fail whatever the large ones were at.
    const buffer small = own.make_buffer(1024, 0);
    event waiting_receive;
    event waiting_send;
    const buffer unwanted = own.make_buffer(1 << 20, 0);
    if (rank == 0) {
        check(clEnqueueRecvBuffer(on.get(), small.get(), CL_FALSE, 0, 1024, 1, 77, MPI_COMM_WORLD, 0, nullptr,
                                  waiting_receive.out()),
              "clEnqueueRecvBuffer");
        check(clEnqueueSendBuffer(on.get(), unwanted.get(), CL_FALSE, 0, 1 << 20, 1, 78, MPI_COMM_WORLD, 0, nullptr,
                                  waiting_send.out()),
              "clEnqueueSendBuffer");
    }
    const transfers both = begin(own, on.get(), rank);
    if (rank == 1) die_in_the_middle(both);

    // Rank 1 dies as soon as it sees a byte moved, which is about when rank 0 does.
    const auto first_byte_until = clock_type::now() + std::chrono::seconds(20);
    while (!running(both.sent) && !running(both.received) && status_of(both.sent.get()) > CL_COMPLETE &&
           clock_type::now() < first_byte_until)
        std::this_thread::yield();
    bool good = true;
    auto deadline = clock_type::now() + limit;
    const auto expect_failed = [&](const event& of, const char* name) {
        const cl_int status = wait(of.get(), deadline - clock_type::now());
        std::printf("%s: status %d, %zu bytes, %s\n", name, status,
                    transfer_info<std::size_t>(of.get(), CL_TRANSFER_BYTES_MOVED),
                    transfer_text(of.get(), CL_TRANSFER_ERROR_MESSAGE).c_str());
        good = good && status == CL_TRANSFER_PEER_FAILED;
    };
    expect_failed(both.sent, "send");
    expect_failed(both.received, "receive");
    expect_failed(waiting_send, "unmatched send");
    expect_failed(waiting_receive, "unmatched receive");

    if (!strategy.empty() && transfer_text(both.sent.get(), CL_TRANSFER_STRATEGY) != strategy) {
        std::printf("the send went by %s\n", transfer_text(both.sent.get(), CL_TRANSFER_STRATEGY).c_str());
        good = false;
    }

    // Small messages complete when MPI takes them, which it may for a while; once it does not, they fail.
    constexpr int small_count = 256;
    constexpr std::size_t small_size = 32 << 10;
    const buffer many = own.make_buffer(small_size, 1);
    std::vector<event> small_sends;
    for (int message = 0; message < small_count; ++message)
        check(clEnqueueSendBuffer(on.get(), many.get(), CL_FALSE, 0, small_size, 1, 100 + message, MPI_COMM_WORLD, 0,
                                  nullptr, small_sends.emplace_back().out()),
              "clEnqueueSendBuffer");
    deadline = clock_type::now() + limit;
    int taken = 0;
    for (const event& each : small_sends) {
        const cl_int status = wait(each.get(), deadline - clock_type::now());
        taken += status == CL_COMPLETE;
        good = good && (status == CL_COMPLETE || status == CL_TRANSFER_PEER_FAILED);
    }
    std::printf("small sends: %d of %d taken by MPI\n", taken, small_count);
    expect_failed(small_sends.back(), "last small send");

    // What was reported as moved is there, and the device is still of use.
    const auto moved = transfer_info<std::size_t>(both.received.get(), CL_TRANSFER_BYTES_MOVED);
    if (own.read(both.incoming.get(), 0, moved) != pattern(1, 1, moved)) {
        std::puts("the bytes reported as moved are not there");
        good = false;
    }
    const cl_int later = clEnqueueSendBuffer(on.get(), small.get(), CL_FALSE, 0, 8, MPI_PROC_NULL, 1, MPI_COMM_WORLD, 0,
                                             nullptr, nullptr);
    end(good && later == CL_SUCCESS);
}
