// SPDX-License-Identifier: Apache-2.0
// Who is taken for a rank of the same node.
#include "comm/peer_liveness.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

using causeway::comm::peer_liveness;

namespace {

/// Puts the environment back.
class peers : public testing::Test {
  protected:
    peers() {
        if (const char* const set = std::getenv("PMIX_NAMESPACE")) m_before = set;
    }
    ~peers() override { m_before.empty() ? unsetenv("PMIX_NAMESPACE") : setenv("PMIX_NAMESPACE", m_before.c_str(), 1); }

  private:
    std::string m_before;
};

} // namespace

TEST_F(peers, of_one_job_are_of_one_node) {
    setenv("PMIX_NAMESPACE", "job 1", 1);
    const auto node = peer_liveness::node();
    EXPECT_EQ(node, peer_liveness::node());
}

TEST_F(peers, that_name_their_sockets_otherwise_are_not_of_one_node) {
    setenv("PMIX_NAMESPACE", "job 1", 1);
    const auto node = peer_liveness::node(), machine = peer_liveness::machine();
    setenv("PMIX_NAMESPACE", "job 2", 1);
    EXPECT_EQ(machine, peer_liveness::machine());
    EXPECT_NE(node, peer_liveness::node());
}

TEST_F(peers, that_were_met_and_do_not_listen_are_gone) {
    peer_liveness one("test " + std::to_string(::testing::UnitTest::GetInstance()->random_seed()), 0);
    EXPECT_FALSE(one.is_gone(1));
    one.met(1);
    EXPECT_TRUE(one.is_gone(1));
}
