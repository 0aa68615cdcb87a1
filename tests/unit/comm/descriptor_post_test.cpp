// SPDX-License-Identifier: Apache-2.0
// Descriptors from one rank to another.
#include "comm/descriptor_post.hpp"

#include "comm/abstract_address.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>

#include <memory>
#include <string>

using causeway::comm::descriptor_post;

namespace {

std::string job() { return "unit-post-" + std::to_string(::getpid()); }

struct file {
    explicit file(char content) : number(::memfd_create("unit", MFD_CLOEXEC)) {
        EXPECT_EQ(::pwrite(number, &content, 1, 0), 1);
    }
    ~file() { ::close(number); }
    int number;
};

char content_of(int descriptor) {
    char found = 0;
    EXPECT_EQ(::pread(descriptor, &found, 1, 0), 1);
    ::close(descriptor);
    return found;
}

} // namespace

TEST(descriptor_post, is_taken_by_its_number_in_any_order) {
    descriptor_post a(job(), 0), b(job(), 1);
    const file one('1'), two('2');
    ASSERT_TRUE(a.send(1, 11, one.number));
    ASSERT_TRUE(a.send(1, 22, two.number));
    const int second = b.take(22);
    EXPECT_NE(::fcntl(second, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(content_of(second), '2');
    EXPECT_EQ(b.take(22), -1) << "once";
    EXPECT_EQ(content_of(b.take(11)), '1');
    EXPECT_EQ(b.take(33), -1);
}

TEST(descriptor_post, outlives_the_descriptor_that_was_sent) {
    descriptor_post a(job(), 0), b(job(), 1);
    {
        const file gone('x');
        ASSERT_TRUE(a.send(1, 1, gone.number));
    }
    EXPECT_EQ(content_of(b.take(1)), 'x');
}

TEST(descriptor_post, to_nobody_is_refused) {
    descriptor_post a(job(), 0);
    const file one('1');
    EXPECT_FALSE(a.send(5, 1, one.number));
    auto gone = std::make_unique<descriptor_post>(job(), 1);
    gone.reset();
    EXPECT_FALSE(a.send(1, 1, one.number));
}

TEST(descriptor_post, leaves_out_what_is_no_letter) {
    descriptor_post a(job(), 0), b(job(), 1);
    const int stranger = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const causeway::comm::abstract_address where("causeway-post", job(), 1);
    const std::string noise = "not eight bytes, and no descriptor";
    EXPECT_GT(::sendto(stranger, noise.data(), noise.size(), 0, where.get(), where.length), 0);
    const std::uint64_t key = 7;
    EXPECT_GT(::sendto(stranger, &key, sizeof key, 0, where.get(), where.length), 0) << "a number without a descriptor";
    ::close(stranger);
    const file one('1');
    ASSERT_TRUE(a.send(1, 9, one.number));
    EXPECT_EQ(b.take(7), -1);
    EXPECT_EQ(content_of(b.take(9)), '1');
}

TEST(descriptor_post, never_waits_for_one_that_takes_nothing) {
    descriptor_post a(job(), 0), b(job(), 1);
    const file one('1');
    bool refused = false;
    for (std::uint64_t key = 1; key < 100000 && !refused; ++key) refused = !a.send(1, key, one.number);
    EXPECT_TRUE(refused);
}
