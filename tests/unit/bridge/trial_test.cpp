// SPDX-License-Identifier: Apache-2.0
// What programs of a trial answer, how they end, and what is remembered of it.
#include "bridge/trial.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>

using namespace causeway;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

class trial : public ::testing::Test {
  protected:
    trial() { fs::create_directories(m_folder); }
    ~trial() override { fs::remove_all(m_folder); }

    /// A program that notes that it ran, and then runs `body`.
    [[nodiscard]] bridge::trial of(const std::string& body) const {
        const auto program = m_folder / "program";
        std::ofstream(program) << "#!/bin/sh\necho ran >>" << (m_folder / "runs").string() << "\n" << body << "\n";
        fs::permissions(program, fs::perms::owner_all);
        return {program.string(), memory()};
    }
    [[nodiscard]] std::string memory() const { return (m_folder / "cache" / "links.json").string(); }
    [[nodiscard]] int runs() const {
        std::ifstream all(m_folder / "runs");
        int count = 0;
        for (std::string line; std::getline(all, line);) ++count;
        return count;
    }

    fs::path m_folder = fs::temp_directory_path() / ("causeway-trial-" + std::to_string(::getpid()));
};

} // namespace

TEST_F(trial, of_a_driver_that_works_is_made_once) {
    const auto it = of("echo works");
    EXPECT_EQ(it.run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(it.run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(runs(), 1);
    EXPECT_EQ(it.run({"driver 2", "1", {}}, 10s), "");
    EXPECT_EQ(runs(), 2);
    EXPECT_EQ(it.run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(runs(), 2);
}

TEST_F(trial, of_some_devices_says_nothing_of_others) {
    const bridge::device_uuid one{1}, other{2};
    const auto it = of("echo works");
    EXPECT_EQ(it.run({"driver", "1", {one}}, 10s), "");
    EXPECT_EQ(it.run({"driver", "1", {one, other}}, 10s), "");
    EXPECT_EQ(runs(), 2) << "no link was crossed where one device was seen";
    EXPECT_EQ(it.run({"driver", "1", {other, one, other}}, 10s), "");
    EXPECT_EQ(runs(), 2) << "the same in another order";
}

TEST_F(trial, of_one_machine_says_nothing_of_others) {
    const auto it = of("echo works");
    EXPECT_EQ(it.run({"driver", "1", {}}, 10s), "");
    EXPECT_EQ(it.run({"driver", "2", {}}, 10s), "");
    EXPECT_EQ(runs(), 2);
}

TEST_F(trial, of_a_driver_that_crashes_is_made_once_and_names_where_that_is_remembered) {
    const auto it = of("kill -SEGV $$");
    for (int i = 0; i < 2; ++i) {
        const auto why = it.run({"driver 1", "1", {}}, 10s);
        EXPECT_NE(why.find("driver 1 crashes"), std::string::npos) << why;
        EXPECT_NE(why.find(memory()), std::string::npos) << why;
    }
    EXPECT_EQ(runs(), 1);
}

TEST_F(trial, is_remembered_for_its_user_alone) {
    EXPECT_EQ(of("echo works").run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(fs::status(fs::path(memory()).parent_path()).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(memory()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(trial, of_a_driver_that_refuses_leaves_the_refusal_to_who_asks) {
    const auto it = of("echo 'refuses: no Vulkan'");
    EXPECT_EQ(it.run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(it.run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(runs(), 2);
}

TEST_F(trial, of_a_driver_that_fails_says_why_and_is_not_remembered) {
    const auto it = of("echo 'fails: other bytes come than were sent'");
    EXPECT_EQ(it.run({"driver 1", "1", {}}, 10s), "fails: other bytes come than were sent");
    EXPECT_NE(of("kill -KILL $$").run({"driver 1", "1", {}}, 10s).find("signal 9"), std::string::npos);
    EXPECT_FALSE(fs::exists(memory()));
}

TEST_F(trial, of_which_nobody_knows_how_it_ended_speaks_against_the_driver) {
    const auto before = ::signal(SIGCHLD, SIG_IGN);
    EXPECT_NE(of("kill -SEGV $$").run({"driver 1", "1", {}}, 10s), "");
    ::signal(SIGCHLD, before);
    EXPECT_FALSE(fs::exists(memory()));
}

TEST_F(trial, that_hangs_is_ended_and_not_remembered) {
    const auto it = of("exec sleep 1000");
    EXPECT_NE(it.run({"driver 1", "1", {}}, 50ms).find("no answer"), std::string::npos);
    EXPECT_FALSE(fs::exists(memory()));
}

TEST_F(trial, ends_with_the_process_that_waits_for_it) {
    const auto it = of("exec sleep 1000");
    std::stop_source ending;
    std::jthread end([&] {
        std::this_thread::sleep_for(50ms);
        ending.request_stop();
    });
    const auto why = it.run({"driver 1", "1", {}}, 1h, ending.get_token());
    EXPECT_NE(why.find("before the end of the process"), std::string::npos) << why;
    EXPECT_FALSE(fs::exists(memory()));
}

TEST_F(trial, without_a_program_speaks_against_nothing) {
    EXPECT_EQ(bridge::trial((m_folder / "nothing").string(), memory()).run({"driver", "1", {}}, 10s), "");
    EXPECT_EQ(bridge::trial("", "").run({"driver", "1", {}}, 10s), "");
}

TEST_F(trial, does_not_trust_a_damaged_memory_and_needs_none) {
    const auto it = of("echo works");
    fs::create_directories(fs::path(memory()).parent_path());
    std::ofstream(memory()) << "{\"driver 1\": 7, ";
    EXPECT_EQ(it.run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(it.run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(runs(), 1);
    const bridge::trial unremembered((m_folder / "program").string(), "/proc/nowhere/links.json");
    EXPECT_EQ(unremembered.run({"driver 1", "1", {}}, 10s), "");
    EXPECT_EQ(runs(), 2);
}
