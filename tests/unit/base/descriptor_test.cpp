// SPDX-License-Identifier: Apache-2.0
// Who closes a descriptor, and when.
#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

using namespace causeway;

namespace {

descriptor some_file() { return descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }
bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

} // namespace

TEST(descriptor, is_closed_with_its_last_owner) {
    int number = -1;
    {
        auto first = some_file();
        number = first.get();
        const auto second = std::move(first);
        EXPECT_EQ(first.get(), -1);
        EXPECT_TRUE(is_open(number));
    }
    EXPECT_FALSE(is_open(number));
}

TEST(descriptor, that_is_replaced_is_closed) {
    auto one = some_file();
    const int number = one.get();
    one = descriptor();
    EXPECT_FALSE(is_open(number));
}

TEST(descriptor, that_is_released_stays_open) {
    auto one = some_file();
    const int number = one.release();
    one = descriptor();
    ASSERT_TRUE(is_open(number));
    ::close(number);
}

TEST(descriptor, is_copied_for_this_program_alone) {
    auto one = some_file();
    const auto other = descriptor::copy_of(one.get());
    EXPECT_EQ(one.close(), 0);
    EXPECT_NE(::fcntl(other.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(descriptor, is_above_the_standard_ones_whoever_made_it) {
    // Where standard input is closed, what is opened next is descriptor 0.
    const int kept = ::fcntl(0, F_DUPFD_CLOEXEC, 100);
    ::close(0);
    const auto opened = some_file();
    const bool is_free_after_open = !is_open(0);
    const auto copied = descriptor::copy_of(opened.get());
    int ends[2] = {-1, -1};
    const int piped = ::pipe(ends);
    const descriptor out(ends[0]), in(ends[1]);
    const bool is_free = !is_open(0);
    if (kept >= 0) {
        ::dup2(kept, 0);
        ::close(kept);
    }
    EXPECT_TRUE(is_free_after_open);
    EXPECT_TRUE(is_free);
    EXPECT_EQ(piped, 0);
    for (const int each : {opened.get(), copied.get(), out.get(), in.get()}) EXPECT_GT(each, 2);
    EXPECT_NE(::fcntl(opened.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(descriptor, that_could_not_be_opened_stays_none_and_leaves_the_reason) {
    errno = ENOENT;
    const descriptor none(-1);
    EXPECT_EQ(none.get(), -1);
    EXPECT_EQ(errno, ENOENT);
}

TEST(descriptor, says_why_it_cannot_be_copied_or_closed) {
    try {
        (void)descriptor::copy_of(-1);
        FAIL() << "it was copied";
    } catch (const transfer_error& error) {
        EXPECT_EQ(error.as_failure().error_number, EBADF);
        EXPECT_STREQ(error.what(), "duplicating descriptor -1: Bad file descriptor");
    }
    auto one = some_file();
    ::close(one.get());
    EXPECT_EQ(one.close(), EBADF);
    EXPECT_EQ(one.close(), 0) << "there is nothing left to close";
}
