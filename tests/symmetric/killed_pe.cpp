// SPDX-License-Identifier: Apache-2.0
// A program of several PEs: the last one kills itself; what the others wait for must end in time, with the PE and the
// cause.
#include "device.hpp"

#include <causeway/symmetric.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <unistd.h>

namespace {

using namespace system_test;

constexpr std::chrono::seconds limit{5};
/// MPI takes small messages at once, and large ones are announced; those between wait in MPI for the other PE.
constexpr std::size_t large = std::size_t{8} << 20, sizes[] = {8, 1000, 4096, 16384, 65536, 100000, large};

void die_soon() {
    std::thread([] {
        usleep(100000);
        raise(SIGKILL);
    }).detach();
}

[[noreturn]] void end(bool good) {
    std::printf("verdict: %s\n", good ? "passed" : "FAILED");
    std::fflush(stdout);
    // MPI cannot be finalised with a dead rank.
    _exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}

} // namespace

int main(int argc, char** argv) {
    alarm(60);
    int provided = MPI_THREAD_SINGLE;
    int rank = 0;
    int ranks = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const std::string moment = argc > 1 ? argv[1] : "";
    const rank_device own(rank);
    const queue on = own.make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    check(causeway_symmetric_init(own.context(), own.device(), MPI_COMM_WORLD, std::size_t{64} << 20),
          causeway_error_last_message());
    constexpr std::size_t size = large;
    auto* const data = static_cast<unsigned char*>(causeway_symmetric_malloc(size));
    auto* const word = static_cast<std::uint64_t*>(causeway_symmetric_calloc(1, 8));
    const buffer source = own.make_buffer(size, 1);
    const int last = ranks - 1;

    if (rank == last && moment == "idle") raise(SIGKILL);
    if (rank == last && moment == "putting") {
        die_soon();
        for (;;)
            check(clEnqueuePutSignal(on.get(), source.get(), CL_TRUE, 0, size, data, word, 1, CL_SIGNAL_ADD, 0, 0,
                                     nullptr, nullptr),
                  "put");
    }
    if (rank == last && moment == "reducing") die_soon(); // between the others' slices
    if (moment == "reducing") // until one fails, on the survivors
        while (clEnqueueSymmetricReduce(on.get(), CL_TRUE, data, data, size / 4, CL_ELEMENT_UINT, CL_REDUCE_XOR, 0,
                                        nullptr, nullptr) == CL_SUCCESS) {}
    bool good = true;
    if (moment == "changing") { // words and bytes of the others, who change its own
        if (rank == last) die_soon();
        const int peer = rank == last ? 0 : last;
        cl_int status = CL_SUCCESS;
        while (status == CL_SUCCESS) { // until one fails, on the survivors
            event changed, put;
            check(clEnqueueSymmetricAtomic(on.get(), CL_FALSE, CL_ATOMIC_INC, 8, word, 0, 0, peer, nullptr, 0, 0,
                                           nullptr, changed.out()),
                  "atomic");
            check(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, 100000, data, word, 1, CL_SIGNAL_ADD, peer, 0,
                                     nullptr, put.out()),
                  "put");
            for (const auto* each : {&changed, &put}) {
                const auto ended = wait(each->get(), limit);
                good = good && (ended == CL_SUCCESS || ended == CL_TRANSFER_PEER_FAILED);
                if (ended != CL_SUCCESS) status = ended;
            }
        }
        std::printf("PE %d: changing: status %d\n", rank, status);
    }
    if (moment == "moving") { // to the one that dies and from it, and by it
        if (rank == last) die_soon();
        const buffer target = own.make_buffer(size, 0);
        const int peer = rank == last ? 0 : last;
        cl_int status = CL_SUCCESS;
        while (status == CL_SUCCESS) // until one fails, on the survivors
            for (const std::size_t bytes : sizes) {
                event put, got;
                check(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, bytes, data, peer, 0, nullptr, put.out()),
                      "put");
                check(clEnqueueGet(on.get(), target.get(), CL_FALSE, 0, bytes, data, peer, 0, nullptr, got.out()),
                      "get");
                for (const auto* each : {&put, &got}) {
                    const auto ended = wait(each->get(), limit);
                    if (ended != CL_SUCCESS) status = ended;
                    if (ended == CL_SUCCESS || ended == CL_TRANSFER_PEER_FAILED) continue;
                    std::printf("PE %d: %zu bytes: status %d\n", rank, bytes, ended);
                    good = false;
                }
            }
        std::printf("PE %d: moving: status %d\n", rank, status);
    }
    if (moment == "allocating" || moment == "freeing" || moment == "ending") { // where the last one does not come
        if (rank == last) {
            usleep(100000);
            raise(SIGKILL);
        }
        const auto fails = [&] {
            return causeway_symmetric_malloc(64) == nullptr ? CL_TRANSFER_PEER_FAILED : CL_SUCCESS;
        };
        const auto status = moment == "ending"    ? causeway_symmetric_finalize()
                            : moment == "freeing" ? causeway_symmetric_free(data)
                                                  : fails();
        const std::string said = causeway_error_last_message();
        std::printf("PE %d: %s: status %d, %s\n", rank, moment.c_str(), status, said.c_str());
        usleep(500000); // or another one that still waits would find this one dead
        end(status == CL_TRANSFER_PEER_FAILED && said.find("PE " + std::to_string(last) + " is gone") != said.npos);
    }
    if (rank == last) { // in a barrier, to which its own command does not come
        const event gate = own.make_user_event();
        cl_event closed = gate.get();
        check(clEnqueueSymmetricBarrier(on.get(), CL_FALSE, 1, &closed, nullptr), "barrier");
        usleep(100000);
        raise(SIGKILL);
    }

    if (moment == "idle") { // calls of host code, which need no engine for what they do
        cl_int status = CL_SUCCESS;
        for (int calls = 0; status == CL_SUCCESS && calls < 20; ++calls) { // however few there are
            usleep(100000);
            status = causeway_symmetric_atomic(CL_ATOMIC_INC, 8, word, 0, 0, last, nullptr);
        }
        std::printf("PE %d: atomic: status %d\n", rank, status);
        good = status == CL_TRANSFER_PEER_FAILED &&
               causeway_symmetric_put(data, "12345678", 8, last) == CL_TRANSFER_PEER_FAILED;
    }
    const auto expect_failed = [&](const event& of, const char* name) {
        const cl_int status = wait(of.get(), limit);
        const auto message = transfer_text(of.get(), CL_TRANSFER_ERROR_MESSAGE);
        std::printf("PE %d: %s: status %d, %s\n", rank, name, status, message.c_str());
        good = good && status == CL_TRANSFER_PEER_FAILED &&
               message.find("PE " + std::to_string(last) + " is gone") != std::string::npos;
    };
    event waited, barrier;
    check(clEnqueueSignalWait(on.get(), CL_FALSE, word, CL_COMPARE_EQ, ~std::uint64_t{0}, 0, nullptr, waited.out()),
          "wait");
    check(clEnqueueSymmetricBarrier(on.get(), CL_FALSE, 0, nullptr, barrier.out()), "barrier");
    expect_failed(waited, "wait");
    expect_failed(barrier, "barrier");
    event reduced;
    check(clEnqueueSymmetricReduce(on.get(), CL_FALSE, data, data, 1000, CL_ELEMENT_UINT, CL_REDUCE_SUM, 0, nullptr,
                                   reduced.out()),
          "reduction");
    expect_failed(reduced, "reduction");
    const buffer target = own.make_buffer(size, 0);
    bytes memory(size);
    for (const std::size_t bytes : sizes) {
        const auto name = [&](const char* what) {
            return std::string(what) + " of " + std::to_string(bytes) + " bytes";
        };
        event put, signalling, got;
        check(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, bytes, data, last, 0, nullptr, put.out()), "put");
        expect_failed(put, name("put").c_str());
        check(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, bytes, data, word, 1, CL_SIGNAL_SET, last, 0,
                                 nullptr, signalling.out()),
              "put with signal");
        expect_failed(signalling, name("put with signal").c_str());
        check(clEnqueueGet(on.get(), target.get(), CL_FALSE, 0, bytes, data, last, 0, nullptr, got.out()), "get");
        expect_failed(got, name("get").c_str());
        good = good && causeway_symmetric_put(data, memory.data(), bytes, last) == CL_TRANSFER_PEER_FAILED &&
               causeway_symmetric_get(memory.data(), data, bytes, last) == CL_TRANSFER_PEER_FAILED;
    }
    // What needs the dead one no more still works, and all that is left ends.
    good = good && causeway_symmetric_put(data, "12345678", 8, rank) == CL_SUCCESS;
    good = good && causeway_symmetric_malloc(64) == nullptr;
    std::printf("PE %d: allocation: %s\n", rank, causeway_error_last_message());
    good = good && causeway_symmetric_finalize() == CL_TRANSFER_PEER_FAILED;
    end(good);
}
