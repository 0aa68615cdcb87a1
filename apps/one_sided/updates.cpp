// SPDX-License-Identifier: Apache-2.0
// Random updates of a table that is spread over all PEs (GUPS), by atomics, beside MPI's one-sided calls, and beside
// lists that each PE sends to each owner by transfers between ranks, whose device updates the table. Each way does as
// many as it can in a short time, so that slow ones end, too.
#include "pe.hpp"

#include <cstdio>
#include <random>

namespace one_sided {

namespace {

constexpr const char* apply_source = R"(
kernel void apply(global ulong* table, global const ulong* lists, uint pes, uint room) {
    for (uint pe = 0; pe < pes; ++pe)
        for (ulong i = 1; i <= lists[pe * room]; ++i) table[lists[pe * room + i]] += 1;
}
)";

/// The table of one PE, and the lists that it sends and receives: of each a length, then the numbers of words.
class listed_updates {
  public:
    listed_updates(const pe& here, std::size_t words, std::size_t most)
        : m_here(here), m_room(most + 1), m_lists(m_room * static_cast<std::size_t>(here.all)), m_zeros(words),
          m_table(here.make_buffer(words * 8, m_zeros.data())), m_sent(here.make_buffer(m_lists.size() * 8)),
          m_received(here.make_buffer(m_lists.size() * 8)) {
        cl_int code = CL_SUCCESS;
        m_receiving = clCreateCommandQueue(here.context, here.device, 0, &code);
        check(code, "clCreateCommandQueue");
        const char* source = apply_source;
        m_program = clCreateProgramWithSource(here.context, 1, &source, nullptr, &code);
        check(code, "clCreateProgramWithSource");
        check(clBuildProgram(m_program, 1, &here.device, nullptr, nullptr, nullptr), "clBuildProgram");
        m_apply = clCreateKernel(m_program, "apply", &code);
        check(code, "clCreateKernel");
        const auto pes = static_cast<cl_uint>(here.all), room = static_cast<cl_uint>(m_room);
        check(clSetKernelArg(m_apply, 0, sizeof m_table, &m_table), "clSetKernelArg");
        check(clSetKernelArg(m_apply, 1, sizeof m_received, &m_received), "clSetKernelArg");
        check(clSetKernelArg(m_apply, 2, sizeof pes, &pes), "clSetKernelArg");
        check(clSetKernelArg(m_apply, 3, sizeof room, &room), "clSetKernelArg");
    }
    listed_updates(const listed_updates&) = delete;
    listed_updates& operator=(const listed_updates&) = delete;
    ~listed_updates() {
        clReleaseKernel(m_apply);
        clReleaseProgram(m_program);
        clReleaseCommandQueue(m_receiving);
        for (auto* const each : {m_table, m_sent, m_received}) clReleaseMemObject(each);
    }

    void add(int owner, std::size_t word) {
        auto* const list = &m_lists[static_cast<std::size_t>(owner) * m_room];
        list[++list[0]] = word;
    }
    /// All PEs call it.
    void exchange() {
        const auto bytes = m_room * 8;
        check(clEnqueueWriteBuffer(m_here.queue, m_sent, CL_FALSE, 0, m_lists.size() * 8, m_lists.data(), 0, nullptr,
                                   nullptr),
              "clEnqueueWriteBuffer");
        for (int i = 0; i < m_here.all; ++i) {
            const int to = (m_here.own + i) % m_here.all, from = (m_here.own + m_here.all - i) % m_here.all;
            check(clEnqueueSendBuffer(m_here.queue, m_sent, CL_FALSE, static_cast<std::size_t>(to) * bytes, bytes, to,
                                      4, MPI_COMM_WORLD, 0, nullptr, nullptr),
                  "clEnqueueSendBuffer");
            check(clEnqueueRecvBuffer(m_receiving, m_received, CL_FALSE, static_cast<std::size_t>(from) * bytes, bytes,
                                      from, 4, MPI_COMM_WORLD, 0, nullptr, nullptr),
                  "clEnqueueRecvBuffer");
        }
        const std::size_t one = 1;
        check(clEnqueueNDRangeKernel(m_receiving, m_apply, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
              "clEnqueueNDRangeKernel");
        check(clFinish(m_receiving), "clFinish");
        check(clFinish(m_here.queue), "clFinish");
        for (int pe = 0; pe < m_here.all; ++pe) m_lists[static_cast<std::size_t>(pe) * m_room] = 0;
    }
    [[nodiscard]] std::vector<std::uint64_t> table() const {
        std::vector<std::uint64_t> seen(m_zeros.size());
        check(clEnqueueReadBuffer(m_here.queue, m_table, CL_TRUE, 0, seen.size() * 8, seen.data(), 0, nullptr, nullptr),
              "clEnqueueReadBuffer");
        return seen;
    }

  private:
    const pe& m_here;
    std::size_t m_room;
    std::vector<std::uint64_t> m_lists, m_zeros;
    cl_mem m_table, m_sent, m_received;
    cl_command_queue m_receiving = nullptr;
    cl_program m_program = nullptr;
    cl_kernel m_apply = nullptr;
};

} // namespace

bool updates(const pe& here, int rounds) {
    constexpr std::size_t words = 1 << 16; // of each PE
    constexpr int at_once = 100, most = 2000; // updates, in a round
    constexpr double longest = 0.5; // seconds
    auto* const table = here.allocate<std::uint64_t>(words);
    std::uint64_t* window_memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(words * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
    for (std::size_t i = 0; i < words; ++i) window_memory[i] = 0;
    MPI_Win_lock_all(0, window);
    std::mt19937_64 random(static_cast<unsigned>(here.own) + 1);
    struct target {
        int pe;
        std::size_t word;
    };
    const auto next = [&] {
        return target{static_cast<int>(random() % static_cast<unsigned>(here.all)), random() % words};
    };

    listed_updates listed(here, words, at_once);
    std::vector<double> rates[4];
    std::uint64_t done = 0, done_by_lists = 0; // `done`: by commands and host calls
    for (int round = 0; round < rounds; ++round) {
        int way = 0;
        const auto run = [&](auto some) {
            check(causeway_symmetric_barrier(), "barrier");
            MPI_Barrier(MPI_COMM_WORLD);
            int count = 0;
            double taken = 0;
            for (; count < most && taken < longest; count += at_once) taken += timed(some);
            if (way < 2) done += static_cast<std::uint64_t>(count);
            rates[way++].push_back(count / taken);
        };
        run([&] {
            for (int i = 0; i < at_once; ++i) {
                const auto where = next();
                check(clEnqueueSymmetricAtomic(here.queue, CL_FALSE, CL_ATOMIC_INC, 8, table + where.word, 0, 0,
                                               where.pe, nullptr, 0, 0, nullptr, nullptr),
                      "atomic");
            }
            check(clFinish(here.queue), "clFinish");
        });
        run([&] {
            for (int i = 0; i < at_once; ++i) {
                const auto where = next();
                check(causeway_symmetric_atomic(CL_ATOMIC_INC, 8, table + where.word, 0, 0, where.pe, nullptr),
                      "atomic");
            }
        });
        run([&] {
            const std::uint64_t one = 1;
            for (int i = 0; i < at_once; ++i) {
                const auto where = next();
                MPI_Accumulate(&one, 1, MPI_UINT64_T, where.pe, static_cast<MPI_Aint>(where.word), 1, MPI_UINT64_T,
                               MPI_SUM, window);
                MPI_Win_flush(where.pe, window);
            }
        });
        // All take part in each exchange, so in the same number of them.
        check(causeway_symmetric_barrier(), "barrier");
        constexpr int exchanges = 10;
        const double taken = timed([&] {
            for (int exchange = 0; exchange < exchanges; ++exchange) {
                for (int i = 0; i < at_once; ++i) {
                    const auto where = next();
                    listed.add(where.pe, where.word);
                }
                listed.exchange();
            }
        });
        done_by_lists += exchanges * at_once;
        rates[3].push_back(exchanges * at_once / taken);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    check(causeway_symmetric_barrier(), "barrier");
    // None is lost: the table's sum is the number of updates.
    std::vector<std::uint64_t> own(words);
    check(causeway_symmetric_get(own.data(), table, words * 8, here.own), "get");
    std::uint64_t sums[4] = {0, done, 0, done_by_lists}, whole[4];
    for (const auto each : own) sums[0] += each;
    for (const auto each : listed.table()) sums[2] += each;
    MPI_Allreduce(sums, whole, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (here.own == 0)
        std::printf("updates of each PE: %.0f per second by commands, %.0f by host calls, %.0f by MPI_Accumulate, %.0f "
                    "by lists of %d in transfers between ranks\n",
                    median(rates[0]), median(rates[1]), median(rates[2]), median(rates[3]), at_once);
    return whole[0] == whole[1] && whole[2] == whole[3];
}

} // namespace one_sided
