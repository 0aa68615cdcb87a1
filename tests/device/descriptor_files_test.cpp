// SPDX-License-Identifier: Apache-2.0
// Transfers between buffers and file descriptors at an offset of their own.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <limits>

using namespace support;

namespace {

constexpr std::size_t MiB = 1 << 20;
constexpr std::int64_t GiB = 1 << 30;

off_t position_of(const descriptor& file) { return lseek(file.get(), 0, SEEK_CUR); }

class descriptor_files : public device_test {};
INSTANTIATE_TEST_SUITE_P(devices, descriptor_files, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(descriptor_files, a_transfer_reads_at_its_offset_at_every_size) {
    const temporary_folder folder;
    const bytes contents = pattern(17 * MiB);
    write_file(folder.path("in"), contents);
    const descriptor file = open_descriptor(folder.path("in"), O_RDONLY);
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, MiB + 1, 16 * MiB + 3}) {
        for (const std::size_t file_offset : {0, 1, 4096, 777'777}) {
            SCOPED_TRACE(testing::Message() << size << " bytes at " << file_offset);
            const bytes before = pattern(size + 20, 2);
            const auto buffer = new_buffer(before);
            const auto done = write_buffer_from(queue(), buffer.get(), 10, size, file.get(),
                                                static_cast<std::int64_t>(file_offset));
            ASSERT_TRUE(completes(done));
            EXPECT_EQ(bytes_moved(done), size);
            const bytes expected = join(join(slice(before, 0, 10), slice(contents, file_offset, size)),
                                        slice(before, size + 10, 10));
            EXPECT_TRUE(same_bytes(expected, contents_of(buffer, 0, expected.size())));
        }
    }
}

TEST_P(descriptor_files, a_transfer_writes_at_its_offset_at_every_size) {
    const temporary_folder folder;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, MiB + 1, 16 * MiB + 3}) {
        for (const std::size_t file_offset : {0, 1, 4096, 777'777}) {
            SCOPED_TRACE(testing::Message() << size << " bytes at " << file_offset);
            const bytes before = pattern(file_offset + size + 100, 2);
            write_file(folder.path("out"), before);
            const descriptor file = open_descriptor(folder.path("out"), O_RDWR);
            const bytes contents = pattern(size + 10);
            const auto buffer = new_buffer(contents);
            const auto done = read_buffer_to(queue(), buffer.get(), 10, size, file.get(),
                                             static_cast<std::int64_t>(file_offset));
            ASSERT_TRUE(completes(done));
            EXPECT_EQ(bytes_moved(done), size);
            const bytes expected = join(join(slice(before, 0, file_offset), slice(contents, 10, size)),
                                        slice(before, file_offset + size, 100));
            EXPECT_TRUE(same_bytes(expected, file_contents(folder.path("out"))));
        }
    }
}

TEST_P(descriptor_files, large_transfers_past_the_page_cache_move_the_same_bytes) {
    const option_scope past_the_cache("direct_io", "always");
    const temporary_folder folder;
    const std::size_t size = 9 * MiB + 1234;
    const bytes contents = pattern(size + 10'000);
    for (const std::size_t file_offset : {0, 512, 4096, 777, 5000}) {
        SCOPED_TRACE(testing::Message() << size << " bytes at " << file_offset);
        write_file(folder.path("in"), contents);
        const descriptor input = open_descriptor(folder.path("in"), O_RDONLY);
        // Some of its pages are in the cache, some are not, where there is a disk.
        ASSERT_EQ(fsync(input.get()), 0);
        ASSERT_EQ(posix_fadvise(input.get(), static_cast<off_t>(MiB), static_cast<off_t>(5 * MiB), POSIX_FADV_DONTNEED),
                  0);
        const auto buffer = new_buffer(bytes(size));
        const auto loaded = write_buffer_from(queue(), buffer.get(), 0, size, input.get(),
                                              static_cast<std::int64_t>(file_offset));
        ASSERT_TRUE(completes(loaded));
        EXPECT_TRUE(same_bytes(slice(contents, file_offset, size), contents_of(buffer, 0, size)));

        const bytes before = pattern(file_offset + size + 100, 2);
        write_file(folder.path("out"), before);
        const descriptor output = open_descriptor(folder.path("out"), O_WRONLY);
        ASSERT_TRUE(completes(
            read_buffer_to(queue(), buffer.get(), 0, size, output.get(), static_cast<std::int64_t>(file_offset))));
        const bytes expected = join(join(slice(before, 0, file_offset), slice(contents, file_offset, size)),
                                    slice(before, file_offset + size, 100));
        EXPECT_TRUE(same_bytes(expected, file_contents(folder.path("out"))));
    }
}

TEST_P(descriptor_files, what_is_sent_to_the_disk_behind_a_large_transfer_is_over_when_the_transfer_is) {
    const temporary_folder folder;
    const bytes contents = pattern(65 * MiB + 77);
    const auto buffer = new_buffer(contents);
    const auto open_descriptors = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                             std::filesystem::directory_iterator());
    };
    for (int round = 0; round < 3; ++round) {
        descriptor file = open_descriptor(folder.path("out"), O_RDWR | O_CREAT);
        const auto before = open_descriptors();
        const auto done = read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get(), 100);
        ASSERT_TRUE(completes(done));
        EXPECT_EQ(open_descriptors(), before);
        ASSERT_EQ(fdatasync(file.get()), 0);
        EXPECT_TRUE(same_bytes(contents, slice(file_contents(folder.path("out")), 100, contents.size())));
    }
}

TEST_P(descriptor_files, a_file_that_ends_early_past_the_page_cache_gives_what_it_has) {
    const option_scope past_the_cache("direct_io", "always");
    const temporary_folder folder;
    const bytes contents = pattern(6 * MiB + 777);
    write_file(folder.path("in"), contents);
    const descriptor input = open_descriptor(folder.path("in"), O_RDONLY);
    ASSERT_EQ(fsync(input.get()), 0);
    ASSERT_EQ(posix_fadvise(input.get(), 0, 0, POSIX_FADV_DONTNEED), 0);
    const auto buffer = new_buffer(bytes(8 * MiB));
    const auto done = write_buffer_from(queue(), buffer.get(), 0, 8 * MiB, input.get(), 0);
    EXPECT_TRUE(fails_with(done, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(done), contents.size());
    EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, contents.size())));
}

TEST_P(descriptor_files, the_position_of_the_descriptor_stays_where_it_was) {
    const temporary_folder folder;
    write_file(folder.path("both"), pattern(MiB));
    const descriptor file = open_descriptor(folder.path("both"), O_RDWR);
    ASSERT_EQ(lseek(file.get(), 123, SEEK_SET), 123);
    const auto buffer = new_buffer(bytes(MiB));
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 500'000, file.get(), 1000)));
    EXPECT_EQ(position_of(file), 123);
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 500'000, file.get(), 2000)));
    EXPECT_EQ(position_of(file), 123);
}

TEST_P(descriptor_files, a_descriptor_may_be_closed_right_after_the_enqueue) {
    const temporary_folder folder;
    const bytes contents = pattern(MiB + 1);
    write_file(folder.path("in"), contents);
    descriptor input = open_descriptor(folder.path("in"), O_RDONLY);
    descriptor output = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);
    const auto buffer = new_buffer(bytes(MiB + 1));
    gate start(context());

    const auto read = write_buffer_from(queue(), buffer.get(), 0, MiB + 1, input.get(), 0, {start.event()});
    const auto written = read_buffer_to(queue(), buffer.get(), 0, MiB + 1, output.get(), 0);
    input.close();
    output.close();
    start.open();
    ASSERT_TRUE(completes(read));
    ASSERT_TRUE(completes(written));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}

TEST_P(descriptor_files, a_descriptor_in_append_mode_is_written_at_the_given_offset) {
    const temporary_folder folder;
    const bytes before = pattern(2 * MiB);
    write_file(folder.path("out"), before);
    const descriptor file = open_descriptor(folder.path("out"), O_WRONLY | O_APPEND);
    const bytes contents = pattern(MiB, 2);
    const auto buffer = new_buffer(contents);
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, MiB, file.get(), 1000)));
    const bytes expected = join(join(slice(before, 0, 1000), contents), slice(before, 1000 + MiB, MiB - 1000));
    EXPECT_TRUE(same_bytes(expected, file_contents(folder.path("out"))));
    EXPECT_NE(fcntl(file.get(), F_GETFL) & O_APPEND, 0) << "the user's descriptor keeps its mode";
}

TEST_P(descriptor_files, a_file_without_a_name_is_read_and_written) {
    const temporary_folder folder;
    const bytes contents = pattern(MiB);
    write_file(folder.path("gone"), contents);
    const descriptor file = open_descriptor(folder.path("gone"), O_RDWR | O_APPEND);
    ASSERT_EQ(unlink(folder.path("gone").c_str()), 0);
    const auto buffer = new_buffer(bytes(MiB));
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, MiB, file.get(), 0)));
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 1000, file.get(), 5000)));
    EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, MiB)));
    bytes piece(1000);
    ASSERT_EQ(pread(file.get(), piece.data(), piece.size(), 5000), 1000);
    EXPECT_TRUE(same_bytes(slice(contents, 0, 1000), piece));
}

TEST_P(descriptor_files, holes_of_a_sparse_file_read_as_zeros) {
    const temporary_folder folder;
    write_file(folder.path("sparse"), pattern(1000));
    const descriptor file = open_descriptor(folder.path("sparse"), O_RDWR);
    ASSERT_EQ(ftruncate(file.get(), static_cast<off_t>(4 * MiB)), 0);
    const bytes tail = pattern(1000, 2);
    ASSERT_EQ(pwrite(file.get(), tail.data(), tail.size(), static_cast<off_t>(4 * MiB) - 1000), 1000);
    const auto buffer = new_buffer(pattern(4 * MiB, 3));
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 4 * MiB, file.get(), 0)));
    const bytes expected = join(join(pattern(1000), bytes(4 * MiB - 2000)), tail);
    EXPECT_TRUE(same_bytes(expected, contents_of(buffer, 0, 4 * MiB)));
}

TEST_P(descriptor_files, a_file_is_written_and_read_beyond_four_gibibytes) {
    const temporary_folder folder;
    const descriptor file = open_descriptor(folder.path("far"), O_RDWR | O_CREAT);
    const std::int64_t far = 5 * GiB + 12'345;
    const bytes contents = pattern(3 * MiB + 7);
    const auto source = new_buffer(contents);
    const auto target = new_buffer(bytes(contents.size()));
    ASSERT_TRUE(completes(read_buffer_to(queue(), source.get(), 0, contents.size(), file.get(), far)));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("far"), far, contents.size())));
    ASSERT_TRUE(completes(write_buffer_from(queue(), target.get(), 0, contents.size(), file.get(), far)));
    EXPECT_TRUE(same_bytes(contents, contents_of(target, 0, contents.size())));
}

TEST_P(descriptor_files, a_range_that_crosses_four_gibibytes_is_one_range) {
    const temporary_folder folder;
    const descriptor file = open_descriptor(folder.path("far"), O_RDWR | O_CREAT);
    const std::int64_t before_border = 4 * GiB - 1'000'001;
    const bytes contents = pattern(3 * MiB);
    const auto buffer = new_buffer(contents);
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get(), before_border)));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("far"), before_border, contents.size())));
}

TEST_P(descriptor_files, the_last_range_that_offsets_can_name_is_one_like_any_other) {
    const temporary_folder folder;
    write_file(folder.path("near"), pattern(1000));
    const descriptor file = open_descriptor(folder.path("near"), O_RDWR);
    const bytes before = pattern(100, 2);
    const auto buffer = new_buffer(before);
    const std::int64_t last = std::numeric_limits<std::int64_t>::max() - 100;

    const auto read = write_buffer_from(queue(), buffer.get(), 0, 100, file.get(), last);
    EXPECT_TRUE(fails_with(read, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(read), 0U);
    const auto written = read_buffer_to(queue(), buffer.get(), 0, 100, file.get(), last);
    EXPECT_TRUE(fails_with(written, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(written), EFBIG);
    EXPECT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 0, file.get(), last + 100)));
    EXPECT_TRUE(same_bytes(before, contents_of(buffer, 0, 100)));
    EXPECT_TRUE(same_bytes(pattern(1000), file_contents(folder.path("near"))));
}

TEST_P(descriptor_files, a_transfer_may_move_more_bytes_than_an_int_counts) {
    // Many devices allow no larger buffer than 2 GiB, which is one byte more than an int holds.
    const std::size_t two_gibibytes = std::size_t{2} << 30;
    cl_ulong largest = 0;
    clGetDeviceInfo(device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr);
    const auto free_memory = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
                             static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (largest < two_gibibytes || free_memory < 3 * two_gibibytes) {
        GTEST_SKIP() << "needs 2 GiB of device memory and 6 GiB of free host memory; the largest buffer here has "
                     << largest << " bytes, and " << free_memory << " are free";
    }
    const std::size_t size = std::min<std::size_t>(largest, two_gibibytes + 3 * MiB + 1);
    // A sparse file with marks where 32-bit arithmetic would go wrong.
    const temporary_folder folder;
    const descriptor file = open_descriptor(folder.path("large"), O_RDWR | O_CREAT);
    ASSERT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
    const std::size_t marks[] = {0, two_gibibytes - 8192, size - 4096};
    for (const std::size_t at : marks) {
        const bytes mark = pattern(4096, at + 1);
        ASSERT_EQ(pwrite(file.get(), mark.data(), mark.size(), static_cast<off_t>(at)), 4096);
    }
    const auto buffer = new_buffer(size);
    const auto done = write_buffer_from(queue(), buffer.get(), 0, size, file.get(), 0);
    ASSERT_TRUE(completes(done));
    EXPECT_EQ(bytes_moved(done), size);
    for (const std::size_t at : marks) {
        EXPECT_TRUE(same_bytes(pattern(4096, at + 1), contents_of(buffer, at, 4096))) << "at " << at;
    }
}

TEST_P(descriptor_files, a_file_that_grows_before_the_transfer_starts_is_read_whole) {
    const temporary_folder folder;
    const bytes contents = pattern(2 * MiB);
    write_file(folder.path("in"), slice(contents, 0, 100));
    const descriptor file = open_descriptor(folder.path("in"), O_RDONLY);
    const auto buffer = new_buffer(bytes(2 * MiB));
    gate start(context());
    const auto done = write_buffer_from(queue(), buffer.get(), 0, 2 * MiB, file.get(), 0, {start.event()});
    write_file(folder.path("in"), contents);
    start.open();
    ASSERT_TRUE(completes(done));
    EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, 2 * MiB)));
}

TEST_P(descriptor_files, a_file_truncated_before_the_transfer_starts_is_an_end_of_file) {
    const temporary_folder folder;
    const bytes contents = pattern(2 * MiB);
    write_file(folder.path("in"), contents);
    const descriptor file = open_descriptor(folder.path("in"), O_RDWR);
    const bytes before = pattern(2 * MiB, 2);
    const auto buffer = new_buffer(before);
    gate start(context());
    const auto done = write_buffer_from(queue(), buffer.get(), 0, 2 * MiB, file.get(), 0, {start.event()});
    ASSERT_EQ(ftruncate(file.get(), 1'234'567), 0);
    start.open();
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(done), 1'234'567U);
    const bytes expected = join(slice(contents, 0, 1'234'567), slice(before, 1'234'567, 2 * MiB - 1'234'567));
    EXPECT_TRUE(same_bytes(expected, contents_of(buffer, 0, 2 * MiB)));
}

TEST_P(descriptor_files, a_read_that_starts_behind_the_end_moves_nothing) {
    const temporary_folder folder;
    write_file(folder.path("in"), pattern(100));
    const descriptor file = open_descriptor(folder.path("in"), O_RDONLY);
    const bytes before = pattern(1000, 2);
    const auto buffer = new_buffer(before);
    const auto done = write_buffer_from(queue(), buffer.get(), 0, 1000, file.get(), 5000);
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(done), 0U);
    EXPECT_TRUE(same_bytes(before, contents_of(buffer, 0, 1000)));
}

TEST_P(descriptor_files, a_gated_transfer_does_not_hold_back_others_of_its_descriptor) {
    const temporary_folder folder;
    const bytes contents = pattern(2000);
    write_file(folder.path("in"), contents);
    const descriptor file = open_descriptor(folder.path("in"), O_RDONLY);
    const auto buffer = new_buffer(bytes(2000));
    const auto other_queue = new_queue();
    gate start(context());
    const auto held = write_buffer_from(queue(), buffer.get(), 0, 1000, file.get(), 0, {start.event()});
    EXPECT_TRUE(completes(write_buffer_from(other_queue.get(), buffer.get(), 1000, 1000, file.get(), 1000)));
    EXPECT_GT(status_of(held.get()), CL_COMPLETE);
    start.open();
    EXPECT_TRUE(completes(held));
    EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, 2000)));
}
