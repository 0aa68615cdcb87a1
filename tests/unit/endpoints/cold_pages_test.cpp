// SPDX-License-Identifier: Apache-2.0
// Blocks that the page cache lacks: brought at once, in large pieces, and never at the price of a signal.
#include "endpoints/file/cold_pages.hpp"
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

constexpr std::size_t page = 4096, mib = std::size_t{1} << 20, whole = 16 * mib;

class cold_pages : public testing::Test {
  protected:
    void SetUp() override {
        for (std::size_t i = 0; i < whole; ++i) m_contents[i] = static_cast<std::byte>(i * 7 + (i >> 12));
        ASSERT_EQ(::pwrite(m_file.fd, m_contents.data(), whole, 0), static_cast<ssize_t>(whole));
        ::fdatasync(m_file.fd);
        drop();
        if (is_cached(0, page)) GTEST_SKIP() << "the file system of TMPDIR keeps files in memory";
    }
    void drop() { ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_DONTNEED); }
    [[nodiscard]] bool is_cached(std::size_t offset, std::size_t bytes) const {
        return endpoints::is_cached_by_mapping(m_file.fd, offset, bytes);
    }
    void read_all() {
        std::vector<std::byte> all(whole);
        ASSERT_EQ(::pread(m_file.fd, all.data(), whole, 0), static_cast<ssize_t>(whole));
    }

    scratch_file m_file;
    std::vector<std::byte> m_contents = std::vector<std::byte>(whole);
};

} // namespace

TEST_F(cold_pages, are_brought_where_the_cache_lacks_them) {
    endpoints::cold_pages cold({m_file.fd, 0, whole});
    EXPECT_TRUE(cold.lack(0));
    cold.bring(0, 3 * mib);
    if (!is_cached(0, page)) GTEST_SKIP() << "this kernel cannot populate a mapping";
    EXPECT_TRUE(is_cached(0, 3 * mib));
    EXPECT_FALSE(cold.lack(0));
    EXPECT_TRUE(cold.lack(whole - page)) << "and no more than is read ahead";
}

TEST_F(cold_pages, begin_at_any_byte_of_the_file) {
    const std::size_t start = 5 * page + 777, offset = 2 * mib + 13, bytes = mib;
    endpoints::cold_pages cold({m_file.fd, static_cast<off_t>(start), whole - start});
    cold.bring(offset, bytes);
    if (!is_cached(start + offset, 1)) GTEST_SKIP() << "this kernel cannot populate a mapping";
    EXPECT_TRUE(is_cached(start + offset, bytes));
    EXPECT_FALSE(cold.lack(offset));
    EXPECT_FALSE(cold.lack(offset + bytes - 1));
}

TEST_F(cold_pages, that_are_there_are_left_alone) {
    read_all();
    endpoints::cold_pages cold({m_file.fd, 0, whole});
    EXPECT_FALSE(cold.lack(0));
    EXPECT_FALSE(cold.lack(whole - 1));
}

TEST_F(cold_pages, of_a_file_that_was_cut_off_do_no_harm) {
    endpoints::cold_pages cold({m_file.fd, 0, whole});
    ASSERT_TRUE(cold.lack(0));
    ASSERT_EQ(::ftruncate(m_file.fd, mib), 0);
    cold.bring(0, 4 * mib);
    cold.bring(8 * mib, 4 * mib);
    std::vector<std::byte> found(2 * mib);
    EXPECT_EQ(::pread(m_file.fd, found.data(), found.size(), 0), static_cast<ssize_t>(mib));
    EXPECT_TRUE(std::equal(found.begin(), found.begin() + mib, m_contents.begin()));
}

TEST_F(cold_pages, of_a_file_that_cannot_be_mapped_are_left_to_the_read) {
    const auto path = "/proc/self/fd/" + std::to_string(m_file.fd);
    const descriptor only_written(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    endpoints::cold_pages cold({only_written.get(), 0, whole});
    EXPECT_FALSE(cold.lack(0));
    cold.bring(0, whole);
    EXPECT_FALSE(is_cached(0, page));
}

TEST_F(cold_pages, are_read_in_large_pieces_by_few) {
    const options settings;
    patient_workers workers;
    transfer::ordered_gate turns;
    const endpoints::file_services services{settings, workers, turns};
    constexpr std::size_t block_bytes = 8 * mib, piece_bytes = mib;
    const auto jobs_of_a_block = [&] {
        const auto source = endpoints::make_descriptor_endpoint(services, m_file.fd, 0, whole, endpoints::access::read);
        waiter done;
        source->open({.bytes = whole, .block_bytes = block_bytes, .is_source = true, .piece_bytes = piece_bytes},
                     done.work);
        std::vector<std::byte> block(block_bytes);
        done.work.begin();
        source->read(0, block, done.work);
        const auto jobs = workers.jobs.size();
        while (!workers.jobs.empty()) workers.finish_first();
        EXPECT_EQ(done.work.take().bytes, block_bytes);
        EXPECT_TRUE(std::equal(block.begin(), block.end(), m_contents.begin()));
        return jobs;
    };
    EXPECT_EQ(jobs_of_a_block(), 2u);
    EXPECT_EQ(workers.last_origin.at_once, 8u);
    EXPECT_EQ(jobs_of_a_block(), 8u) << "from the cache";
    EXPECT_GT(workers.last_origin.at_once, 8u);
    drop();
    EXPECT_EQ(jobs_of_a_block(), 2u);
}

TEST_F(cold_pages, behind_some_that_are_there_are_read_from_the_right_byte_on) {
    ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_RANDOM); // nothing is read ahead
    std::byte header[page];
    ASSERT_EQ(::pread(m_file.fd, header, sizeof header, 0), static_cast<ssize_t>(page));
    ASSERT_FALSE(is_cached(2 * page, page));
    const options settings;
    patient_workers workers;
    transfer::ordered_gate turns;
    const auto source = endpoints::make_descriptor_endpoint({settings, workers, turns}, m_file.fd, 0, whole,
                                                            endpoints::access::read);
    waiter done;
    source->open({.bytes = whole, .block_bytes = whole / 2, .is_source = true}, done.work);
    std::vector<std::byte> block(whole / 2);
    done.work.begin();
    source->read(0, block, done.work);
    while (!workers.jobs.empty()) workers.finish_first();
    EXPECT_EQ(done.work.take().bytes, block.size());
    EXPECT_TRUE(std::equal(block.begin(), block.end(), m_contents.begin()));
}
