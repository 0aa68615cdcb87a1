// SPDX-License-Identifier: Apache-2.0
// Runs the rank tests on all ranks in the same order: rank 0 reports, every rank names its failures, one verdict.
#include "ranks.hpp"
#include "support/stacks.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

/// Names each failure with the rank that it happened on.
class failure_reporter : public ::testing::EmptyTestEventListener {
  public:
    explicit failure_reporter(int rank) : m_rank(rank) {}

    void OnTestStart(const ::testing::TestInfo& test) override {
        m_test = std::string(test.test_suite_name()) + "." + test.name();
    }

    void OnTestPartResult(const ::testing::TestPartResult& result) override {
        if (result.failed())
            std::fprintf(stderr, "[rank %d] %s: %s:%d: %s\n", m_rank, m_test.c_str(),
                         result.file_name() ? result.file_name() : "", result.line_number(), result.message());
    }

  private:
    int m_rank;
    std::string m_test; // GoogleTest cannot be asked for it while it reports: it holds its lock
};

/// Ends the process if one test takes too long, so that a hang is a failure.
class watchdog : public ::testing::EmptyTestEventListener {
  public:
    explicit watchdog(int rank) : m_rank(rank), m_thread([this] { watch(); }) {}

    ~watchdog() override {
        {
            const std::lock_guard lock(m_mutex);
            m_ended = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }

    void OnTestStart(const ::testing::TestInfo& test) override {
        begin(std::string(test.test_suite_name()) + "." + test.name());
    }

    void begin(std::string phase) {
        const std::lock_guard lock(m_mutex);
        m_phase = std::move(phase);
        m_deadline = std::chrono::steady_clock::now() + limit;
    }

  private:
    void watch() {
        std::unique_lock lock(m_mutex);
        while (!m_ended) {
            m_changed.wait_for(lock, std::chrono::seconds(1));
            if (m_ended || std::chrono::steady_clock::now() < m_deadline) continue;
            std::fprintf(stderr, "[rank %d] %s: no end after %lld s\n", m_rank, m_phase.c_str(),
                         static_cast<long long>(limit.count()));
            support::print_stacks();
            // The launcher ends the other ranks, which may hang and say so, too. Not MPI_Abort: MPI may be what hangs.
            std::this_thread::sleep_for(std::chrono::seconds(3));
            std::_Exit(3);
        }
    }

    const std::chrono::seconds limit = 5 * system_test::patience();

    int m_rank;
    std::mutex m_mutex; // guards all below
    std::condition_variable m_changed;
    std::string m_phase = "start";
    std::chrono::steady_clock::time_point m_deadline = std::chrono::steady_clock::now() + limit;
    bool m_ended = false;
    std::thread m_thread;
};

} // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    const int rank = system_test::world_rank();
    ::testing::InitGoogleTest(&argc, argv);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0) std::puts("skipped: this MPI has no MPI_THREAD_MULTIPLE");
        MPI_Finalize();
        return 77;
    }

    int seed = static_cast<int>(GTEST_FLAG_GET(random_seed) ? GTEST_FLAG_GET(random_seed) : 1);
    MPI_Bcast(&seed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    GTEST_FLAG_SET(random_seed, seed);

    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    if (rank != 0) {
        delete listeners.Release(listeners.default_result_printer());
        delete listeners.Release(listeners.default_xml_generator());
        listeners.Append(new failure_reporter(rank));
    }
    auto* guard = new watchdog(rank);
    listeners.Append(guard);

    int failed = RUN_ALL_TESTS();
    guard->begin("end");
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    const auto* tests = ::testing::UnitTest::GetInstance();
    const int chosen = tests->test_to_run_count();
    const bool all_skipped = chosen > 0 && tests->skipped_test_count() == chosen;
    system_test::own_device_slot().reset();
    MPI_Finalize();
    delete listeners.Release(guard);
    if (failed) return 1;
    return all_skipped ? 77 : 0;
}
