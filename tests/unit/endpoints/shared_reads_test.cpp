// SPDX-License-Identifier: Apache-2.0
// Blocks of files that the thread which drives the engine reads along with the workers.
#include "endpoints/file/file_endpoint.hpp"
#include "endpoints/file/page_cache.hpp"
#include "unit/endpoints/file_doubles.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

using namespace causeway;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20, whole = 4 * mib;

class shared_reads : public testing::Test {
  protected:
    void SetUp() override {
        for (std::size_t i = 0; i < whole; ++i) m_contents[i] = static_cast<std::byte>(i * 11 + (i >> 13));
        ASSERT_EQ(::pwrite(m_file.fd, m_contents.data(), whole, 0), static_cast<ssize_t>(whole));
    }
    /// Begins to read 2 MiB, by default at 1 MiB.
    void begin(transfer::open_request request, std::size_t offset = mib) {
        m_source = endpoints::make_descriptor_endpoint(m_services, m_file.fd, 0, whole, endpoints::access::read);
        request.bytes = whole;
        request.block_bytes = 2 * mib;
        request.is_source = true;
        waiter opened;
        m_source->open(request, opened.work);
        m_done.work.begin();
        m_source->read(offset, m_block, m_done.work);
    }
    [[nodiscard]] bool is_right() {
        while (!m_workers.jobs.empty()) m_workers.finish_first();
        return m_done.work.take().bytes == m_block.size() &&
               std::equal(m_block.begin(), m_block.end(), m_contents.begin() + static_cast<std::ptrdiff_t>(mib));
    }

    scratch_file m_file;
    std::vector<std::byte> m_contents = std::vector<std::byte>(whole), m_block = std::vector<std::byte>(2 * mib);
    options m_settings;
    patient_workers m_workers;
    transfer::ordered_gate m_turns;
    endpoints::file_services m_services{m_settings, m_workers, m_turns};
    std::unique_ptr<transfer::endpoint> m_source;
    waiter m_done;
};

} // namespace

TEST_F(shared_reads, are_those_into_memory_where_it_lies) {
    begin({.io_threads = 2, .other = {.maps_at_once = true}});
    ASSERT_EQ(m_workers.attempts.size(), 4u) << "pieces of 512 KiB";
    EXPECT_EQ(m_workers.last_origin.at_once, 2u);
    for (const auto& here : m_workers.attempts) {
        const auto result = here();
        ASSERT_TRUE(result);
        EXPECT_EQ(result->bytes, mib / 2);
        EXPECT_FALSE(result->error);
    }
    EXPECT_TRUE(std::equal(m_block.begin(), m_block.end(), m_contents.begin() + static_cast<std::ptrdiff_t>(mib)));
    EXPECT_TRUE(is_right());
}

TEST_F(shared_reads, are_of_the_first_block_where_a_device_is_to_be_fed) {
    begin({.piece_bytes = mib / 2, .for_device = true}, 0);
    EXPECT_EQ(m_workers.attempts.size(), 4u);
}

TEST_F(shared_reads, are_none_where_a_device_is_being_fed) {
    begin({.piece_bytes = mib / 2, .for_device = true}, 2 * mib);
    EXPECT_TRUE(m_workers.attempts.empty());
}

TEST_F(shared_reads, are_no_large_pieces_where_a_device_is_to_be_fed) {
    begin({.piece_bytes = mib, .for_device = true}, 0);
    EXPECT_TRUE(m_workers.attempts.empty());
}

TEST_F(shared_reads, are_none_through_a_window) {
    begin({.window = true, .other = {.maps_at_once = true}});
    EXPECT_TRUE(m_workers.attempts.empty());
    EXPECT_TRUE(is_right());
}

TEST_F(shared_reads, wait_for_no_disk) {
    // A page that somebody holds just now stays.
    const auto is_cached = [&] {
        for (std::size_t at = mib; at < mib + m_block.size(); at += mib / 4)
            if (endpoints::is_cached_by_mapping(m_file.fd, at, 4096)) return true;
        return false;
    };
    for (int attempt = 0; attempt < 100 && (attempt == 0 || is_cached()); ++attempt) {
        ::fdatasync(m_file.fd);
        ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    if (is_cached()) GTEST_SKIP() << "the file system of TMPDIR keeps files in memory";
    begin({.io_threads = 2, .other = {.maps_at_once = true}});
    ASSERT_EQ(m_workers.attempts.size(), 4u);
    EXPECT_FALSE(m_workers.attempts.back()());
    EXPECT_TRUE(is_right());
    // What was not there is likely not to be there further on.
    m_done.work.begin();
    m_source->read(0, m_block, m_done.work);
    EXPECT_EQ(m_workers.attempts.size(), 4u);
    while (!m_workers.jobs.empty()) m_workers.finish_first();
    EXPECT_EQ(m_done.work.take().bytes, m_block.size());
}

TEST_F(shared_reads, are_none_of_cold_blocks_of_a_file_that_begins_in_the_cache) {
    constexpr std::size_t larger = 16 * mib;
    ASSERT_EQ(::ftruncate(m_file.fd, larger), 0);
    const std::vector<std::byte> rest(larger - whole, std::byte{7});
    ASSERT_EQ(::pwrite(m_file.fd, rest.data(), rest.size(), whole), static_cast<ssize_t>(rest.size()));
    ::fdatasync(m_file.fd);
    ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_DONTNEED);
    if (endpoints::is_cached_by_mapping(m_file.fd, mib, 4096))
        GTEST_SKIP() << "the file system of TMPDIR keeps files in memory";
    ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_RANDOM); // nothing is read ahead
    std::byte header[4096];
    ASSERT_EQ(::pread(m_file.fd, header, sizeof header, 0), 4096);
    m_source = endpoints::make_descriptor_endpoint(m_services, m_file.fd, 0, larger, endpoints::access::read);
    waiter opened;
    m_source->open(
        {.bytes = larger, .block_bytes = 2 * mib, .is_source = true, .io_threads = 2, .other = {.maps_at_once = true}},
        opened.work);
    m_done.work.begin();
    m_source->read(mib, m_block, m_done.work);
    EXPECT_TRUE(m_workers.attempts.empty());
    EXPECT_EQ(m_workers.jobs.size(), 1u);
    EXPECT_TRUE(is_right());
}

TEST_F(shared_reads, end_where_a_file_was_cut_off) {
    begin({.io_threads = 2, .other = {.maps_at_once = true}});
    ASSERT_EQ(::ftruncate(m_file.fd, static_cast<off_t>(2 * mib)), 0);
    EXPECT_FALSE(m_workers.attempts.back()()) << "a worker finds out why";
    while (!m_workers.jobs.empty()) m_workers.finish_first();
    const auto result = m_done.work.take();
    EXPECT_EQ(result.bytes, mib);
    EXPECT_EQ(result.error.status, status::end_of_file);
}
