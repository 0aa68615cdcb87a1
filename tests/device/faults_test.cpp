// SPDX-License-Identifier: Apache-2.0
// Files that fail while a transfer uses them: the event says why, and the bytes it reports as moved are there.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

using namespace support;

namespace {

constexpr std::size_t MiB = 1 << 20;

/// Limits the size of files that this process writes, for as long as it lives.
class file_size_limit {
  public:
    explicit file_size_limit(rlim_t size_bytes) {
        getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limited{size_bytes, m_before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limited);
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;
    ~file_size_limit() { setrlimit(RLIMIT_FSIZE, &m_before); }

  private:
    rlimit m_before{};
};

/// Memory of this process whose first page can be read and whose second cannot, also not through /proc/self/mem.
class half_readable_pages {
  public:
    half_readable_pages() : m_page(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
        write_file(m_folder.path("one_page"), pattern(m_page));
        const descriptor file = open_descriptor(m_folder.path("one_page"), O_RDONLY);
        m_address = mmap(nullptr, 2 * m_page, PROT_READ, MAP_SHARED, file.get(), 0);
    }
    half_readable_pages(const half_readable_pages&) = delete;
    half_readable_pages& operator=(const half_readable_pages&) = delete;
    ~half_readable_pages() { munmap(m_address, 2 * m_page); }

    [[nodiscard]] std::size_t page() const { return m_page; }
    [[nodiscard]] std::int64_t address() const { return reinterpret_cast<std::int64_t>(m_address); }

  private:
    temporary_folder m_folder;
    std::size_t m_page;
    void* m_address = MAP_FAILED;
};

class faults : public device_test {
  protected:
    void SetUp() override {
        std::signal(SIGXFSZ, SIG_DFL);
        std::signal(SIGPIPE, SIG_DFL);
    }
};
INSTANTIATE_TEST_SUITE_P(devices, faults, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(faults, a_full_device_fails_a_write_to_a_stream) {
    const stream file = open_stream("/dev/full", "w");
    const auto buffer = new_buffer(pattern(MiB));
    const auto done = read_buffer_to(queue(), buffer.get(), 0, MiB, file.get());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), ENOSPC);
    EXPECT_EQ(bytes_moved(done), 0U);
    EXPECT_NE(transfer_text(done, CL_TRANSFER_ERROR_MESSAGE), "");
}

TEST_P(faults, a_full_device_fails_a_small_write_to_a_stream) {
    // fwrite alone would have kept so few bytes in its buffer and said nothing.
    const stream file = open_stream("/dev/full", "w");
    const auto buffer = new_buffer(pattern(10));
    const auto done = read_buffer_to(queue(), buffer.get(), 0, 10, file.get());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), ENOSPC);
    EXPECT_EQ(bytes_moved(done), 0U);
}

TEST_P(faults, a_full_device_fails_a_write_to_a_descriptor) {
    const descriptor file = open_descriptor("/dev/full", O_WRONLY);
    const auto buffer = new_buffer(pattern(MiB));
    const auto done = read_buffer_to(queue(), buffer.get(), 0, MiB, file.get(), 0);
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), ENOSPC);
    EXPECT_EQ(bytes_moved(done), 0U);
}

TEST_P(faults, bytes_that_fwrite_could_not_deliver_fail_the_transfer_behind_them) {
    const stream file = open_stream("/dev/full", "w");
    ASSERT_GE(std::fputs("still buffered", file.get()), 0);
    const auto buffer = new_buffer(pattern(1000));
    const auto done = read_buffer_to(queue(), buffer.get(), 0, 1000, file.get());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), ENOSPC);
}

TEST_P(faults, a_size_limit_stops_a_write_to_a_stream_at_the_limit_and_raises_no_signal) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const bytes contents = pattern(4 * MiB);
    const auto buffer = new_buffer(contents);
    const std::size_t limit = MiB + 4096;
    event_handle done;
    {
        const file_size_limit limited(limit);
        done = read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get());
        static_cast<void>(await(done.get()));
    }
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), EFBIG);
    EXPECT_EQ(bytes_moved(done), limit);
    EXPECT_TRUE(same_bytes(slice(contents, 0, limit), file_contents(folder.path("out"))));
    EXPECT_EQ(ftello(file.get()), static_cast<off_t>(limit));
}

TEST_P(faults, a_size_limit_stops_a_write_to_a_descriptor_at_the_limit) {
    const temporary_folder folder;
    const descriptor file = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);
    const bytes contents = pattern(4 * MiB);
    const auto buffer = new_buffer(contents);
    const std::size_t limit = 2 * MiB + 1;
    event_handle done;
    {
        const file_size_limit limited(limit);
        done = read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get(), 1000);
        static_cast<void>(await(done.get()));
    }
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), EFBIG);
    EXPECT_EQ(bytes_moved(done), limit - 1000);
    EXPECT_TRUE(same_bytes(slice(contents, 0, limit - 1000), file_contents(folder.path("out"), 1000, contents.size())));
}

TEST_P(faults, a_write_that_starts_behind_the_size_limit_moves_nothing) {
    const temporary_folder folder;
    const descriptor file = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);
    const auto buffer = new_buffer(pattern(1000));
    event_handle done;
    {
        const file_size_limit limited(MiB);
        done = read_buffer_to(queue(), buffer.get(), 0, 1000, file.get(), 2 * MiB);
        static_cast<void>(await(done.get()));
    }
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), EFBIG);
    EXPECT_EQ(bytes_moved(done), 0U);
    EXPECT_TRUE(file_contents(folder.path("out")).empty());
}

TEST_P(faults, a_stream_works_again_once_its_fault_is_gone) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const bytes contents = pattern(2 * MiB);
    const auto buffer = new_buffer(contents);
    event_handle failed;
    {
        const file_size_limit limited(MiB);
        failed = read_buffer_to(queue(), buffer.get(), 0, 2 * MiB, file.get());
        static_cast<void>(await(failed.get()));
    }
    ASSERT_TRUE(fails_with(failed, CL_TRANSFER_IO_ERROR));
    const std::size_t moved = bytes_moved(failed);
    ASSERT_LE(moved, MiB);
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), moved, 2 * MiB - moved, file.get())));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}

TEST_P(faults, a_stream_whose_descriptor_is_closed_before_the_start_fails_a_read) {
    const temporary_folder folder;
    write_file(folder.path("in"), pattern(MiB));
    const stream file = open_stream(folder.path("in"), "r");
    const int fd = fileno(file.get());
    const descriptor keeper(dup(fd));
    const bytes before = pattern(MiB, 2);
    const auto buffer = new_buffer(before);
    gate start(context());

    const auto done = write_buffer_from(queue(), buffer.get(), 0, MiB, file.get(), {start.event()});
    close(fd);
    start.open();
    EXPECT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    dup2(keeper.get(), fd); // so that the stream can be closed like any other
    EXPECT_EQ(transfer_errno(done), EBADF);
    EXPECT_EQ(bytes_moved(done), 0U);
    EXPECT_TRUE(same_bytes(before, contents_of(buffer, 0, MiB)));
}

TEST_P(faults, a_stream_whose_descriptor_is_closed_before_the_start_fails_a_write) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const int fd = fileno(file.get());
    const descriptor keeper(dup(fd));
    const auto buffer = new_buffer(pattern(MiB));
    gate start(context());

    const auto done = read_buffer_to(queue(), buffer.get(), 0, MiB, file.get(), {start.event()});
    close(fd);
    start.open();
    EXPECT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    dup2(keeper.get(), fd);
    EXPECT_EQ(transfer_errno(done), EBADF);
    EXPECT_EQ(bytes_moved(done), 0U);
    EXPECT_TRUE(file_contents(folder.path("out")).empty());
}

TEST_P(faults, a_folder_cannot_be_read_through_a_stream) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path(""), "r");
    const auto buffer = new_buffer(bytes(1000));
    const auto done = write_buffer_from(queue(), buffer.get(), 0, 1000, file.get());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), EISDIR);
    EXPECT_EQ(bytes_moved(done), 0U);
}

TEST_P(faults, a_folder_cannot_be_read_through_a_descriptor) {
    const temporary_folder folder;
    const descriptor file = open_descriptor(folder.path(""), O_RDONLY | O_DIRECTORY);
    const auto buffer = new_buffer(bytes(1000));
    const auto done = write_buffer_from(queue(), buffer.get(), 0, 1000, file.get(), 0);
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), EISDIR);
    EXPECT_EQ(bytes_moved(done), 0U);
}

TEST_P(faults, a_read_that_fails_half_way_keeps_the_bytes_before_the_fault) {
    const half_readable_pages memory;
    const descriptor file(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        GTEST_SKIP() << "this system does not let a process read its own /proc/self/mem";
    }
    const std::size_t page = memory.page();
    const bytes before = pattern(2 * page, 2);
    const auto buffer = new_buffer(before);
    const auto done = write_buffer_from(queue(), buffer.get(), 0, 2 * page, file.get(), memory.address());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), EIO);
    EXPECT_EQ(bytes_moved(done), page);
    EXPECT_TRUE(same_bytes(pattern(page), contents_of(buffer, 0, page)));
}

TEST_P(faults, the_message_names_the_range_of_the_transfer_and_where_it_stopped) {
    // Blocks are smaller than the transfers: it is not the block that failed which a user knows.
    const option_scope block("block", "64K");
    const temporary_folder folder;
    write_file(folder.path("in"), pattern(MiB));
    const descriptor input = open_descriptor(folder.path("in"), O_RDONLY);
    const stream input_stream = open_stream(folder.path("in"), "r");
    const descriptor output = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);
    const auto buffer = new_buffer(pattern(4 * MiB));
    const auto message_of = [](const event_handle& done) {
        static_cast<void>(await(done.get()));
        return transfer_text(done, CL_TRANSFER_ERROR_MESSAGE);
    };

    const std::string in = folder.path("in");
    const auto ended = write_buffer_from(queue(), buffer.get(), 0, 2 * MiB, input.get(), 4096);
    EXPECT_EQ(message_of(ended), "reading 2 MiB at 4 KiB of " + in + ": the file ended after 1020 KiB");
    const auto stream_ended = write_buffer_from(queue(), buffer.get(), 0, 3 * MiB, input_stream.get());
    EXPECT_EQ(message_of(stream_ended), "reading 3 MiB at 0 B of " + in + ": the file ended after 1 MiB");
    event_handle limited;
    {
        const file_size_limit limit(2 * MiB);
        limited = read_buffer_to(queue(), buffer.get(), 0, 4 * MiB, output.get(), MiB);
        static_cast<void>(await(limited.get()));
    }
    EXPECT_EQ(message_of(limited), "writing 4 MiB at 1 MiB of " + folder.path("out") + ": File too large after 1 MiB");
    auto [reading, writing] = make_pipe();
    const stream pipe = open_stream(std::move(reading), "r");
    ASSERT_TRUE(write_all(writing.get(), pattern(1000)));
    writing.close();
    const auto pipe_ended = write_buffer_from(queue(), buffer.get(), 0, MiB, pipe.get());
    const std::string text = message_of(pipe_ended);
    EXPECT_TRUE(text.starts_with("reading 1 MiB of pipe:")) << text;
    EXPECT_TRUE(text.ends_with(": the file ended after 1000 B")) << text;
}

TEST_P(faults, a_file_truncated_while_it_is_read_ends_the_transfer_early) {
    // The truncation may come before, during or after the read: each is legal, garbage and hangs are not.
    for (int round = 0; round < 10; ++round) {
        SCOPED_TRACE(round);
        const temporary_folder folder;
        const std::size_t size = 16 * MiB;
        const bytes contents = pattern(size);
        write_file(folder.path("in"), contents);
        const stream file = open_stream(folder.path("in"), "r");
        const auto buffer = new_buffer(bytes(size));
        const auto done = write_buffer_from(queue(), buffer.get(), 0, size, file.get());
        ASSERT_EQ(truncate(folder.path("in").c_str(), 1'000'000), 0);

        const cl_int status = await(done.get());
        const std::size_t moved = bytes_moved(done);
        ASSERT_TRUE(status == CL_COMPLETE || status == CL_TRANSFER_END_OF_FILE) << status;
        EXPECT_EQ(status == CL_COMPLETE, moved == size);
        EXPECT_GE(moved, 1'000'000U);
        // A page that is being cut may read as zeros from the cut on; what lies before the cut is exact.
        EXPECT_TRUE(same_bytes(slice(contents, 0, 1'000'000), contents_of(buffer, 0, 1'000'000)));
    }
}
