// SPDX-License-Identifier: Apache-2.0
// Notes and descriptors from one rank to another.
#include "comm/node_post.hpp"

#include "comm/abstract_address.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>

#include <memory>
#include <string>
#include <vector>

using causeway::comm::node_post;

namespace {

std::string job() { return "unit-post-" + std::to_string(::getpid()); }

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

} // namespace

TEST(node_post, brings_notes_in_order_and_descriptors_with_them) {
    node_post a(job(), 0), b(job(), 1);
    const file one('1');
    ASSERT_EQ(a.send(1, text("first"), one.number), node_post::delivery::done);
    ASSERT_EQ(a.send(1, text("second")), node_post::delivery::done);
    const auto first = b.take(), second = b.take();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->text, text("first"));
    EXPECT_NE(::fcntl(first->enclosed.get(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(content_of(first->enclosed), '1');
    EXPECT_EQ(second->text, text("second"));
    EXPECT_EQ(second->enclosed.get(), -1);
    EXPECT_FALSE(b.take()) << "once";
}

TEST(node_post, tells_ranks_of_a_job_with_a_long_name_apart) {
    const auto name = job() + std::string(200, 'x');
    node_post a(name, 0), b(name, 1), of_another_job(name + "y", 2);
    ASSERT_EQ(a.send(1, text("b")), node_post::delivery::done);
    ASSERT_EQ(b.send(0, text("a")), node_post::delivery::done);
    EXPECT_EQ(a.send(2, text("c")), node_post::delivery::never);
    EXPECT_EQ(b.take()->text, text("b"));
    EXPECT_EQ(a.take()->text, text("a"));
}

TEST(node_post, keeps_a_descriptor_that_its_sender_has_closed) {
    node_post a(job(), 0), b(job(), 1);
    {
        const file gone('x');
        ASSERT_EQ(a.send(1, text("it"), gone.number), node_post::delivery::done);
    }
    EXPECT_EQ(content_of(b.take()->enclosed), 'x');
}

TEST(node_post, to_nobody_is_never_delivered) {
    node_post a(job(), 0);
    EXPECT_EQ(a.send(5, text("?")), node_post::delivery::never);
    auto gone = std::make_unique<node_post>(job(), 1);
    gone.reset();
    EXPECT_EQ(a.send(1, text("?")), node_post::delivery::never);
}

TEST(node_post, leaves_out_what_is_too_long) {
    node_post a(job(), 0), b(job(), 1);
    const int stranger = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const causeway::comm::abstract_address where("causeway-post", job(), 1);
    const std::string noise(node_post::largest_text + 1, 'x');
    EXPECT_GT(::sendto(stranger, noise.data(), noise.size(), 0, where.get(), where.length), 0);
    ::close(stranger);
    ASSERT_EQ(a.send(1, text("it")), node_post::delivery::done);
    EXPECT_EQ(b.take()->text, text("it"));
}

TEST(node_post, never_waits_for_one_that_takes_nothing) {
    node_post a(job(), 0), b(job(), 1);
    auto last = node_post::delivery::done;
    for (int i = 0; i < 100000 && last == node_post::delivery::done; ++i) last = a.send(1, text("it"));
    EXPECT_EQ(last, node_post::delivery::later);
    EXPECT_TRUE(b.take());
    EXPECT_EQ(a.send(1, text("it")), node_post::delivery::done);
}
