// SPDX-License-Identifier: Apache-2.0
// Random updates of a table that is spread over all PEs (GUPS), by atomics, beside MPI's one-sided calls. Each way does
// as many as it can in a short time, so that slow ones end, too.
#include "pe.hpp"

#include <cstdio>
#include <random>

namespace one_sided {

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
    struct place {
        int pe;
        std::size_t word;
    };
    const auto next = [&] {
        return place{static_cast<int>(random() % static_cast<unsigned>(here.all)), random() % words};
    };

    std::vector<double> rates[3];
    std::uint64_t done = 0; // by commands and host calls
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
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    check(causeway_symmetric_barrier(), "barrier");
    // None is lost: the table's sum is the number of updates.
    std::vector<std::uint64_t> own(words);
    check(causeway_symmetric_get(own.data(), table, words * 8, here.own), "get");
    std::uint64_t sums[2] = {0, done}, whole[2];
    for (const auto each : own) sums[0] += each;
    MPI_Allreduce(sums, whole, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (here.own == 0)
        std::printf("updates of each PE: %.0f per second by commands, %.0f by host calls, %.0f by MPI_Accumulate\n",
                    median(rates[0]), median(rates[1]), median(rates[2]));
    return whole[0] == whole[1];
}

} // namespace one_sided
