// SPDX-License-Identifier: Apache-2.0
// Which reads and writes really pass by the page cache, and writes that do not get on.
#include "endpoints/file/file_endpoint.hpp"
#include "endpoints/file/file_io.hpp"
#include "endpoints/file/page_cache.hpp"
#include "unit/endpoints/file_doubles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

using namespace causeway;

namespace {

/// Of the calls that this file's functions see while it lives.
struct seen_calls {
    seen_calls() { now = this; }
    ~seen_calls() { now = nullptr; }
    seen_calls(const seen_calls&) = delete;
    seen_calls& operator=(const seen_calls&) = delete;
    void add(int fd, ssize_t moved) {
        if (moved <= 0) return;
        ((::fcntl(fd, F_GETFL) & O_DIRECT) != 0 ? direct : cached) += static_cast<std::size_t>(moved);
    }
    std::size_t direct = 0, cached = 0; // bytes
    bool writes_nothing = false;
    static inline seen_calls* now = nullptr;
};

} // namespace

// In front of those of the C library, by the names that 64-bit offsets give them.
extern "C" ssize_t pread64(int fd, void* bytes, size_t size, off64_t offset) {
    static const auto real = reinterpret_cast<decltype(&pread64)>(dlsym(RTLD_NEXT, "pread64"));
    const auto moved = real(fd, bytes, size, offset);
    if (seen_calls::now != nullptr) seen_calls::now->add(fd, moved);
    return moved;
}
extern "C" ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
    static const auto real = reinterpret_cast<decltype(&pwrite64)>(dlsym(RTLD_NEXT, "pwrite64"));
    if (seen_calls::now != nullptr && seen_calls::now->writes_nothing) return 0;
    const auto moved = real(fd, bytes, size, offset);
    if (seen_calls::now != nullptr) seen_calls::now->add(fd, moved);
    return moved;
}

namespace {

constexpr std::size_t page = 4096, block_bytes = std::size_t{1} << 20, whole = 6 * block_bytes;

/// As staging memory is.
struct aligned_block {
    std::byte* bytes = static_cast<std::byte*>(::operator new(block_bytes, std::align_val_t(page)));
    ~aligned_block() { ::operator delete(bytes, std::align_val_t(page)); }
};

class direct_io : public testing::Test {
  protected:
    void SetUp() override {
        for (std::size_t i = 0; i < m_contents.size(); ++i) m_contents[i] = static_cast<std::byte>(i * 7 + (i >> 12));
        ASSERT_EQ(::pwrite(m_file.fd, m_contents.data(), m_contents.size(), 0),
                  static_cast<ssize_t>(m_contents.size()));
        ::fdatasync(m_file.fd);
        ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_DONTNEED);
        m_settings.set("direct_io", "always");
        const auto path = "/proc/self/fd/" + std::to_string(m_file.fd);
        m_user = descriptor(::open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
        if (m_user.get() < 0) GTEST_SKIP() << "the file system of TMPDIR has no direct access";
    }

    /// All blocks, as a flow with memory of its own makes them.
    template <class Move> void move_all(transfer::endpoint& end, bool is_source, Move move) {
        end.open({.bytes = whole, .block_bytes = block_bytes, .is_source = is_source}, m_step.work);
        aligned_block memory;
        for (std::size_t at = 0, bytes = end.prepare(block_bytes); at < whole; at += bytes, bytes = block_bytes) {
            bytes = std::min(bytes, whole - at);
            m_step.work.begin();
            const auto skipped = at == 0 ? block_bytes - bytes : 0;
            move(at, std::span(memory.bytes + skipped, bytes));
            ASSERT_EQ(m_step.work.take().bytes, bytes);
        }
    }

    void finish_jobs() {
        while (!m_workers.jobs.empty()) m_workers.finish_first();
    }

    void read_from(int file, std::int64_t offset) {
        const auto source = endpoints::make_descriptor_endpoint(m_services, file, offset, whole,
                                                                endpoints::access::read);
        std::vector<std::byte> found;
        move_all(*source, true, [&](std::size_t at, std::span<std::byte> block) {
            source->read(at, block, m_step.work);
            finish_jobs();
            found.insert(found.end(), block.begin(), block.end());
        });
        EXPECT_TRUE(std::equal(found.begin(), found.end(), m_contents.begin() + offset));
    }

    options m_settings;
    patient_workers m_workers;
    transfer::ordered_gate m_turns;
    endpoints::file_services m_services{m_settings, m_workers, m_turns};
    waiter m_step;
    scratch_file m_file;
    descriptor m_user; // opened for direct access
    std::vector<std::byte> m_contents = std::vector<std::byte>(whole + 3 * page);
};

} // namespace

TEST_F(direct_io, reads_all_but_head_and_tail_directly_from_any_offset) {
    for (const std::int64_t offset : {1, 512, 777, 4095, 4096 + 3}) {
        SCOPED_TRACE(offset);
        ::posix_fadvise(m_file.fd, 0, 0, POSIX_FADV_DONTNEED);
        seen_calls seen;
        read_from(m_file.fd, offset);
        EXPECT_EQ(seen.direct, whole - page);
    }
}

TEST_F(direct_io, reads_everything_directly_from_an_aligned_offset) {
    seen_calls seen;
    read_from(m_file.fd, page);
    EXPECT_EQ(seen.direct, whole);
    EXPECT_EQ(seen.cached, 0u);
}

TEST_F(direct_io, writes_all_but_head_and_tail_directly_to_any_offset) {
    const std::size_t offset = 1234;
    const auto target = endpoints::make_descriptor_endpoint(m_services, m_file.fd, offset, whole,
                                                            endpoints::access::write);
    seen_calls seen;
    move_all(*target, false, [&](std::size_t at, std::span<std::byte> block) {
        std::copy_n(m_contents.begin() + static_cast<std::ptrdiff_t>(at), block.size(), block.begin());
        target->write(at, block, m_step.work);
        finish_jobs();
    });
    EXPECT_EQ(seen.direct, whole - page);
    std::vector<std::byte> found(whole);
    ASSERT_EQ(::pread(m_file.fd, found.data(), whole, offset), static_cast<ssize_t>(whole));
    EXPECT_TRUE(std::equal(found.begin(), found.end(), m_contents.begin()));
}

TEST_F(direct_io, reads_what_is_in_the_page_cache_from_there) {
    std::vector<std::byte> all(whole);
    ASSERT_EQ(::pread(m_file.fd, all.data(), whole, 0), static_cast<ssize_t>(whole));
    seen_calls seen;
    read_from(m_file.fd, 0);
    EXPECT_EQ(seen.direct, 0u);
}

TEST_F(direct_io, leaves_a_file_to_the_page_cache_that_it_can_hold) {
    m_settings.set("direct_io", "auto");
    ASSERT_EQ(::ftruncate(m_file.fd, static_cast<off_t>(endpoints::cache_room() / 4 * 3)), 0);
    seen_calls seen;
    read_from(m_file.fd, 0);
    EXPECT_EQ(seen.direct, 0u) << "the next one reads it from there";
}

TEST_F(direct_io, passes_by_the_page_cache_with_a_file_that_it_cannot_hold) {
    m_settings.set("direct_io", "auto");
    ASSERT_EQ(::ftruncate(m_file.fd, static_cast<off_t>(endpoints::cache_room() / 2 * 3)), 0);
    seen_calls seen;
    read_from(m_file.fd, 0);
    EXPECT_EQ(seen.direct, whole);
}

TEST_F(direct_io, takes_any_range_of_a_file_that_the_user_opened_for_direct_access) {
    m_settings.set("direct_io", "auto");
    seen_calls seen;
    read_from(m_user.get(), 777);
    EXPECT_EQ(seen.direct, whole - page) << "as the user wants it";
    EXPECT_EQ(seen.cached, page);
    EXPECT_NE(::fcntl(m_user.get(), F_GETFL) & O_DIRECT, 0) << "the user's descriptor stays as it is";
}

TEST_F(direct_io, a_write_that_does_not_get_on_is_an_error) {
    seen_calls seen;
    seen.writes_nothing = true;
    const auto result = endpoints::write_at({m_file.fd, 0, page}, 0, std::span(m_contents).first(page));
    EXPECT_EQ(result.bytes, 0u);
    EXPECT_EQ(result.error.error_number, EIO);
}
