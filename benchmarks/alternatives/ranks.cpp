// SPDX-License-Identifier: Apache-2.0
// By one command, by blocking calls, and by hand through two page-locked blocks.
#include "ranks.hpp"

#include "common/opencl.hpp"

#include <CL/cl_data_transfer.h>
#include <causeway/buffer.h>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>

namespace alternatives {

namespace {

constexpr int tag = 1;

struct rank_problem {
    rank_problem(cl_device_id on, std::size_t size)
        : bytes(size), data(size), context(apps::create_context(on)),
          queue(apps::create_in_order_queue(context.get(), on)),
          buffer(apps::create_buffer(context.get(), data.whole_bytes())), memory(size) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        (void)causeway_direct_links(on, nullptr, 0); // which take a second to start
        if (rank == 0)
            apps::check(clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, data.whole_bytes(), data.whole(), 0,
                                             nullptr, nullptr),
                        "clEnqueueWriteBuffer");
    }

    [[nodiscard]] bool sends() const { return rank == 0; }
    [[nodiscard]] int peer() const { return 1 - rank; }
    /// Where the sender's bytes of this transfer are; the receiver has them at its start.
    [[nodiscard]] std::size_t offset() const { return sends() ? test_data::offset_of(transfers) : 0; }

    void copy_out(void* into, std::size_t at, std::size_t some, cl_bool blocking, cl_event* event = nullptr) const {
        apps::check(
            clEnqueueReadBuffer(queue.get(), buffer.get(), blocking, offset() + at, some, into, 0, nullptr, event),
            "clEnqueueReadBuffer");
    }
    void copy_in(const void* from, std::size_t some, std::size_t at, cl_bool blocking,
                 cl_event* event = nullptr) const {
        apps::check(clEnqueueWriteBuffer(queue.get(), buffer.get(), blocking, at, some, from, 0, nullptr, event),
                    "clEnqueueWriteBuffer");
    }

    int rank = 0;
    std::size_t bytes, transfers = 0;
    test_data data;
    apps::context context;
    apps::queue queue;
    apps::buffer buffer;
    std::vector<std::byte> memory; // ordinary
};

void by_command(const rank_problem& problem) {
    const auto code = problem.sends()
                          ? clEnqueueSendBuffer(problem.queue.get(), problem.buffer.get(), CL_TRUE, problem.offset(),
                                                problem.bytes, problem.peer(), tag, MPI_COMM_WORLD, 0, nullptr, nullptr)
                          : clEnqueueRecvBuffer(problem.queue.get(), problem.buffer.get(), CL_TRUE, 0, problem.bytes,
                                                problem.peer(), tag, MPI_COMM_WORLD, 0, nullptr, nullptr);
    apps::check(code, "a transfer between ranks");
}

void by_blocking_calls(rank_problem& problem) {
    if (problem.sends()) {
        problem.copy_out(problem.memory.data(), 0, problem.bytes, CL_TRUE);
        MPI_Send(problem.memory.data(), int(problem.bytes), MPI_BYTE, problem.peer(), tag, MPI_COMM_WORLD);
    } else {
        MPI_Recv(problem.memory.data(), int(problem.bytes), MPI_BYTE, problem.peer(), tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        problem.copy_in(problem.memory.data(), problem.bytes, 0, CL_TRUE);
    }
}

/// While MPI moves one block, the device copies the other.
class pipeline {
  public:
    pipeline(rank_problem& problem, std::size_t block)
        : m_problem(problem), m_block(block), m_halves{half(problem, block), half(problem, block)} {}

    void run() {
        const auto blocks = (m_problem.bytes + m_block - 1) / m_block;
        m_problem.sends() ? send(blocks) : receive(blocks);
    }

  private:
    struct half {
        half(rank_problem& problem, std::size_t bytes)
            : memory(std::make_unique<apps::pinned_memory>(problem.context.get(), problem.queue.get(), bytes)) {}
        [[nodiscard]] void* data() const { return memory->data(); }
        void wait_for_copy() {
            apps::wait_for({copied.get()}, "copying a block");
            copied.reset();
        }
        void wait_for_message() { MPI_Wait(&message, MPI_STATUS_IGNORE); }
        std::unique_ptr<apps::pinned_memory> memory;
        apps::event copied;
        MPI_Request message = MPI_REQUEST_NULL;
    };

    half& half_of(std::size_t block) { return m_halves[block % 2]; }
    [[nodiscard]] std::size_t bytes_of(std::size_t block) const {
        return std::min(m_block, m_problem.bytes - block * m_block);
    }
    void flush() const { apps::check(clFlush(m_problem.queue.get()), "clFlush"); }

    void send(std::size_t blocks) {
        copy_out(0);
        for (std::size_t i = 0; i < blocks; ++i) {
            auto& mine = half_of(i);
            mine.wait_for_copy();
            MPI_Isend(mine.data(), int(bytes_of(i)), MPI_BYTE, m_problem.peer(), tag, MPI_COMM_WORLD, &mine.message);
            if (i + 1 == blocks) break;
            half_of(i + 1).wait_for_message();
            copy_out(i + 1);
        }
        for (auto& each : m_halves) each.wait_for_message();
    }

    void copy_out(std::size_t block) {
        cl_event copied = nullptr;
        m_problem.copy_out(half_of(block).data(), block * m_block, bytes_of(block), CL_FALSE, &copied);
        half_of(block).copied.reset(copied);
        flush();
    }

    void receive(std::size_t blocks) {
        post(0);
        for (std::size_t i = 0; i < blocks; ++i) {
            if (i + 1 < blocks) {
                half_of(i + 1).wait_for_copy();
                post(i + 1);
            }
            auto& mine = half_of(i);
            mine.wait_for_message();
            cl_event copied = nullptr;
            m_problem.copy_in(mine.data(), bytes_of(i), i * m_block, CL_FALSE, &copied);
            mine.copied.reset(copied);
            flush();
        }
        for (auto& each : m_halves) each.wait_for_copy();
    }

    void post(std::size_t block) {
        auto& mine = half_of(block);
        MPI_Irecv(mine.data(), int(bytes_of(block)), MPI_BYTE, m_problem.peer(), tag, MPI_COMM_WORLD, &mine.message);
    }

    rank_problem& m_problem;
    std::size_t m_block;
    std::array<half, 2> m_halves;
};

} // namespace

std::vector<way> rank_ways(cl_device_id device, std::size_t bytes) {
    const auto problem = std::make_shared<rank_problem>(device, bytes);
    const auto check = [problem] {
        if (problem->sends()) return;
        problem->copy_out(problem->memory.data(), 0, problem->bytes, CL_TRUE);
        verify(problem->memory.data(), problem->data.whole() + test_data::offset_of(problem->transfers),
               problem->bytes);
    };
    const auto timed = [problem](auto action) {
        return [problem, action] {
            ++problem->transfers;
            MPI_Barrier(MPI_COMM_WORLD);
            double seconds = seconds_of(action);
            MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            return seconds;
        };
    };
    std::vector<way> all;
    const auto add = [&](std::string name, std::string variant, auto action) {
        all.push_back({std::move(name), std::move(variant), timed(action), check, ""});
    };
    add("Causeway", "", [problem] { by_command(*problem); });
    add("blocking copies, MPI_Send and MPI_Recv", "", [problem] { by_blocking_calls(*problem); });
    for (const auto block : blocks_by_hand) {
        if (block >= bytes) continue;
        const auto by_hand = std::make_shared<pipeline>(*problem, block);
        add("pipeline by hand, MPI_Isend and MPI_Irecv", block_text(block), [by_hand] { by_hand->run(); });
    }
    return all;
}

} // namespace alternatives
