// SPDX-License-Identifier: Apache-2.0
// Notes and descriptors from one rank to another, and nobody else's.
#include "comm/node_post.hpp"

#include "unit/stranger.hpp"

#include <gtest/gtest.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using causeway::comm::abstract_address;
using causeway::comm::node_post;
using causeway::comm::socket_key;

namespace {

struct rank {
    explicit rank(int number) : number(number) {}
    void meet(const rank& other) { post.know(other.number, other.key); }
    int number;
    socket_key key = socket_key::make();
    node_post post{key, number};
};

struct two_ranks {
    two_ranks() {
        a.meet(b);
        b.meet(a);
    }
    rank a{0}, b{1};
};

struct file {
    explicit file(char content) : number(::memfd_create("unit", MFD_CLOEXEC)) {
        EXPECT_EQ(::pwrite(number, &content, 1, 0), 1);
    }
    ~file() { ::close(number); }
    int number;
};

char content_of(const causeway::descriptor& from) {
    char found = 0;
    EXPECT_EQ(::pread(from.get(), &found, 1, 0), 1);
    return found;
}

std::vector<std::byte> text(const std::string& words) {
    const auto* const first = reinterpret_cast<const std::byte*>(words.data());
    return {first, first + words.size()};
}

int open_descriptors() {
    int count = 0;
    auto* const all = ::opendir("/proc/self/fd");
    while (::readdir(all) != nullptr) ++count;
    ::closedir(all);
    return count;
}

abstract_address address_of(const rank& which) { return {"causeway-post", which.key}; }

/// A packet as ranks send them, with so many descriptors.
bool send_packet(int socket, std::int32_t from, std::size_t bytes, std::size_t descriptors) {
    std::vector<char> body(sizeof from + bytes, 'x');
    std::memcpy(body.data(), &from, sizeof from);
    iovec part{body.data(), body.size()};
    std::vector<int> numbers(descriptors, STDERR_FILENO);
    alignas(cmsghdr) std::array<char, CMSG_SPACE(64 * sizeof(int))> ancillary{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptors > 0) {
        header.msg_control = ancillary.data();
        header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        auto* const rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        std::memcpy(CMSG_DATA(rights), numbers.data(), descriptors * sizeof(int));
    }
    return ::sendmsg(socket, &header, MSG_NOSIGNAL) >= 0;
}

int connected_to(const rank& which) {
    const int made = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const auto where = address_of(which);
    return ::connect(made, where.get(), where.length) == 0 ? made : -1;
}

} // namespace

TEST(node_post, brings_notes_in_order_and_descriptors_with_them) {
    two_ranks both;
    const file one('1');
    ASSERT_EQ(both.a.post.send(1, text("first"), one.number), node_post::delivery::done);
    ASSERT_EQ(both.a.post.send(1, text("second")), node_post::delivery::done);
    const auto first = both.b.post.take(), second = both.b.post.take();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->text, text("first"));
    EXPECT_EQ(first->from, 0);
    EXPECT_NE(::fcntl(first->enclosed.get(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(content_of(first->enclosed), '1');
    EXPECT_EQ(second->text, text("second"));
    EXPECT_EQ(second->enclosed.get(), -1);
    EXPECT_FALSE(both.b.post.take()) << "once";
}

TEST(node_post, reaches_ranks_whose_key_is_known_and_those_that_have_sent_notes) {
    rank a(0), b(1);
    EXPECT_EQ(a.post.send(1, text("?")), node_post::delivery::never);
    a.meet(b);
    ASSERT_EQ(a.post.send(1, text("b")), node_post::delivery::done);
    EXPECT_EQ(b.post.send(0, text("a")), node_post::delivery::never) << "nothing has been taken from it yet";
    EXPECT_EQ(b.post.take()->text, text("b"));
    ASSERT_EQ(b.post.send(0, text("a")), node_post::delivery::done);
    EXPECT_EQ(a.post.take()->text, text("a"));
}

TEST(node_post, keeps_the_order_of_ranks_that_have_connected_to_each_other_at_once) {
    two_ranks both;
    ASSERT_EQ(both.a.post.send(1, text("a1")), node_post::delivery::done);
    ASSERT_EQ(both.b.post.send(0, text("b1")), node_post::delivery::done);
    EXPECT_EQ(both.a.post.take()->text, text("b1"));
    for (const char* const each : {"a2", "a3", "a4"})
        ASSERT_EQ(both.a.post.send(1, text(each)), node_post::delivery::done);
    for (const char* const each : {"a1", "a2", "a3", "a4"}) EXPECT_EQ(both.b.post.take()->text, text(each));
}

TEST(node_post, keeps_a_descriptor_that_its_sender_has_closed) {
    two_ranks both;
    {
        const file gone('x');
        ASSERT_EQ(both.a.post.send(1, text("it"), gone.number), node_post::delivery::done);
    }
    EXPECT_EQ(content_of(both.b.post.take()->enclosed), 'x');
}

TEST(node_post, to_nobody_is_never_delivered) {
    rank a(0);
    {
        const rank gone(1);
        a.meet(gone);
    }
    EXPECT_EQ(a.post.send(1, text("?")), node_post::delivery::never);
    auto left = std::make_unique<rank>(2);
    a.meet(*left);
    ASSERT_EQ(a.post.send(2, text("?")), node_post::delivery::done);
    left.reset();
    EXPECT_EQ(a.post.send(2, text("?")), node_post::delivery::never);
}

TEST(node_post, never_waits_for_one_that_takes_nothing) {
    two_ranks both;
    auto last = node_post::delivery::done;
    for (int i = 0; i < 100000 && last == node_post::delivery::done; ++i) last = both.a.post.send(1, text("it"));
    EXPECT_EQ(last, node_post::delivery::later);
    EXPECT_TRUE(both.b.post.take());
    for (int i = 0; i < 100 && last != node_post::delivery::done; ++i) {
        (void)both.b.post.take();
        last = both.a.post.send(1, text("it"));
    }
    EXPECT_EQ(last, node_post::delivery::done);
}

TEST(node_post, hears_nobody_more_who_sends_what_no_rank_does) {
    const struct {
        const char* what;
        std::int32_t from;
        std::size_t bytes, descriptors;
    } cases[] = {{"a text that is too long", 0, node_post::largest_text + 1, 1},
                 {"two descriptors", 0, 4, 2},
                 {"more descriptors than there is room for", 0, 4, 50},
                 {"no rank", -7, 4, 1}};
    two_ranks both;
    const int before = open_descriptors();
    for (const auto& each : cases) {
        SCOPED_TRACE(each.what);
        for (int i = 0; i < 20; ++i) {
            const int other = connected_to(both.b);
            ASSERT_TRUE(send_packet(other, each.from, each.bytes, each.descriptors));
            ASSERT_TRUE(send_packet(other, 0, 4, 0));
            EXPECT_FALSE(both.b.post.take());
            ::close(other);
        }
        EXPECT_EQ(open_descriptors(), before) << "all that came along is closed";
    }
    ASSERT_EQ(both.a.post.send(1, text("it")), node_post::delivery::done);
    EXPECT_EQ(both.b.post.take()->text, text("it"));
}

TEST(node_post, hears_nobody_more_who_speaks_for_two_ranks) {
    two_ranks both;
    const int other = connected_to(both.b);
    ASSERT_TRUE(send_packet(other, 5, 4, 0));
    ASSERT_TRUE(send_packet(other, 6, 4, 0));
    EXPECT_EQ(both.b.post.take()->from, 5);
    EXPECT_FALSE(both.b.post.take());
    ::close(other);
}

TEST(node_post, takes_nothing_from_other_users) {
    if (!unit::may_change_user()) GTEST_SKIP() << "only root can become another user";
    two_ranks both;
    const int before = open_descriptors();
    {
        const unit::stranger other([&] {
            for (int i = 0; i < 100; ++i) {
                const int line = connected_to(both.b); // which it reads in /proc/net/unix
                if (line < 0 || !send_packet(line, 0, 4, 1 + i % 3)) return false;
            }
            return true;
        });
        for (int i = 0; i < 10; ++i) EXPECT_FALSE(both.b.post.take());
        EXPECT_LE(open_descriptors(), before + 1) << "the test's own pipe";
        ASSERT_EQ(both.a.post.send(1, text("it")), node_post::delivery::done);
        EXPECT_EQ(both.b.post.take()->text, text("it"));
    }
}

TEST(node_post, sends_nothing_to_other_users) {
    if (!unit::may_change_user()) GTEST_SKIP() << "only root can become another user";
    rank a(0);
    const auto key = socket_key::make();
    const unit::stranger other([&] {
        const auto made = causeway::comm::listen_at(abstract_address("causeway-post", key), SOCK_SEQPACKET);
        return ::dup(made.get()) >= 0;
    });
    a.post.know(1, key);
    const file secret('s');
    EXPECT_EQ(a.post.send(1, text("it"), secret.number), node_post::delivery::never);
}
