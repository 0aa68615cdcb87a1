// SPDX-License-Identifier: Apache-2.0
// A program for two ranks whose transfers wait: what the library says of it on standard error. Argument: both (each
// receives before it sends, in one in-order queue), missing (nobody sends), slow (all goes on, but slowly) or one_sided
// (one PE waits for what the other never does).
#include "device.hpp"

#include <causeway/symmetric.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace system_test;
using namespace std::chrono_literals;

constexpr std::size_t size = 1 << 20;
constexpr int tag = 5;
int rank = 0, failures = 0;

void expect(bool holds, const std::string& what) {
    if (holds) return;
    std::printf("[rank %d] FAILED: %s\n", rank, what.c_str());
    ++failures;
}

/// What the process writes to standard error from now on.
class heard_errors {
  public:
    heard_errors() : m_file(::open(m_name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) { ::dup2(m_file, STDERR_FILENO); }
    heard_errors(const heard_errors&) = delete;
    heard_errors& operator=(const heard_errors&) = delete;
    ~heard_errors() {
        ::close(m_file);
        ::unlink(m_name.c_str());
    }
    [[nodiscard]] std::string text() const {
        std::ifstream file(m_name);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] bool comes(const std::string& what) const {
        const auto until = std::chrono::steady_clock::now() + 60s;
        while (std::chrono::steady_clock::now() < until) {
            if (text().find(what) != std::string::npos) return true;
            std::this_thread::sleep_for(20ms);
        }
        return false;
    }

  private:
    std::string m_name = "stalled." + std::to_string(::getpid()) + ".txt";
    int m_file;
};

void expect_told(const heard_errors& heard, const std::string& what) {
    expect(heard.comes(what), "\"" + what + "\" is told, of which came:\n" + heard.text());
}

event receive(cl_command_queue on, const buffer& into, int from, int with) {
    event over;
    check(clEnqueueRecvBuffer(on, into.get(), CL_FALSE, 0, size, from, with, MPI_COMM_WORLD, 0, nullptr, over.out()),
          "clEnqueueRecvBuffer");
    return over;
}

event send(cl_command_queue on, const buffer& what, int to, int with) {
    event over;
    check(clEnqueueSendBuffer(on, what.get(), CL_FALSE, 0, size, to, with, MPI_COMM_WORLD, 0, nullptr, over.out()),
          "clEnqueueSendBuffer");
    return over;
}

void end(const event& which) { check(clCancelTransfer(which.get()), "clCancelTransfer"); }

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "both";
    alarm(120); // a hang is a failure
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int other = 1 - rank;
    const auto peer = "rank " + std::to_string(other);
    const heard_errors heard;
    expect(causeway_option_set("stall", "1") == 0, "the option stall exists");
    const rank_device own(rank);
    const queue on = own.make_queue(0), aside = own.make_queue(0);
    const buffer in = own.make_buffer(size, 0), out = own.make_buffer(size, 7);

    if (mode == "both") {
        const auto received = receive(on.get(), in, other, tag);
        const auto sent = send(on.get(), out, other, tag);
        expect_told(heard, "rank " + std::to_string(rank) + " of 2: no transfer has moved for 1 s");
        expect_told(heard, "(receive) waits for " + peer + " to send with tag 5");
        expect_told(heard, "(send), which then waits for " + peer + " to receive with tag 5");
        MPI_Barrier(MPI_COMM_WORLD);
        end(received);
        end(sent);
    } else if (mode == "missing" && rank == 0) {
        const auto received = receive(on.get(), in, other, tag);
        expect_told(heard, "(receive) waits for rank 1 to send with tag 5");
        end(received);
    } else if (mode == "one_sided") {
        check(causeway_symmetric_init(own.context(), own.device(), MPI_COMM_WORLD, 1 << 20), "causeway_symmetric_init");
        auto* const word = static_cast<std::uint64_t*>(causeway_symmetric_calloc(1, sizeof(std::uint64_t)));
        if (rank == 0) {
            event waited, met;
            check(clEnqueueSignalWait(on.get(), CL_FALSE, word, CL_COMPARE_GE, 3, 0, nullptr, waited.out()),
                  "clEnqueueSignalWait");
            check(clEnqueueSymmetricBarrier(aside.get(), CL_FALSE, 0, nullptr, met.out()), "clEnqueueSymmetricBarrier");
            expect_told(heard,
                        "(wait for a signal) waits for the word at 0 B of the symmetric heap, now 0, to be >= 3");
            expect_told(heard, "(barrier) waits for PE 1 to come to a barrier");
            end(waited);
            MPI_Barrier(MPI_COMM_WORLD);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            expect(causeway_symmetric_barrier() == CL_SUCCESS, "PE 1 comes to the barrier");
        }
        expect(causeway_symmetric_finalize() == CL_SUCCESS, "the heap ends");
    } else if (mode == "slow") {
        // One receive waits all the time, while others go on; each pause is shorter than the limit.
        const queue third = own.make_queue(0);
        const buffer more = own.make_buffer(size, 1);
        const auto waiting = receive(aside.get(), in, other, tag);
        for (int i = 0; i < 8; ++i) {
            const auto received = receive(on.get(), out, other, tag + 1);
            const auto sent = send(third.get(), more, other, tag + 1);
            const cl_event both[] = {received.get(), sent.get()};
            expect(clWaitForEvents(2, both) == CL_SUCCESS, "messages pass");
            std::this_thread::sleep_for(300ms);
        }
        end(waiting);
        expect(heard.text().find("has moved") == std::string::npos, "nothing is told, but: " + heard.text());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    std::printf("[rank %d] stalled %s: %s\n", rank, mode.c_str(), failures ? "FAILED" : "passed");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
