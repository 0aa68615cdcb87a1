// SPDX-License-Identifier: Apache-2.0
// Runs the fault tests on all ranks in the same order: rank 0 reports, every rank names its failures, one verdict.
#include "faults/every_call.hpp"
#include "support/stacks.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

/// Names each failure with the rank that it happened on.
class failure_reporter final : public testing::EmptyTestEventListener {
  public:
    explicit failure_reporter(int rank) : m_rank(rank) {}
    void OnTestStart(const testing::TestInfo& test) override {
        m_test = std::string(test.test_suite_name()) + "." + test.name();
    }
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed()) {
            std::fprintf(stderr, "[rank %d] %s: %s\n", m_rank, m_test.c_str(), result.message());
        }
    }

  private:
    int m_rank;
    std::string m_test;
};

/// Ends the process if one step takes too long, and names the step.
class watchdog final {
  public:
    explicit watchdog(int rank) : m_rank(rank), m_thread([this] { watch(); }) {}
    ~watchdog() {
        {
            const std::lock_guard lock(m_mutex);
            m_ended = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }

  private:
    static constexpr std::chrono::seconds limit{240};

    void watch() {
        std::unique_lock lock(m_mutex);
        std::string step;
        auto deadline = std::chrono::steady_clock::now() + limit;
        while (!m_changed.wait_for(lock, std::chrono::seconds(1), [this] { return m_ended; })) {
            const auto now = std::chrono::steady_clock::now();
            auto current = faults::current_step();
            if (current != step) {
                step = std::move(current);
                deadline = now + limit;
            }
            if (now < deadline) continue;
            std::fprintf(stderr, "[rank %d] hangs: %s\n", m_rank, step.c_str());
            support::print_stacks();
            // The launcher ends the other ranks, which may hang and say so, too. Not MPI_Abort: MPI may be what hangs.
            std::this_thread::sleep_for(std::chrono::seconds(3));
            std::_Exit(3);
        }
    }

    int m_rank;
    std::mutex m_mutex; // guards m_ended
    std::condition_variable m_changed;
    bool m_ended = false;
    std::thread m_thread;
};

} // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing::InitGoogleTest(&argc, argv);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0) std::puts("skipped: this MPI has no MPI_THREAD_MULTIPLE");
        MPI_Finalize();
        return 77;
    }
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (rank != 0) {
        delete listeners.Release(listeners.default_result_printer());
        delete listeners.Release(listeners.default_xml_generator());
        listeners.Append(new failure_reporter(rank));
    }
    int failed = 0;
    {
        const watchdog guard(rank);
        failed = RUN_ALL_TESTS();
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    const auto* const tests = testing::UnitTest::GetInstance();
    const int chosen = tests->test_to_run_count();
    const bool all_skipped = chosen > 0 && tests->skipped_test_count() == chosen;
    MPI_Finalize();
    if (failed != 0) return 1;
    return all_skipped ? 77 : 0;
}
