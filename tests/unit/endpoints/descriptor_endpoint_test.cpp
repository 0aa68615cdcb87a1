// SPDX-License-Identifier: Apache-2.0
// The end of a transfer to a file: who closes it, and who hears that it failed.
#include "endpoints/file/file_endpoint.hpp"
#include "unit/endpoints/file_doubles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <vector>

using namespace causeway;

namespace {

/// What a file system writes without waiting; none that does not say.
std::optional<std::size_t> written_at_once;

} // namespace

/// Instead of the system's: few file systems know RWF_NOWAIT for writes.
extern "C" ssize_t pwritev64v2(int fd, const iovec* parts, int, off64_t offset, int) {
    if (written_at_once) return ::pwrite(fd, parts->iov_base, std::min(*written_at_once, parts->iov_len), offset);
    errno = EOPNOTSUPP;
    return -1;
}

namespace {

bool is_in_memory(int fd) {
    struct statfs facts{};
    return ::fstatfs(fd, &facts) == 0 && facts.f_type == TMPFS_MAGIC;
}

class descriptor_endpoint : public testing::Test {
  protected:
    /// An endpoint of its own descriptor, of which the number is in `m_own`.
    std::unique_ptr<transfer::endpoint> open(int file, endpoints::access mode) { return open(file, mode, m_workers); }
    std::unique_ptr<transfer::endpoint> open(int file, endpoints::access mode, transfer::worker_pool& workers,
                                             std::size_t bytes = 4) {
        m_own = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
        ::close(m_own); // the next to be given away
        auto made = endpoints::make_descriptor_endpoint({m_settings, workers, m_turns}, file, 0, bytes, mode);
        m_ended.work.begin();
        return made;
    }

    options m_settings;
    patient_workers m_workers;
    transfer::ordered_gate m_turns;
    waiter m_opened, m_ended;
    int m_own = -1;
};

} // namespace

TEST_F(descriptor_endpoint, is_closed_by_a_worker_where_that_may_take_long) {
    const strange_file file;
    const auto target = open(file.fd, endpoints::access::write);
    target->open({.bytes = 4, .block_bytes = 4}, m_opened.work);
    target->close(4, {}, m_ended.work);
    EXPECT_EQ(m_ended.told, 0) << "nobody has closed it yet";
    EXPECT_GE(::fcntl(m_own, F_GETFD), 0);
    ASSERT_EQ(m_workers.jobs.size(), 1u);
    m_workers.finish_first();
    EXPECT_EQ(m_ended.told, 1);
    EXPECT_FALSE(m_ended.work.take().error);
    EXPECT_LT(::fcntl(m_own, F_GETFD), 0);
    EXPECT_THAT(target->name(), testing::HasSubstr("/comm")) << "it is still told of";
}

TEST_F(descriptor_endpoint, tells_that_closing_what_was_written_failed) {
    const strange_file file;
    const auto target = open(file.fd, endpoints::access::write);
    target->open({.bytes = 4, .block_bytes = 4}, m_opened.work);
    target->close(4, {}, m_ended.work);
    ::close(m_own); // so that it fails, as it does on another machine that has no room
    m_workers.finish_first();
    const auto result = m_ended.work.take();
    EXPECT_EQ(result.error.status, status::io_error);
    EXPECT_EQ(result.error.error_number, EBADF);
    EXPECT_THAT(result.error.message, testing::HasSubstr("closing it: "));
}

TEST_F(descriptor_endpoint, hears_nothing_of_closing_what_was_read) {
    const strange_file file;
    const auto source = open(file.fd, endpoints::access::read);
    source->open({.bytes = 4, .block_bytes = 4, .is_source = true}, m_opened.work);
    source->close(4, {}, m_ended.work);
    ::close(m_own);
    m_workers.finish_first();
    EXPECT_FALSE(m_ended.work.take().error);
}

TEST_F(descriptor_endpoint, is_closed_though_no_thread_can_be_made_for_that) {
    for (const bool has_file_workers : {true, false}) {
        no_workers none;
        none.has_file_workers = has_file_workers;
        const strange_file file;
        const auto target = open(file.fd, endpoints::access::write, none);
        target->open({.bytes = 4, .block_bytes = 4}, m_opened.work);
        target->close(4, {}, m_ended.work);
        EXPECT_FALSE(m_ended.work.take().error) << "all bytes have moved";
        EXPECT_LT(::fcntl(m_own, F_GETFD), 0);
        EXPECT_EQ(none.asked, 2);
    }
}

TEST_F(descriptor_endpoint, needs_no_worker_where_closing_only_lets_go) {
    const int file = ::memfd_create("causeway-test", MFD_CLOEXEC);
    const auto target = open(file, endpoints::access::write);
    target->open({.bytes = 4, .block_bytes = 4}, m_opened.work);
    target->close(4, {}, m_ended.work);
    EXPECT_EQ(m_ended.told, 1);
    EXPECT_TRUE(m_workers.jobs.empty());
    ::close(file);
}

TEST_F(descriptor_endpoint, writes_little_to_a_file_in_memory_without_a_worker) {
    const int file = ::memfd_create("causeway-test", MFD_CLOEXEC);
    const auto target = open(file, endpoints::access::write);
    target->open({.bytes = 4, .block_bytes = 4}, m_opened.work);
    waiter written;
    written.work.begin();
    target->write(0, transfer::block_reference::to_write(std::as_bytes(std::span("abc"))), written.work);
    EXPECT_EQ(written.told, 1);
    EXPECT_TRUE(m_workers.jobs.empty());
    EXPECT_EQ(written.work.take().bytes, 4u);
    char found[4] = "";
    EXPECT_EQ(::pread(file, found, 4, 0), 4);
    EXPECT_STREQ(found, "abc");
    ::close(file);
}

TEST_F(descriptor_endpoint, tells_at_once_why_that_failed) {
    const int file = ::memfd_create("causeway-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const auto target = open(file, endpoints::access::write);
    ASSERT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), 0);
    target->open({.bytes = 4, .block_bytes = 4}, m_opened.work);
    waiter written;
    written.work.begin();
    target->write(0, transfer::block_reference::to_write(std::as_bytes(std::span("abc"))), written.work);
    EXPECT_TRUE(m_workers.jobs.empty());
    const auto result = written.work.take();
    EXPECT_EQ(result.error.status, status::io_error);
    EXPECT_EQ(result.error.error_number, EPERM);
    ::close(file);
}

TEST_F(descriptor_endpoint, leaves_more_than_that_to_workers) {
    const int file = ::memfd_create("causeway-test", MFD_CLOEXEC);
    const std::vector<std::byte> block((std::size_t{64} << 10) + 1);
    const auto target = endpoints::make_descriptor_endpoint({m_settings, m_workers, m_turns}, file, 0, block.size(),
                                                            endpoints::access::write);
    target->open({.bytes = block.size(), .block_bytes = block.size()}, m_opened.work);
    waiter written;
    written.work.begin();
    target->write(0, transfer::block_reference::to_write(block), written.work);
    EXPECT_EQ(written.told, 0);
    ASSERT_EQ(m_workers.jobs.size(), 1u);
    m_workers.finish_first();
    EXPECT_EQ(written.work.take().bytes, block.size());
    ::close(file);
}

TEST_F(descriptor_endpoint, leaves_to_a_worker_what_would_have_to_wait_for_a_disk) {
    const scratch_file file;
    if (is_in_memory(file.fd)) GTEST_SKIP() << "files for tests lie in memory";
    for (const auto at_once : {std::optional<std::size_t>(), std::optional<std::size_t>(0),
                               std::optional<std::size_t>(3), std::optional<std::size_t>(4)}) {
        written_at_once = at_once;
        ASSERT_EQ(::ftruncate(file.fd, 0), 0);
        const auto target = open(file.fd, endpoints::access::write);
        target->open({.bytes = 4, .block_bytes = 4}, m_opened.work);
        waiter written;
        written.work.begin();
        target->write(0, transfer::block_reference::to_write(std::as_bytes(std::span("abc"))), written.work);
        EXPECT_EQ(m_workers.jobs.size(), at_once == std::size_t{4} ? 0u : 1u);
        if (!m_workers.jobs.empty()) m_workers.finish_first();
        const auto result = written.work.take();
        EXPECT_FALSE(result.error);
        EXPECT_EQ(result.bytes, 4u);
        char found[4] = "";
        EXPECT_EQ(::pread(file.fd, found, 4, 0), 4);
        EXPECT_STREQ(found, "abc");
    }
    written_at_once.reset();
}

TEST_F(descriptor_endpoint, ends_when_the_disk_has_what_was_being_sent_on_beside_the_writer) {
    const scratch_file file;
    if (is_in_memory(file.fd)) GTEST_SKIP() << "needs a folder for temporary files that is on a disk";
    constexpr std::size_t bytes = std::size_t{64} << 20;
    const std::vector<std::byte> block(std::size_t{4} << 20);
    const auto target = open(file.fd, endpoints::access::write, m_workers, bytes);
    target->open({.bytes = bytes, .block_bytes = block.size()}, m_opened.work);
    waiter written[2];
    for (std::size_t i = 0; i < 2; ++i) {
        written[i].work.begin();
        target->write(i * block.size(), transfer::block_reference::to_write(block), written[i].work);
        EXPECT_EQ(m_workers.own_workers, static_cast<int>(i)) << "once there is something on the way to the disk";
        m_workers.finish_first();
        ASSERT_EQ(written[i].told, 1);
    }
    target->close(2 * block.size(), {}, m_ended.work);
    EXPECT_EQ(m_ended.told, 0) << "the descriptor is in use";
    EXPECT_GE(::fcntl(m_own, F_GETFD), 0);
    ASSERT_EQ(m_workers.jobs.size(), 1u);
    m_workers.finish_first();
    EXPECT_EQ(m_ended.told, 1);
    EXPECT_FALSE(m_ended.work.take().error);
}
