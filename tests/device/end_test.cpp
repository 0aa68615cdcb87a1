// SPDX-License-Identifier: Apache-2.0
// Processes that end with work in flight: it is drained, or given up after the time-out, and the process ends.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"
#include "support/processes.hpp"

using namespace support;

namespace {

constexpr std::size_t whole = 64 << 20;
constexpr int good_exit = 7;

class end_of_process : public device_test {
  protected:
    [[nodiscard]] std::optional<ending> run(const std::string& scenario, const std::string& drain_milliseconds) const {
        return run_program(CAUSEWAY_TEST_ENDING_PROGRAM, {scenario, index_of(GetParam()), path()},
                           {"CAUSEWAY_DRAIN=" + drain_milliseconds});
    }
    [[nodiscard]] std::string path() const { return m_folder.path("file"); }

    void expect_drained(const std::string& scenario) const {
        const auto end = run(scenario, "60000");
        ASSERT_TRUE(end) << "the process does not end";
        EXPECT_EQ(end->code, good_exit);
        EXPECT_TRUE(same_bytes(bytes(whole, 0x5a), file_contents(path())));
    }

    void expect_given_up(const std::string& scenario) const {
        // What start and end of a process take here without pending work is no part of the time-out.
        const auto plain = run("nothing", "500");
        ASSERT_TRUE(plain);
        ASSERT_EQ(plain->code, good_exit);
        const auto end = run(scenario, "500");
        ASSERT_TRUE(end) << "the process does not end";
        EXPECT_EQ(end->code, good_exit);
        EXPECT_LT(end->took, plain->took + std::chrono::seconds(10));
        EXPECT_TRUE(file_contents(path()).empty()) << "a transfer that was given up must not have started";
    }

  private:
    temporary_folder m_folder;
};
INSTANTIATE_TEST_SUITE_P(devices, end_of_process, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(end_of_process, exit_drains_a_running_transfer) { expect_drained("running_exit"); }

TEST_P(end_of_process, return_from_main_drains_a_running_transfer) { expect_drained("running_return"); }

TEST_P(end_of_process, return_from_main_drains_a_transfer_to_a_stream) { expect_drained("running_stream_return"); }

TEST_P(end_of_process, exit_in_another_thread_drains_a_running_transfer) { expect_drained("exit_in_thread"); }

TEST_P(end_of_process, a_context_released_before_the_end_does_not_stop_the_transfer) {
    expect_drained("released_return");
}

TEST_P(end_of_process, exit_gives_up_transfers_whose_gate_never_opens) { expect_given_up("pending_exit"); }

TEST_P(end_of_process, return_from_main_gives_up_a_transfer_whose_gate_never_opens) {
    expect_given_up("pending_return");
}

TEST_P(end_of_process, a_context_released_with_a_pending_transfer_does_not_keep_the_process) {
    expect_given_up("released_pending_return");
}

TEST_P(end_of_process, exit_ends_a_blocking_call_of_another_thread) { expect_given_up("blocking_exit"); }

TEST_P(end_of_process, calls_made_after_it_are_refused_and_do_not_wait) { expect_drained("calls_after_the_end"); }

TEST_P(end_of_process, a_first_transfer_made_in_an_exit_handler_is_drained) {
    expect_drained("first_call_in_exit_handler");
}

TEST_P(end_of_process, a_worker_that_sits_in_an_endless_read_does_not_keep_the_process) {
    expect_given_up("stuck_pipe_return");
}

TEST_P(end_of_process, a_driver_that_is_gone_does_not_keep_the_timeline) {
    const temporary_folder folder;
    const auto timeline = folder.path("t.json");
    const auto end = run_program(CAUSEWAY_TEST_ENDING_PROGRAM, {"driver_gone_exit", index_of(GetParam()), path()},
                                 {"CAUSEWAY_TRACE=" + timeline});
    ASSERT_TRUE(end) << "the process does not end";
    EXPECT_EQ(end->code, good_exit);
    const auto recorded = file_contents(timeline);
    const std::string text(reinterpret_cast<const char*>(recorded.data()), recorded.size());
    EXPECT_NE(text.find("\"ended\":true"), std::string::npos) << text;
    EXPECT_NE(text.find("device buffer -> "), std::string::npos) << text;
}
