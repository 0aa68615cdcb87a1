// SPDX-License-Identifier: Apache-2.0
// Who is taken for a rank of the same node.
#include "base/host.hpp"
#include "comm/peer_liveness.hpp"

#include "unit/stranger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using causeway::comm::abstract_address;
using causeway::comm::peer_liveness;
using causeway::comm::socket_key;

namespace {

std::string job() { return "unit-" + std::to_string(::getpid()); }

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
    const auto node = peer_liveness::node(), machine = causeway::host_number();
    setenv("PMIX_NAMESPACE", "job 2", 1);
    EXPECT_EQ(machine, causeway::host_number());
    EXPECT_NE(node, peer_liveness::node());
}

TEST_F(peers, that_were_met_and_do_not_listen_are_gone) {
    peer_liveness one(job(), 0, socket_key::make());
    EXPECT_FALSE(one.is_gone(1));
    one.met(1, socket_key::make());
    EXPECT_TRUE(one.is_gone(1));
}

TEST_F(peers, that_were_met_are_gone_when_they_end) {
    peer_liveness one(job(), 0, socket_key::make());
    auto other = std::make_unique<peer_liveness>(job(), 1, socket_key::make());
    one.met(1, other->key());
    EXPECT_FALSE(one.is_gone(1));
    other.reset();
    EXPECT_TRUE(one.is_gone(1));
}

TEST_F(peers, that_were_not_met_are_gone_when_they_end) {
    peer_liveness one(job(), 0, socket_key::make());
    auto other = std::make_unique<peer_liveness>(job(), 1, socket_key::make());
    EXPECT_FALSE(one.is_gone(1));
    other.reset();
    EXPECT_TRUE(one.is_gone(1));
}

TEST_F(peers, are_seen_to_end_although_another_user_has_filled_their_queue) {
    if (!unit::may_change_user()) GTEST_SKIP() << "only root can become another user";
    const abstract_address guessed("causeway", job(), 1);
    peer_liveness one(job(), 0, socket_key::make());
    auto other = std::make_unique<peer_liveness>(job(), 1, socket_key::make());
    const unit::stranger filler([&] {
        // A fork of this process has its sockets, which would live on with it.
        struct stat facts{};
        for (int each = 3; each < 1024; ++each)
            if (::fstat(each, &facts) == 0 && S_ISSOCK(facts.st_mode)) ::close(each);
        static std::vector<int> kept;
        for (;;) {
            const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
            if (made < 0 || ::connect(made, guessed.get(), guessed.length) != 0) return !kept.empty();
            kept.push_back(made);
        }
    });
    // Full or not (a process may have fewer descriptors than a queue has places): strangers are sent away.
    for (int i = 0; i < 200; ++i) EXPECT_FALSE(other->is_gone(0));
    EXPECT_FALSE(one.is_gone(1));
    other.reset();
    EXPECT_TRUE(one.is_gone(1));
}

TEST_F(peers, whose_name_another_user_holds_are_not_gone) {
    if (!unit::may_change_user()) GTEST_SKIP() << "only root can become another user";
    const abstract_address guessed("causeway", job(), 1); // with this user's number
    auto thief = std::make_unique<unit::stranger>([&] {
        const auto made = causeway::comm::listen_at(guessed, SOCK_STREAM);
        return ::dup(made.get()) >= 0;
    });
    peer_liveness one(job(), 0, socket_key::make());
    EXPECT_FALSE(one.is_gone(1));
    testing::internal::CaptureStderr();
    auto other = std::make_unique<peer_liveness>(job(), 1, socket_key::make());
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("another user holds the name"));
    EXPECT_FALSE(one.is_gone(1));
    thief.reset(); // its connections end
    EXPECT_FALSE(one.is_gone(1));
    one.met(1, other->key());
    EXPECT_FALSE(one.is_gone(1));
    other.reset();
    EXPECT_TRUE(one.is_gone(1));
}
