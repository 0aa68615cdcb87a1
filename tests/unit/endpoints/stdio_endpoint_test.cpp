// SPDX-License-Identifier: Apache-2.0
// Who does the work on a stream before and after its bytes move.
#include "endpoints/file/file_endpoint.hpp"
#include "unit/endpoints/file_doubles.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

using namespace causeway;

namespace {

class stdio_endpoint : public testing::Test {
  protected:
    /// Of four bytes, from the stream's begin.
    std::unique_ptr<transfer::endpoint> open(int file) {
        m_stream.reset(::fdopen(::fcntl(file, F_DUPFD_CLOEXEC, 0), "r"));
        return open_stream(endpoints::access::read);
    }
    std::unique_ptr<transfer::endpoint> open_stream(endpoints::access mode) {
        auto made = endpoints::make_stdio_endpoint(m_services, m_stream.get(), mode);
        made->offers().waits->enqueued();
        made->open({.bytes = 4, .block_bytes = 4, .is_source = mode == endpoints::access::read}, m_opened.work);
        return made;
    }
    void finish_jobs() {
        while (!m_workers.jobs.empty()) m_workers.finish_first();
    }

    std::unique_ptr<std::FILE, int (*)(std::FILE*)> m_stream{nullptr, std::fclose};
    options m_settings;
    patient_workers m_workers;
    transfer::ordered_gate m_turns;
    endpoints::file_services m_services{m_settings, m_workers, m_turns};
    waiter m_opened, m_moved, m_ended;
    std::array<std::byte, 4> m_block{};
};

} // namespace

TEST_F(stdio_endpoint, sets_the_position_at_once_in_a_file_of_this_machine) {
    const scratch_file file;
    ASSERT_EQ(::pwrite(file.fd, "causeway", 8, 0), 8);
    const auto source = open(file.fd);
    EXPECT_EQ(m_opened.told, 1);
    source->read(0, m_block, m_moved.work);
    finish_jobs();
    source->close(4, {}, m_ended.work);
    EXPECT_EQ(m_ended.told, 1);
    EXPECT_EQ(std::fgetc(m_stream.get()), 'e');
}

TEST_F(stdio_endpoint, writes_little_to_a_file_in_memory_at_once) {
    const int file = ::memfd_create("causeway-test", MFD_CLOEXEC);
    m_stream.reset(::fdopen(file, "w+"));
    const auto target = open_stream(endpoints::access::write);
    EXPECT_EQ(m_opened.told, 1);
    target->write(0, m_block, m_moved.work);
    EXPECT_EQ(m_moved.told, 1);
    target->close(4, {}, m_ended.work);
    EXPECT_EQ(m_ended.told, 1);
    EXPECT_TRUE(m_workers.jobs.empty());
    EXPECT_EQ(std::ftell(m_stream.get()), 4);
    EXPECT_EQ(::lseek(file, 0, SEEK_END), 4);
}

TEST_F(stdio_endpoint, leaves_what_stdio_has_to_write_first_to_a_worker) {
    const int file = ::memfd_create("causeway-test", MFD_CLOEXEC);
    m_stream.reset(::fdopen(file, "w+"));
    ASSERT_NE(std::fputs("before", m_stream.get()), EOF);
    const auto target = open_stream(endpoints::access::write);
    EXPECT_EQ(m_opened.told, 0);
    finish_jobs();
    EXPECT_EQ(m_opened.told, 1);
    target->write(0, m_block, m_moved.work);
    target->close(4, {}, m_ended.work);
    EXPECT_EQ(m_ended.told, 1);
    EXPECT_EQ(std::ftell(m_stream.get()), 10);
    EXPECT_EQ(::lseek(file, 0, SEEK_END), 10);
}

TEST_F(stdio_endpoint, does_not_blame_an_older_error_for_a_stream_that_says_nothing) {
    // Functions of the program's own need not set errno (fopencookie(3)).
    const cookie_io_functions_t silent{.read = [](void*, char*, std::size_t) -> ssize_t { return -1; },
                                       .write = [](void*, const char*, std::size_t) -> ssize_t { return 0; },
                                       .seek = nullptr,
                                       .close = nullptr};
    for (const auto mode : {endpoints::access::read, endpoints::access::write}) {
        const bool reads = mode == endpoints::access::read;
        m_stream.reset(::fopencookie(nullptr, reads ? "r" : "w", silent));
        const auto made = endpoints::make_stdio_endpoint(m_services, m_stream.get(), mode);
        made->offers().waits->enqueued();
        waiter opened, moved, ended;
        opened.work.begin();
        made->open({.bytes = 4, .block_bytes = 4, .is_source = reads}, opened.work);
        finish_jobs();
        moved.work.begin();
        reads ? made->read(0, m_block, moved.work) : made->write(0, m_block, moved.work);
        errno = EPERM;
        finish_jobs();
        ASSERT_EQ(moved.told, 1);
        EXPECT_EQ(moved.work.take().error.error_number, reads ? EIO : ENOSPC);
        ended.work.begin();
        made->close(0, {}, ended.work);
        finish_jobs();
    }
}

TEST_F(stdio_endpoint, leaves_the_position_in_a_file_of_another_machine_to_a_worker) {
    const strange_file file;
    const auto source = open(file.fd);
    EXPECT_EQ(m_opened.told, 0) << "asking for it may wait for the other machine";
    ASSERT_EQ(m_workers.jobs.size(), 1U);
    finish_jobs();
    EXPECT_EQ(m_opened.told, 1);
    source->read(0, m_block, m_moved.work);
    finish_jobs();
    source->close(4, {}, m_ended.work);
    EXPECT_EQ(m_ended.told, 0) << "setting it reads around it, from the other machine";
    ASSERT_EQ(m_workers.jobs.size(), 1U);
    finish_jobs();
    EXPECT_EQ(m_ended.told, 1);
    EXPECT_EQ(std::ftell(m_stream.get()), 4);
}
