// SPDX-License-Identifier: Apache-2.0
// A program of several PEs that ends MPI before its symmetric heap: what it calls then is refused, with the cause.
#include "device.hpp"

#include <causeway/symmetric.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

#include <unistd.h>

namespace {

using namespace system_test;

bool good = true;

void expect_refused(const char* name, cl_int code) {
    const std::string said = code == CL_SUCCESS ? "" : causeway_error_last_message();
    const bool is_refused = code == CL_INVALID_OPERATION && said.find("MPI_Finalize") != std::string::npos;
    if (!is_refused) std::printf("FAILED: %s: %d, %s\n", name, code, said.c_str());
    good = good && is_refused;
}

void expect_null(const char* name, const void* made) {
    expect_refused(name, made == nullptr ? CL_INVALID_OPERATION : CL_SUCCESS);
}

void expect_end(const char* name, const event& of, cl_int expected) {
    const auto status = wait(of.get(), std::chrono::seconds(10));
    if (status != expected) std::printf("FAILED: %s: %d\n", name, status);
    good = good && status == expected;
}

void expect_end_in_mpi(const char* name, const event& of) {
    const auto status = wait(of.get(), std::chrono::seconds(10));
    const bool is_ended = status == CL_TRANSFER_CANCELLED || status == CL_TRANSFER_PEER_FAILED;
    if (!is_ended) std::printf("FAILED: %s: %d\n", name, status);
    good = good && is_ended;
}

} // namespace

int main(int argc, char** argv) {
    alarm(60);
    int provided = MPI_THREAD_SINGLE, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const rank_device own(rank);
    const queue on = own.make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    check(causeway_symmetric_init(own.context(), own.device(), MPI_COMM_WORLD, std::size_t{16} << 20),
          causeway_error_last_message());
    constexpr std::size_t size = 16384, large = std::size_t{4} << 20;
    const auto pes = static_cast<std::size_t>(causeway_symmetric_pes());
    const int next = (rank + 1) % causeway_symmetric_pes();
    auto* const data = static_cast<unsigned char*>(causeway_symmetric_malloc(size * pes));
    auto* const other = static_cast<unsigned char*>(causeway_symmetric_malloc(size * pes));
    auto* const word = static_cast<std::uint64_t*>(causeway_symmetric_calloc(1, 8));
    auto* const moved = static_cast<unsigned char*>(causeway_symmetric_malloc(large));
    const buffer bytes_here = own.make_buffer(bytes(size, 1));
    bytes memory(size);
    const event gate = own.make_user_event();
    cl_event closed = gate.get();
    event gated_put, gated_barrier;
    check(clEnqueuePut(on.get(), bytes_here.get(), CL_FALSE, 0, size, data, next, 1, &closed, gated_put.out()), "put");
    check(clEnqueueSymmetricBarrier(on.get(), CL_FALSE, 1, &closed, gated_barrier.out()), "barrier");
    // Some are still under way when MPI ends, and others wait for what nobody does.
    const buffer source = own.make_buffer(large, 1), target = own.make_buffer(large, 2);
    event all_moved[48], open_wait;
    for (std::size_t i = 0; i < std::size(all_moved); ++i) {
        const auto moves = i % 2 == 0 ? large : size;
        check(
            i % 4 < 2
                ? clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, moves, moved, next, 0, nullptr, all_moved[i].out())
                : clEnqueueGet(on.get(), target.get(), CL_FALSE, 0, moves, moved, next, 0, nullptr, all_moved[i].out()),
            "traffic");
    }
    check(clEnqueueSignalWait(on.get(), CL_FALSE, word, CL_COMPARE_EQ, 7, 0, nullptr, open_wait.out()), "wait");

    MPI_Finalize();

    expect_end("gated put", gated_put, CL_TRANSFER_CANCELLED);
    expect_end("gated barrier", gated_barrier, CL_TRANSFER_CANCELLED);
    // If the other PEs' MPI has ended before, that ends them.
    expect_end_in_mpi("open wait", open_wait);
    for (const auto& each : all_moved)
        if (wait(each.get(), std::chrono::seconds(10)) != CL_COMPLETE) expect_end_in_mpi("traffic", each);

    for (const int pe : {next, rank}) {
        expect_refused("put", causeway_symmetric_put(data, memory.data(), size, pe));
        expect_refused("put of 8", causeway_symmetric_put(data, memory.data(), 8, pe));
        expect_refused("get", causeway_symmetric_get(memory.data(), data, size, pe));
        expect_refused("put with signal",
                       causeway_symmetric_put_signal(data, memory.data(), 8, word, 1, CL_SIGNAL_ADD, pe));
        expect_refused("signal", causeway_symmetric_signal(word, 1, CL_SIGNAL_ADD, pe));
        expect_refused("atomic", causeway_symmetric_atomic(CL_ATOMIC_INC, 8, word, 0, 0, pe, nullptr));
        expect_refused("clEnqueuePut",
                       clEnqueuePut(on.get(), bytes_here.get(), CL_TRUE, 0, size, data, pe, 0, nullptr, nullptr));
        expect_refused("clEnqueueGet",
                       clEnqueueGet(on.get(), bytes_here.get(), CL_TRUE, 0, size, data, pe, 0, nullptr, nullptr));
        expect_refused("clEnqueuePutSignal", clEnqueuePutSignal(on.get(), bytes_here.get(), CL_TRUE, 0, size, data,
                                                                word, 1, CL_SIGNAL_ADD, pe, 0, nullptr, nullptr));
        expect_refused("clEnqueueSignal",
                       clEnqueueSignal(on.get(), CL_TRUE, word, 1, CL_SIGNAL_ADD, pe, 0, nullptr, nullptr));
        expect_refused("clEnqueuePutStrided", clEnqueuePutStrided(on.get(), bytes_here.get(), CL_TRUE, 0, 8, data, 16,
                                                                  8, 10, pe, 0, nullptr, nullptr));
        expect_refused("clEnqueueGetStrided", clEnqueueGetStrided(on.get(), bytes_here.get(), CL_TRUE, 0, 8, data, 16,
                                                                  8, 10, pe, 0, nullptr, nullptr));
        constexpr std::size_t origin[] = {0, 0, 0}, region[] = {8, 4, 2};
        expect_refused("clEnqueuePutRect", clEnqueuePutRect(on.get(), bytes_here.get(), CL_TRUE, origin, origin, region,
                                                            16, 64, 16, 64, data, pe, 0, nullptr, nullptr));
        expect_refused("clEnqueueGetRect", clEnqueueGetRect(on.get(), bytes_here.get(), CL_TRUE, origin, origin, region,
                                                            16, 64, 16, 64, data, pe, 0, nullptr, nullptr));
        expect_refused("clEnqueueSymmetricAtomic", clEnqueueSymmetricAtomic(on.get(), CL_TRUE, CL_ATOMIC_INC, 8, word,
                                                                            0, 0, pe, nullptr, 0, 0, nullptr, nullptr));
    }
    expect_refused("wait", causeway_symmetric_wait(word, 8, CL_COMPARE_EQ, 7));
    expect_refused("clEnqueueSignalWait",
                   clEnqueueSignalWait(on.get(), CL_TRUE, word, CL_COMPARE_EQ, 7, 0, nullptr, nullptr));
    expect_refused("clEnqueueWordWait",
                   clEnqueueWordWait(on.get(), CL_TRUE, word, 4, CL_COMPARE_EQ, 7, 0, nullptr, nullptr));
    expect_refused("quiet", causeway_symmetric_quiet());
    expect_refused("clEnqueueFence", clEnqueueFence(on.get(), 0, nullptr, nullptr));
    expect_refused("clEnqueueQuiet", clEnqueueQuiet(on.get(), CL_TRUE, 0, nullptr, nullptr));
    expect_refused("barrier", causeway_symmetric_barrier());
    expect_refused("clEnqueueSymmetricBarrier", clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr));
    expect_refused("broadcast",
                   clEnqueueSymmetricBroadcast(on.get(), CL_TRUE, data, other, size, 0, 0, nullptr, nullptr));
    expect_refused("collect", clEnqueueSymmetricCollect(on.get(), CL_TRUE, data, other, size, 0, nullptr, nullptr));
    expect_refused("all-to-all", clEnqueueSymmetricAllToAll(on.get(), CL_TRUE, data, other, size, 0, nullptr, nullptr));
    expect_refused("reduction", clEnqueueSymmetricReduce(on.get(), CL_TRUE, data, other, size / 4, CL_ELEMENT_UINT,
                                                         CL_REDUCE_SUM, 0, nullptr, nullptr));
    expect_null("malloc", causeway_symmetric_malloc(64));
    expect_null("calloc", causeway_symmetric_calloc(8, 8));
    expect_null("align", causeway_symmetric_align(64, 64));
    expect_refused("free", causeway_symmetric_free(data));
    // What concerns this PE alone is still answered.
    good = good && causeway_symmetric_pe() == rank && causeway_symmetric_buffer(data, nullptr, nullptr) != nullptr;
    if (rank == 0) {
        expect_refused("finalize", causeway_symmetric_finalize());
    } else {
        good = good && causeway_symmetric_give_up() == CL_SUCCESS;
    }
    good = good && causeway_symmetric_pe() == -1 && causeway_symmetric_barrier() == CL_INVALID_OPERATION;
    std::printf("verdict: %s\n", good ? "passed" : "FAILED");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
