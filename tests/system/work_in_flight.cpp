// SPDX-License-Identifier: Apache-2.0
// A program for any ranks: ends with work in flight. Argument: drain or pending, alone, behind "exit-" (the process
// ends) or behind "plain-" (the caller of MPI_Finalize does not include our header) or "ended-" (the same after
// causeway_mpi_end_transfers); or finalize-at-exit; or unanswered.
#include "device.hpp"

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace {

using namespace system_test;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t size = 24 << 20;
constexpr int messages = 4;
constexpr std::chrono::milliseconds drain{700};
constexpr std::chrono::seconds slack{8};

int rank = 0;
int failures = 0;

void expect(bool holds, const std::string& what) {
    if (holds) return;
    std::printf("[rank %d] FAILED: %s\n", rank, what.c_str());
    ++failures;
}

struct work {
    std::vector<buffer> outgoing;
    std::vector<buffer> incoming;
    std::vector<event> sent;
    std::vector<event> received;
};

/// Messages both ways between neighbours, all of which can arrive.
work begin_exchange(const rank_device& own, cl_command_queue on, int to, int from) {
    work all;
    for (int message = 0; message < messages; ++message) {
        all.outgoing.push_back(own.make_buffer(pattern(rank, message, size)));
        all.incoming.push_back(own.make_buffer(size, 0));
        check(clEnqueueRecvBuffer(on, all.incoming.back().get(), CL_FALSE, 0, size, from, message, MPI_COMM_WORLD, 0,
                                  nullptr, all.received.emplace_back().out()),
              "clEnqueueRecvBuffer");
        check(clEnqueueSendBuffer(on, all.outgoing.back().get(), CL_FALSE, 0, size, to, message, MPI_COMM_WORLD, 0,
                                  nullptr, all.sent.emplace_back().out()),
              "clEnqueueSendBuffer");
    }
    return all;
}

/// Receives that no send matches, a send that no receive matches, and both behind an event that nobody sets.
work begin_hopeless(const rank_device& own, cl_command_queue on, int to, int from, const event& gate) {
    work all;
    const cl_event list = gate.get();
    for (const cl_uint gated : {0u, 1u}) {
        const int tag = 900 + 10 * static_cast<int>(gated);
        all.outgoing.push_back(own.make_buffer(size, 3));
        all.incoming.push_back(own.make_buffer(size, 7));
        check(clEnqueueRecvBuffer(on, all.incoming.back().get(), CL_FALSE, 0, size, from, tag, MPI_COMM_WORLD, gated,
                                  gated ? &list : nullptr, all.received.emplace_back().out()),
              "clEnqueueRecvBuffer");
        check(clEnqueueSendBuffer(on, all.outgoing.back().get(), CL_FALSE, 0, size, to, tag + 1, MPI_COMM_WORLD, gated,
                                  gated ? &list : nullptr, all.sent.emplace_back().out()),
              "clEnqueueSendBuffer");
    }
    return all;
}

void expect_arrived(const rank_device& own, const work& all, int from) {
    for (std::size_t at = 0; at < all.received.size(); ++at) {
        const cl_int received = status_of(all.received[at].get());
        const cl_int sent = status_of(all.sent[at].get());
        expect(received == CL_COMPLETE, "a receive is complete, status " + std::to_string(received));
        expect(sent == CL_COMPLETE, "a send is complete, status " + std::to_string(sent));
        expect(own.read(all.incoming[at].get(), 0, size) == pattern(from, static_cast<int>(at), size),
               "its bytes are there");
    }
}

void report(const std::string& mode, clock_type::duration took) {
    std::printf("[rank %d] work_in_flight %s: %s after %.2f s\n", rank, mode.c_str(), failures ? "FAILED" : "passed",
                std::chrono::duration<double>(took).count());
}

/// A send to a rank that knows the library, receives nothing, and ends.
void expect_one_drain(const rank_device& own, cl_command_queue on, int to, int from) {
    constexpr std::chrono::seconds longer_drain{3};
    expect(causeway_option_set("drain", "3000") == 0, "the option drain exists");
    const work before = begin_exchange(own, on, to, from);
    check(clFinish(on), "clFinish");
    const buffer outgoing = own.make_buffer(size, 3);
    event sent;
    if (rank == 0)
        check(
            clEnqueueSendBuffer(on, outgoing.get(), CL_FALSE, 0, size, to, 900, MPI_COMM_WORLD, 0, nullptr, sent.out()),
            "clEnqueueSendBuffer");
    const auto begin = clock_type::now();
    MPI_Finalize();
    const auto took = clock_type::now() - begin;
    expect(took < 2 * longer_drain - std::chrono::milliseconds(500), "MPI_Finalize waits for the time of one drain");
    if (rank == 0) {
        expect(took >= longer_drain, "MPI_Finalize waits for the send");
        expect(status_of(sent.get()) < 0, "the send has failed");
    }
    report("unanswered", took);
}

/// What an exit handler needs, which takes no argument.
struct {
    const rank_device* own;
    const work* all;
    cl_command_queue on;
    int from;
} at_work;

/// Runs after the library's own handler, which was registered later.
void finalize_at_exit() {
    event none;
    expect(clEnqueueRecvBuffer(at_work.on, at_work.all->incoming[0].get(), CL_TRUE, 0, size, at_work.from, 1,
                               MPI_COMM_WORLD, 0, nullptr, none.out()) == CL_INVALID_OPERATION,
           "a receive after the end is refused");
    const auto begin = clock_type::now();
    MPI_Finalize();
    const auto took = clock_type::now() - begin;
    expect(took < std::chrono::seconds(3), "MPI_Finalize waits for nothing");
    expect_arrived(*at_work.own, *at_work.all, at_work.from);
    report("finalize-at-exit", took);
    std::fflush(stdout);
    std::_Exit(failures ? EXIT_FAILURE : EXIT_SUCCESS);
}

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "drain";
    const bool ended = mode.starts_with("ended-");
    const bool plain = mode.starts_with("plain-") || ended;
#ifdef MPICH_VERSION
    if (plain && !ended) {
        std::puts("skipped: MPICH gives up its locks in MPI_Finalize before a library hears of it");
        return 77;
    }
#endif
    alarm(90); // a hang is a failure
    int provided = MPI_THREAD_SINGLE;
    int ranks = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int right = (rank + 1) % ranks;
    const int left = (rank + ranks - 1) % ranks;
    const bool hopeless = mode.ends_with("pending");
    if (hopeless)
        expect(causeway_option_set("drain", std::to_string(drain.count()).c_str()) == 0, "the option drain exists");

    const rank_device own(rank);
    const queue on = own.make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (mode == "unanswered") {
        expect_one_drain(own, on.get(), right, left);
        return failures ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    const event gate = own.make_user_event();
    if (mode == "finalize-at-exit") std::atexit(finalize_at_exit);
    work all = hopeless ? begin_hopeless(own, on.get(), right, left, gate) : begin_exchange(own, on.get(), right, left);
    at_work = {&own, &all, on.get(), left};
    if (mode == "finalize-at-exit") std::exit(EXIT_SUCCESS); // the handler judges
    if (mode.starts_with("exit-"))
        std::exit(failures ? EXIT_FAILURE : EXIT_SUCCESS); // the launcher or `alarm` judges the rest

    const auto begin = clock_type::now();
    for (int call = 0; ended && call < 2; ++call) causeway_mpi_end_transfers();
    // In brackets it is not the header's macro.
    plain ? (MPI_Finalize)() : MPI_Finalize();
    const auto took = clock_type::now() - begin;

    if (!hopeless) expect_arrived(own, all, left);
    for (std::size_t at = 0; hopeless && at < all.received.size(); ++at) {
        const cl_int received = status_of(all.received[at].get());
        const cl_int sent = status_of(all.sent[at].get());
        expect(received < 0, "a receive without a send has failed, status " + std::to_string(received));
        expect(sent < 0, "a send without a receive has failed, status " + std::to_string(sent));
        expect(own.read(all.incoming[at].get(), 0, size) == bytes(size, 7), "its buffer is untouched");
    }
    if (hopeless) {
        expect(took >= drain / 2, "MPI_Finalize waited for the work");
        expect(took < drain + slack, "MPI_Finalize gave up in time");
    }
    report(mode, took);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
