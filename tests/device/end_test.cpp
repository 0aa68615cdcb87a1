// SPDX-License-Identifier: Apache-2.0
// Processes that end with work in flight: it is drained, or given up after the time-out, and the process ends.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

extern char** environ;

using namespace support;

namespace {

constexpr std::size_t whole = 64 << 20;
constexpr int good_exit = 7;

/// How a process ended: its exit code, or minus the number of the signal that killed it.
struct ending {
    int code = 0;
    std::chrono::milliseconds took{};
};

/// Where the device stands among those of all platforms: what ending_program asks for.
std::string index_of(const device_under_test& device) {
    const auto& all = all_devices();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.device == device.device; });
    return std::to_string(found - all.begin());
}

/// Runs ending_program; nothing if it does not end in time (it is killed then).
std::optional<ending> run_ending_program(const std::string& scenario, const std::string& device,
                                         const std::string& file, const std::string& drain_milliseconds) {
    const std::string path = CAUSEWAY_TEST_ENDING_PROGRAM;
    const std::string drain = "CAUSEWAY_DRAIN=" + drain_milliseconds;
    const auto raw = [](const std::string& text) { return const_cast<char*>(text.c_str()); }; // posix_spawn's type
    char* const arguments[] = {raw(path), raw(scenario), raw(device), raw(file), nullptr};
    std::vector<char*> environment;
    for (char** each = environ; *each != nullptr; ++each) {
        if (std::string(*each).rfind("CAUSEWAY_DRAIN=", 0) != 0) {
            environment.push_back(*each);
        }
    }
    environment.push_back(raw(drain));
    environment.push_back(nullptr);

    const auto begin = std::chrono::steady_clock::now();
    pid_t child = 0;
    if (posix_spawn(&child, path.c_str(), nullptr, nullptr, arguments, environment.data()) != 0) {
        throw std::runtime_error(path + " cannot be run");
    }
    int status = 0;
    if (!eventually([&] { return waitpid(child, &status, WNOHANG) == child; })) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return std::nullopt;
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    return ending{WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), took};
}

class end_of_process : public device_test {
  protected:
    [[nodiscard]] std::optional<ending> run(const std::string& scenario,
                                            const std::string& drain_milliseconds) const {
        return run_ending_program(scenario, index_of(GetParam()), path(), drain_milliseconds);
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

TEST_P(end_of_process, a_worker_that_sits_in_an_endless_read_does_not_keep_the_process) {
    expect_given_up("stuck_pipe_return");
}
