// SPDX-License-Identifier: Apache-2.0
// What of a file is in the page cache, and how much could be.
#include "endpoints/file/page_cache.hpp"
#include "unit/endpoints/file_doubles.hpp"
#include "unit/made_up_system.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <limits>
#include <vector>

using namespace causeway;

namespace {

constexpr std::size_t page = 4096, whole = 64 * page;
constexpr std::uint64_t mib = 1 << 20;

class page_cache : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(::pwrite(m_file.fd, m_contents.data(), whole, 0), static_cast<ssize_t>(whole));
        ::fdatasync(m_file.fd);
        ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_RANDOM); // what is read is there, and nothing else
        ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_DONTNEED);
        if (endpoints::is_cached_by_mapping(m_file.fd, 0, page))
            GTEST_SKIP() << "the file system of TMPDIR keeps files in memory";
    }
    void read(std::size_t offset, std::size_t bytes) {
        ASSERT_EQ(::pread(m_file.fd, m_contents.data(), bytes, static_cast<off_t>(offset)),
                  static_cast<ssize_t>(bytes));
    }
    /// As both ways of asking say it.
    void expect_cached(bool expected, std::size_t offset, std::size_t bytes) {
        EXPECT_EQ(endpoints::is_cached(m_file.fd, offset, bytes), expected) << bytes << " at " << offset;
        EXPECT_EQ(endpoints::is_cached_by_mapping(m_file.fd, offset, bytes), expected)
            << bytes << " at " << offset << ", mapped";
    }

    scratch_file m_file;
    std::vector<std::byte> m_contents = std::vector<std::byte>(whole);
};

} // namespace

TEST_F(page_cache, has_what_was_read_and_not_what_was_dropped) {
    expect_cached(false, 0, whole);
    read(0, whole);
    expect_cached(true, 0, whole);
    ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_DONTNEED);
    expect_cached(false, 0, whole);
}

TEST_F(page_cache, has_a_range_only_if_it_has_all_of_its_pages) {
    read(8 * page, 4 * page);
    expect_cached(true, 8 * page, 4 * page);
    expect_cached(true, 8 * page + 100, 3 * page);
    expect_cached(true, 12 * page - 1, 1);
    expect_cached(false, 12 * page - 1, 2);
    expect_cached(false, 8 * page - 1, 2);
    expect_cached(false, 0, whole);
}

TEST(cache_room, is_the_memory_that_is_available) {
    const made_up_system one;
    EXPECT_EQ(endpoints::find_cache_room(one.root()), std::numeric_limits<std::uint64_t>::max()) << "nobody says";
    one.write("proc/meminfo", "MemTotal:       16384000 kB\nMemFree:          102400 kB\nMemAvailable:    8192 kB");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 8 * mib);
}

TEST(cache_room, is_what_a_cgroup_still_allows_with_the_files_that_it_holds) {
    const made_up_system one;
    one.write("proc/meminfo", "MemAvailable:    8192 kB");
    one.write("proc/self/cgroup", "0::/job/task");
    one.write("sys/fs/cgroup/job/memory.max", "max");
    one.write("sys/fs/cgroup/job/memory.current", "5242880");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 8 * mib);
    one.write("sys/fs/cgroup/job/memory.max", "6291456");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 1 * mib);
    one.write("sys/fs/cgroup/job/memory.stat", "anon 2097152\nfile 3145728\nfile_mapped 1");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 4 * mib);
    one.write("sys/fs/cgroup/job/memory.stat", "anon 2097152\nfile 3145728\nshmem 2097152\nfile_mapped 1");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 2 * mib) << "shared memory is not given up";
    one.write("sys/fs/cgroup/job/memory.stat", "anon 2097152\nfile 3145728\nfile_mapped 1");
    one.write("sys/fs/cgroup/job/memory.current", "9000000");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 6291456 - (9000000 - 3145728));
}

TEST(cache_room, is_what_the_first_version_of_cgroups_allows) {
    const made_up_system one;
    one.write("proc/meminfo", "MemAvailable:    8192 kB");
    one.write("proc/self/cgroup", "3:memory:/job");
    one.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712");
    one.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3145728");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 8 * mib);
    one.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5242880");
    one.write("sys/fs/cgroup/memory/job/memory.stat", "cache 0\ntotal_cache 1048576");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 3 * mib);
    one.write("sys/fs/cgroup/memory/job/memory.stat", "cache 0\ntotal_cache 1048576\ntotal_shmem 524288");
    EXPECT_EQ(endpoints::find_cache_room(one.root()), 5 * mib / 2) << "shared memory is not given up";
}
