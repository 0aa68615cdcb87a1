// SPDX-License-Identifier: Apache-2.0
// Turns of several processes, each of which opens the file by itself.
#include "base/node_turns.hpp"

#include <gtest/gtest.h>

#include <stdlib.h>

#include <atomic>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

using namespace causeway;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

class turns_of_a_node : public testing::Test {
  protected:
    turns_of_a_node() {
        std::string name = (fs::temp_directory_path() / "causeway-test.XXXXXX").string();
        m_folder = ::mkdtemp(name.data()) != nullptr ? name : std::string();
    }
    ~turns_of_a_node() override {
        std::error_code ignored;
        fs::remove_all(m_folder, ignored);
    }
    [[nodiscard]] fs::path file() const { return m_folder / "turns"; }

  private:
    fs::path m_folder;
};

TEST_F(turns_of_a_node, of_one_number_come_one_after_the_other) {
    const node_turns one(file()), other(file());
    constexpr auto large = ~std::uint64_t{0};
    for (const auto number : {std::uint64_t{7}, large}) {
        ASSERT_TRUE(one.take(number, 0ms));
        EXPECT_FALSE(other.take(number, 0ms));
        EXPECT_TRUE(other.take(8, 0ms)) << "another number";
        std::atomic<bool> has_it{false};
        std::thread waits([&] { has_it = other.take(number, 60s); });
        std::this_thread::sleep_for(5ms);
        EXPECT_FALSE(has_it);
        one.give_back(number);
        waits.join();
        EXPECT_TRUE(has_it);
        EXPECT_FALSE(one.take(number, 0ms));
        other.give_back(number);
        other.give_back(8);
    }
}

TEST_F(turns_of_a_node, are_given_up_by_who_ends) {
    const node_turns one(file());
    std::optional<node_turns> other(file());
    ASSERT_TRUE(other->take(7, 0ms));
    ASSERT_FALSE(one.take(7, 0ms));
    other.reset();
    EXPECT_TRUE(one.take(7, 0ms));
}

TEST_F(turns_of_a_node, are_not_waited_for_without_their_file) {
    const node_turns none(file() / "in a folder that is not there");
    EXPECT_FALSE(none.take(7, 60s));
    none.give_back(7);
    fs::create_symlink("elsewhere", file());
    EXPECT_FALSE(node_turns(file()).take(7, 60s)) << "a link, which somebody else may have made";
}

} // namespace
