// SPDX-License-Identifier: Apache-2.0
// Writes at the end of a file, wherever that is when they happen.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace support;

namespace {

constexpr std::size_t size = 40'000'001; // more than one block

class append : public device_test {
  protected:
    [[nodiscard]] std::string path() const { return m_folder.path("log"); }
    void add(const bytes& contents) const {
        const auto other = open_descriptor(path(), O_WRONLY | O_APPEND);
        ASSERT_TRUE(write_all(other.get(), contents));
    }

  private:
    temporary_folder m_folder;
};
INSTANTIATE_TEST_SUITE_P(devices, append, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(append, goes_behind_what_others_have_written_meanwhile) {
    const bytes contents = pattern(size);
    const auto buffer = new_buffer(contents);
    for (const int flags : {O_WRONLY | O_APPEND, O_WRONLY, O_RDWR | O_APPEND | O_DIRECT}) {
        SCOPED_TRACE(flags);
        write_file(path(), pattern(10, 1));
        auto file = open_descriptor(path(), flags);
        gate start(context());
        const auto done = read_buffer_to(queue(), buffer.get(), 0, size, file.get(), CL_TRANSFER_APPEND,
                                         {start.event()});
        EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 0);
        file.close(); // as with any descriptor
        add(pattern(7, 2));
        start.open();
        ASSERT_TRUE(completes(done));
        EXPECT_EQ(bytes_moved(done), size);
        add(pattern(3, 3));
        EXPECT_TRUE(same_bytes(join(join(join(pattern(10, 1), pattern(7, 2)), contents), pattern(3, 3)),
                               file_contents(path())));
    }
}

TEST_P(append, of_several_transfers_does_not_mix) {
    constexpr std::size_t count = 4;
    write_file(path(), {});
    const auto file = open_descriptor(path(), O_WRONLY | O_APPEND);
    std::vector<queue_handle> queues;
    std::vector<buffer_handle> buffers;
    std::vector<event_handle> events;
    gate start(context());
    for (std::size_t i = 0; i < count; ++i) {
        queues.push_back(new_queue());
        buffers.push_back(new_buffer(bytes(size, static_cast<unsigned char>('a' + i))));
        events.push_back(read_buffer_to(queues[i].get(), buffers[i].get(), 0, size, file.get(), CL_TRANSFER_APPEND,
                                        {start.event()}));
    }
    start.open();
    for (const auto& each : events) ASSERT_TRUE(completes(each));
    const bytes whole = file_contents(path());
    ASSERT_EQ(whole.size(), count * size);
    for (std::size_t i = 0; i < count; ++i)
        EXPECT_TRUE(same_bytes(bytes(size, whole[i * size]), slice(whole, i * size, size))) << i;
}

TEST_P(append, may_be_cancelled_and_holds_nobody_back) {
    write_file(path(), {});
    const auto file = open_descriptor(path(), O_WRONLY | O_APPEND);
    const auto buffer = new_buffer(pattern(100));
    const auto other_queue = new_queue();
    gate start(context());
    const auto gated = read_buffer_to(queue(), buffer.get(), 0, 100, file.get(), CL_TRANSFER_APPEND, {start.event()});
    // One whose gate is shut has no place before others.
    ASSERT_TRUE(completes(read_buffer_to(other_queue.get(), buffer.get(), 0, 100, file.get(), CL_TRANSFER_APPEND)));
    ASSERT_EQ(clCancelTransfer(gated.get()), CL_SUCCESS);
    ASSERT_TRUE(fails_with(gated, CL_TRANSFER_CANCELLED));
    EXPECT_TRUE(same_bytes(pattern(100), file_contents(path())));
}

TEST_P(append, is_refused_where_there_is_no_end) {
    const auto buffer = new_buffer(pattern(100));
    const auto refused = [&](int fd) {
        return clEnqueueReadBufferToFile(queue(), buffer.get(), CL_FALSE, 0, 100, fd, CL_TRANSFER_APPEND, 0, nullptr,
                                         nullptr);
    };
    const auto ends = make_pipe();
    EXPECT_EQ(refused(ends.writing.get()), CL_INVALID_VALUE);
    EXPECT_EQ(refused(-1), CL_INVALID_VALUE);
    write_file(path(), {});
    const auto file = open_descriptor(path(), O_RDONLY);
    EXPECT_EQ(refused(file.get()), CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueueWriteBufferFromFile(queue(), buffer.get(), CL_FALSE, 0, 100, file.get(), CL_TRANSFER_APPEND, 0,
                                           nullptr, nullptr),
              CL_INVALID_VALUE);
}
