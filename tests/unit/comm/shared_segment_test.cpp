// SPDX-License-Identifier: Apache-2.0
// Memory of one process, found again by another.
#include "comm/shared_segment.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

using causeway::comm::segment_address;
using causeway::comm::shared_segment;

namespace {
int interruptions = 0;
} // namespace

/// In place of the C library's. Signals interrupt it as often, as in kernels in which not only those that end the
/// process do.
extern "C" int fallocate(int file, int mode, off_t offset, off_t bytes) {
    if (interruptions == 0) return static_cast<int>(syscall(SYS_fallocate, file, mode, offset, bytes));
    --interruptions;
    errno = EINTR;
    return -1;
}

TEST(shared_segment, is_the_same_memory_wherever_it_is_opened) {
    const auto own = shared_segment::create(5000);
    const auto found = shared_segment::open(own->address());
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(own->address().bytes, 8192u);
    EXPECT_NE(found->memory(), own->memory());
    std::memcpy(own->memory() + 4990, "text", 5);
    EXPECT_STREQ(reinterpret_cast<const char*>(found->memory() + 4990), "text");
}

TEST(shared_segment, has_all_its_pages_from_its_start) {
    constexpr std::size_t bytes = 4 << 20;
    const auto faults = [] {
        rusage used{};
        getrusage(RUSAGE_THREAD, &used);
        return used.ru_minflt;
    };
    const auto own = shared_segment::create(bytes);
    const auto found = shared_segment::open(own->address());
    ASSERT_NE(found, nullptr);
    const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(zeros, 0);
    const auto before = faults();
    // By the kernel: a sanitizer would meet faults in memory of its own.
    for (auto* const memory : {own->memory(), found->memory()})
        EXPECT_EQ(syscall(SYS_read, zeros, memory, bytes), static_cast<long>(bytes));
    EXPECT_LT(faults() - before, 32); // of 2,048 pages
    close(zeros);
}

TEST(shared_segment, that_is_reserved_has_pages_where_they_are_committed) {
    constexpr std::size_t bytes = 64 << 20, committed = 1 << 20;
    const auto own = shared_segment::reserve(bytes);
    const auto found = shared_segment::open(own->address());
    ASSERT_NE(found, nullptr);
    const auto bytes_there = [&] {
        struct stat facts{};
        EXPECT_EQ(fstat(own->address().descriptor, &facts), 0);
        return static_cast<std::size_t>(facts.st_blocks) * 512;
    };
    EXPECT_LE(bytes_there(), std::size_t{1} << 16);
    own->commit(4096, committed);
    EXPECT_GE(bytes_there(), committed);
    EXPECT_LT(bytes_there(), 2 * committed);
    found->memory()[bytes - 1] = std::byte{7}; // touched without
    EXPECT_EQ(own->memory()[bytes - 1], std::byte{7});
}

TEST(shared_segment, gets_its_pages_though_signals_come) {
    interruptions = 3;
    const auto own = shared_segment::create(8192);
    EXPECT_EQ(interruptions, 0);
    const auto reserved = shared_segment::reserve(8 << 20);
    interruptions = 3;
    reserved->commit(0, 5 << 20);
    EXPECT_EQ(interruptions, 0);
}

TEST(shared_segment, tells_which_of_its_parts_may_have_pages) {
    const std::size_t bytes = 64 << 20, part = 2 << 20; // no page is larger
    const auto own = shared_segment::reserve(bytes);
    own->memory()[3 * part + 5] = std::byte{1};
    own->memory()[bytes - 1] = std::byte{1};
    std::size_t told = 0;
    bool has_first = false, has_last = false;
    for (const auto& [first, end] : own->parts_with_pages()) {
        ASSERT_LE(end, bytes);
        told += end - first;
        has_first |= first <= 3 * part + 5 && 3 * part + 5 < end;
        has_last |= first <= bytes - 1 && bytes - 1 < end;
    }
    EXPECT_TRUE(has_first && has_last);
    EXPECT_LE(told, 2 * part);
    close(own->address().descriptor); // a program that closes what it does not know
    const auto all = own->parts_with_pages();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0], (std::pair<std::size_t, std::size_t>(0, bytes)));
}

TEST(shared_segment, of_another_process_is_found_while_that_lives_and_stays_while_it_is_mapped) {
    int ready[2], over[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(over), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto own = shared_segment::create(4096);
        std::memcpy(own->memory(), "child", 6);
        const auto address = own->address();
        char end = 0;
        const bool told = write(ready[1], &address, sizeof address) == sizeof address && read(over[0], &end, 1) == 1;
        _exit(told ? 0 : 1);
    }
    segment_address address;
    ASSERT_EQ(read(ready[0], &address, sizeof address), static_cast<ssize_t>(sizeof address));
    EXPECT_EQ(address.process, child);
    const auto found = shared_segment::open(address);
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(write(over[1], "", 1), 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_STREQ(reinterpret_cast<const char*>(found->memory()), "child");
    EXPECT_EQ(shared_segment::open(address), nullptr);
    for (const int each : {ready[0], ready[1], over[0], over[1]}) close(each);
}

TEST(shared_segment, is_not_taken_for_another_one) {
    auto own = shared_segment::create(4096);
    auto wrong = own->address();
    ++wrong.key;
    EXPECT_EQ(shared_segment::open(wrong), nullptr) << "another key";
    wrong = own->address();
    wrong.bytes *= 2;
    EXPECT_EQ(shared_segment::open(wrong), nullptr) << "another size";
    wrong = own->address();
    wrong.descriptor = STDERR_FILENO;
    EXPECT_EQ(shared_segment::open(wrong), nullptr) << "another file";
    const auto gone = own->address();
    own.reset();
    EXPECT_EQ(shared_segment::open(gone), nullptr) << "gone";
    const auto next = shared_segment::create(4096); // takes the descriptor's number
    EXPECT_EQ(shared_segment::open(gone), nullptr) << "another segment under its number";
}

TEST(shared_segment, has_all_of_its_memory_from_the_start) {
    const auto own = shared_segment::create(1 << 20);
    struct stat facts{};
    ASSERT_EQ(fstat(own->address().descriptor, &facts), 0);
    EXPECT_GE(facts.st_blocks * 512, 1 << 20) << "what is missing later ends the process";
}

TEST(shared_segment, cannot_be_shrunk_under_those_who_map_it) {
    const auto own = shared_segment::create(4096);
    EXPECT_NE(ftruncate(own->address().descriptor, 0), 0);
}

TEST(shared_segment, is_for_its_own_user_alone) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    constexpr uid_t nobody = 65534;
    const auto own = shared_segment::create(4096);
    const auto opened_by = [&](uid_t user) {
        const pid_t child = fork();
        if (child == 0) {
            if (user != 0 && (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)) _exit(2);
            _exit(shared_segment::open(own->address()) ? 1 : 0);
        }
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        return WEXITSTATUS(status);
    };
    EXPECT_EQ(opened_by(0), 1);
    EXPECT_EQ(opened_by(nobody), 0);
}
