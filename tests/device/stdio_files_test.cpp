// SPDX-License-Identifier: Apache-2.0
// Transfers between buffers and FILE streams of regular files, compared with the fread and fwrite calls they replace.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

using namespace support;

namespace {

constexpr std::size_t MiB = 1 << 20;
constexpr std::size_t sizes[] = {0, 1, 4095, 4096, MiB + 1, 16 * MiB + 3};

bytes fread_bytes(std::FILE* file, std::size_t size) {
    bytes result(size);
    result.resize(std::fread(result.data(), 1, size, file));
    return result;
}

void fwrite_bytes(std::FILE* file, const bytes& contents) {
    if (contents.empty()) return;
    ASSERT_EQ(std::fwrite(contents.data(), 1, contents.size(), file), contents.size());
}

class stdio_files : public device_test {};
INSTANTIATE_TEST_SUITE_P(devices, stdio_files, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(stdio_files, a_transfer_reads_what_fread_would_have_read) {
    for (const std::size_t size : sizes) {
        for (const std::size_t position : {0, 1, 5000}) {
            SCOPED_TRACE(testing::Message() << size << " bytes at " << position);
            const std::size_t offset = 64;
            const twin_streams files(pattern(position + size + 10'000), "r");
            const bytes before = pattern(offset + size + 64, 2);
            const auto buffer = new_buffer(before);
            files.on_both([&](std::FILE* file) { fseeko(file, static_cast<off_t>(position), SEEK_SET); });

            const auto done = write_buffer_from(queue(), buffer.get(), offset, size, files.transferred());
            ASSERT_TRUE(completes(done));

            const bytes expected = join(join(slice(before, 0, offset), fread_bytes(files.reference(), size)),
                                        slice(before, offset + size, 64));
            EXPECT_TRUE(same_bytes(expected, contents_of(buffer, 0, expected.size())));
            EXPECT_EQ(bytes_moved(done), size);
            EXPECT_TRUE(files.agree());
            EXPECT_EQ(std::fgetc(files.transferred()), std::fgetc(files.reference()));
        }
    }
}

TEST_P(stdio_files, a_transfer_writes_what_fwrite_would_have_written) {
    for (const std::size_t size : sizes) {
        for (const std::size_t position : {0, 1, 5000}) {
            SCOPED_TRACE(testing::Message() << size << " bytes at " << position);
            const std::size_t offset = 64;
            const twin_streams files(pattern(10'000), "r+");
            const bytes contents = pattern(offset + size + 64, 2);
            const auto buffer = new_buffer(contents);
            files.on_both([&](std::FILE* file) { fseeko(file, static_cast<off_t>(position), SEEK_SET); });

            const auto done = read_buffer_to(queue(), buffer.get(), offset, size, files.transferred());
            ASSERT_TRUE(completes(done));

            fwrite_bytes(files.reference(), slice(contents, offset, size));
            EXPECT_EQ(bytes_moved(done), size);
            EXPECT_TRUE(files.agree());
            files.on_both([](std::FILE* file) { fwrite_bytes(file, pattern(100, 3)); });
            EXPECT_TRUE(files.agree());
        }
    }
}

TEST_P(stdio_files, the_position_is_right_as_soon_as_the_event_is_complete) {
    const twin_streams files(pattern(MiB), "r+");
    const auto buffer = new_buffer(bytes(MiB));
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 1000, files.transferred())));
    EXPECT_EQ(ftello(files.transferred()), 1000);
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 2000, files.transferred())));
    EXPECT_EQ(ftello(files.transferred()), 3000);
}

TEST_P(stdio_files, written_bytes_are_in_the_file_without_a_flush) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const bytes contents = pattern(100);
    const auto buffer = new_buffer(contents);
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get())));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}

TEST_P(stdio_files, a_read_goes_on_where_fread_stopped_although_stdio_has_read_ahead) {
    const twin_streams files(pattern(2 * MiB), "r");
    const auto buffer = new_buffer(bytes(MiB));
    files.on_both([](std::FILE* file) { static_cast<void>(fread_bytes(file, 7)); });

    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, MiB, files.transferred())));
    EXPECT_TRUE(same_bytes(fread_bytes(files.reference(), MiB), contents_of(buffer, 0, MiB)));
    EXPECT_TRUE(same_bytes(fread_bytes(files.reference(), 5000), fread_bytes(files.transferred(), 5000)));
    EXPECT_TRUE(files.agree());
}

TEST_P(stdio_files, a_short_read_stays_within_what_stdio_has_read_ahead) {
    const twin_streams files(pattern(8192), "r");
    const auto buffer = new_buffer(bytes(100));
    files.on_both([](std::FILE* file) { static_cast<void>(fread_bytes(file, 7)); });

    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 100, files.transferred())));
    EXPECT_TRUE(same_bytes(fread_bytes(files.reference(), 100), contents_of(buffer, 0, 100)));
    EXPECT_TRUE(files.agree());
    EXPECT_EQ(std::fgetc(files.transferred()), std::fgetc(files.reference()));
}

TEST_P(stdio_files, a_write_comes_behind_what_fwrite_has_still_in_its_buffer) {
    const twin_streams files({}, "w");
    const bytes contents = pattern(MiB + 5);
    const auto buffer = new_buffer(contents);
    files.on_both([](std::FILE* file) { fwrite_bytes(file, pattern(13, 2)); });

    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, contents.size(), files.transferred())));
    fwrite_bytes(files.reference(), contents);
    files.on_both([](std::FILE* file) { fwrite_bytes(file, pattern(17, 3)); });
    EXPECT_TRUE(files.agree());
}

TEST_P(stdio_files, a_write_overwrites_at_the_position_of_an_updated_file_that_stdio_has_read_ahead) {
    const twin_streams files(pattern(MiB), "r+");
    const bytes contents = pattern(70'000, 2);
    const auto buffer = new_buffer(contents);
    files.on_both([](std::FILE* file) {
        static_cast<void>(fread_bytes(file, 50));
        fseeko(file, 0, SEEK_CUR); // C wants a positioning call between a read and a write
    });

    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, contents.size(), files.transferred())));
    fwrite_bytes(files.reference(), contents);
    EXPECT_TRUE(files.agree());
    files.on_both([](std::FILE* file) { fseeko(file, 0, SEEK_CUR); });
    EXPECT_TRUE(same_bytes(fread_bytes(files.reference(), 9000), fread_bytes(files.transferred(), 9000)));
}

TEST_P(stdio_files, a_file_opened_for_writing_and_reading_gives_back_what_was_written) {
    const twin_streams files(pattern(10), "w+");
    const bytes contents = pattern(MiB + 1);
    const auto source = new_buffer(contents);
    const auto target = new_buffer(bytes(MiB + 1));

    ASSERT_TRUE(completes(read_buffer_to(queue(), source.get(), 0, contents.size(), files.transferred())));
    fwrite_bytes(files.reference(), contents);
    EXPECT_TRUE(files.agree());
    files.on_both([](std::FILE* file) { fseeko(file, 100, SEEK_SET); });
    const std::size_t size = MiB - 1000;
    ASSERT_TRUE(completes(write_buffer_from(queue(), target.get(), 0, size, files.transferred())));
    EXPECT_TRUE(same_bytes(fread_bytes(files.reference(), size), contents_of(target, 0, size)));
    EXPECT_TRUE(files.agree());
}

TEST_P(stdio_files, an_append_lands_behind_what_others_have_appended_meanwhile) {
    for (const std::size_t size : {std::size_t{100}, MiB + 1}) {
        SCOPED_TRACE(size);
        const twin_streams files(pattern(1000), "a");
        const bytes contents = pattern(size, 2);
        const auto buffer = new_buffer(contents);
        gate start(context());

        const auto done = read_buffer_to(queue(), buffer.get(), 0, contents.size(), files.transferred(),
                                         {start.event()});
        for (const std::string& path : {files.transferred_path(), files.reference_path()}) {
            fwrite_bytes(open_stream(path, "a").get(), pattern(333, 3));
        }
        start.open();
        ASSERT_TRUE(completes(done));
        fwrite_bytes(files.reference(), contents);
        std::fflush(files.reference());
        EXPECT_TRUE(files.agree());
    }
}

TEST_P(stdio_files, appends_and_fwrites_to_one_stream_stay_in_order) {
    const twin_streams files(pattern(10), "a");
    const bytes contents = pattern(5000, 2);
    const auto buffer = new_buffer(contents);
    files.on_both([](std::FILE* file) { fwrite_bytes(file, pattern(21, 3)); });
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 5000, files.transferred())));
    fwrite_bytes(files.reference(), contents);
    files.on_both([](std::FILE* file) { fwrite_bytes(file, pattern(22, 4)); });
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 100, 50, files.transferred())));
    fwrite_bytes(files.reference(), slice(contents, 100, 50));
    EXPECT_TRUE(files.agree());
}

TEST_P(stdio_files, an_append_and_read_stream_reads_from_its_position_and_writes_at_the_end) {
    const twin_streams files(pattern(9000), "a+");
    const bytes contents = pattern(2000, 2);
    const auto source = new_buffer(contents);
    const auto target = new_buffer(bytes(2000));
    files.on_both([](std::FILE* file) { fseeko(file, 10, SEEK_SET); });

    ASSERT_TRUE(completes(write_buffer_from(queue(), target.get(), 0, 2000, files.transferred())));
    EXPECT_TRUE(same_bytes(fread_bytes(files.reference(), 2000), contents_of(target, 0, 2000)));
    EXPECT_TRUE(files.agree());

    ASSERT_TRUE(completes(read_buffer_to(queue(), source.get(), 0, 2000, files.transferred())));
    fseeko(files.reference(), 0, SEEK_CUR);
    fwrite_bytes(files.reference(), contents);
    std::fflush(files.reference());
    EXPECT_TRUE(files.agree());
}

TEST_P(stdio_files, an_unbuffered_stream_is_read_and_written_in_place) {
    const twin_streams files(pattern(MiB), "r+");
    files.on_both([](std::FILE* file) { setvbuf(file, nullptr, _IONBF, 0); });
    const auto buffer = new_buffer(bytes(5000));
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 5000, files.transferred())));
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 5000, files.transferred())));
    const bytes read = fread_bytes(files.reference(), 5000);
    fseeko(files.reference(), 0, SEEK_CUR);
    fwrite_bytes(files.reference(), read);
    EXPECT_TRUE(files.agree());
}

TEST_P(stdio_files, a_byte_that_was_pushed_back_is_read_first) {
    const twin_streams files(pattern(MiB), "r");
    const auto buffer = new_buffer(bytes(1000));
    files.on_both([](std::FILE* file) {
        static_cast<void>(fread_bytes(file, 10));
        const int last = std::fgetc(file);
        std::ungetc(last, file);
    });
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 1000, files.transferred())));
    EXPECT_TRUE(same_bytes(fread_bytes(files.reference(), 1000), contents_of(buffer, 0, 1000)));
    EXPECT_TRUE(files.agree());
}

TEST_P(stdio_files, a_read_past_the_end_fails_with_the_prefix_in_place_and_feof_set) {
    for (const std::size_t available : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, 3 * MiB + 17}) {
        SCOPED_TRACE(available);
        const std::size_t size = 4 * MiB;
        const twin_streams files(pattern(100 + available), "r");
        const bytes before = pattern(size, 2);
        const auto buffer = new_buffer(before);
        files.on_both([](std::FILE* file) { static_cast<void>(fread_bytes(file, 100)); });

        const auto done = write_buffer_from(queue(), buffer.get(), 0, size, files.transferred());
        ASSERT_TRUE(fails_with(done, CL_TRANSFER_END_OF_FILE));
        const bytes read = fread_bytes(files.reference(), size);
        EXPECT_EQ(bytes_moved(done), available);
        EXPECT_TRUE(same_bytes(join(read, slice(before, available, size - available)), contents_of(buffer, 0, size)));
        EXPECT_NE(std::feof(files.transferred()), 0);
        EXPECT_TRUE(files.agree());
    }
}

TEST_P(stdio_files, a_read_up_to_the_last_byte_does_not_set_feof) {
    const twin_streams files(pattern(MiB), "r");
    const auto buffer = new_buffer(bytes(MiB));
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, MiB, files.transferred())));
    static_cast<void>(fread_bytes(files.reference(), MiB));
    EXPECT_EQ(std::feof(files.transferred()), 0);
    EXPECT_TRUE(files.agree());
}

TEST_P(stdio_files, an_empty_read_at_the_end_completes) {
    const twin_streams files(pattern(10), "r");
    const auto buffer = new_buffer(bytes(10));
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 10, files.transferred())));
    EXPECT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 0, files.transferred())));
    EXPECT_EQ(std::feof(files.transferred()), 0);
}

TEST_P(stdio_files, the_next_command_after_an_end_of_file_starts_at_the_end) {
    const twin_streams files(pattern(1000), "r+");
    const bytes contents = pattern(4096, 2);
    const auto buffer = new_buffer(contents);
    const auto too_much = write_buffer_from(queue(), buffer.get(), 0, 2000, files.transferred());
    const auto nothing_left = write_buffer_from(queue(), buffer.get(), 0, 1, files.transferred());
    const auto appended = read_buffer_to(queue(), buffer.get(), 2000, 96, files.transferred());

    EXPECT_TRUE(fails_with(too_much, CL_TRANSFER_END_OF_FILE));
    EXPECT_TRUE(fails_with(nothing_left, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(nothing_left), 0U);
    ASSERT_TRUE(completes(appended));
    EXPECT_EQ(ftello(files.transferred()), 1096);
    EXPECT_TRUE(same_bytes(join(pattern(1000), slice(contents, 2000, 96)), file_contents(files.transferred_path())));
}
