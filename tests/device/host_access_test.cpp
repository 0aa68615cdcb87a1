// SPDX-License-Identifier: Apache-2.0
// Buffers that the host may only read or only write: a transfer is the host's access, and needs no other.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>

using namespace support;

namespace {

constexpr std::size_t size = 3'000'001;

class host_access : public device_test {
  protected:
    [[nodiscard]] buffer_handle write_only_buffer(const bytes& contents) const {
        return with_flag(CL_MEM_HOST_WRITE_ONLY, contents);
    }
    [[nodiscard]] buffer_handle read_only_buffer(const bytes& contents) const {
        return with_flag(CL_MEM_HOST_READ_ONLY, contents);
    }

    /// What the host may not ask of the buffer, a copy on the device tells.
    [[nodiscard]] bytes copied_contents_of(const buffer_handle& buffer, std::size_t bytes_wanted) const {
        const auto readable = new_buffer(bytes_wanted);
        copy(buffer.get(), readable.get(), bytes_wanted);
        return contents_of(readable, 0, bytes_wanted);
    }

    [[nodiscard]] buffer_handle sub_buffer(const buffer_handle& parent, std::size_t bytes_wanted) const {
        const cl_buffer_region region{0, bytes_wanted};
        cl_int code = CL_SUCCESS;
        buffer_handle made(clCreateSubBuffer(parent.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return made;
    }

  private:
    [[nodiscard]] buffer_handle with_flag(cl_mem_flags flag, const bytes& contents) const {
        const auto source = new_buffer(contents);
        auto made = new_buffer(contents.size(), CL_MEM_READ_WRITE | flag);
        copy(source.get(), made.get(), contents.size());
        return made;
    }

    void copy(cl_mem source, cl_mem target, std::size_t bytes_wanted) const {
        EXPECT_EQ(clEnqueueCopyBuffer(queue(), source, target, 0, 0, bytes_wanted, 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
    }
};
INSTANTIATE_TEST_SUITE_P(devices, host_access, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(host_access, to_write_is_enough_for_a_target_with_every_strategy) {
    const temporary_folder folder;
    write_file(folder.path("in"), pattern(size));
    const descriptor file = open_descriptor(folder.path("in"), O_RDONLY);
    for (const char* name : {"auto", "direct", "mapped", "pinned", "pipelined"}) {
        SCOPED_TRACE(name);
        const option_scope strategy("strategy", name);
        const bytes before = pattern(size + 10, 2);
        const auto buffer = write_only_buffer(before);
        const auto done = write_buffer_from(queue(), buffer.get(), 5, size, file.get(), 0);
        ASSERT_TRUE(completes(done));
        EXPECT_EQ(bytes_moved(done), size);
        const bytes expected = join(join(slice(before, 0, 5), pattern(size)), slice(before, size + 5, 5));
        EXPECT_TRUE(same_bytes(expected, copied_contents_of(buffer, size + 10)));
    }
}

TEST_P(host_access, to_read_is_enough_for_a_source_with_every_strategy) {
    const auto buffer = read_only_buffer(pattern(size));
    for (const char* name : {"auto", "direct", "mapped", "pinned", "pipelined"}) {
        SCOPED_TRACE(name);
        const option_scope strategy("strategy", name);
        const temporary_folder folder;
        const descriptor file = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);
        const auto done = read_buffer_to(queue(), buffer.get(), 5, size - 5, file.get(), 0);
        ASSERT_TRUE(completes(done));
        EXPECT_EQ(bytes_moved(done), size - 5);
        EXPECT_TRUE(same_bytes(slice(pattern(size), 5, size - 5), file_contents(folder.path("out"))));
    }
    EXPECT_TRUE(same_bytes(pattern(size), contents_of(buffer, 0, size)));
}

TEST_P(host_access, to_write_alone_leaves_what_a_failed_transfer_does_not_reach) {
    const temporary_folder folder;
    write_file(folder.path("in"), pattern(1'000'000));
    const stream file = open_stream(folder.path("in"), "r");
    const bytes before = pattern(size, 2);
    const auto buffer = write_only_buffer(before);
    const auto done = write_buffer_from(queue(), buffer.get(), 0, size, file.get());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(done), 1'000'000U);
    const bytes expected = join(pattern(1'000'000), slice(before, 1'000'000, size - 1'000'000));
    EXPECT_TRUE(same_bytes(expected, copied_contents_of(buffer, size)));
}

TEST_P(host_access, to_read_one_and_to_write_the_other_is_enough_for_a_peer_copy) {
    const auto other_queue = new_queue();
    for (const char* name : {"auto", "mapped", "pinned", "pipelined"}) {
        SCOPED_TRACE(name);
        const option_scope strategy("strategy", name);
        const auto source = read_only_buffer(pattern(size));
        const auto target = write_only_buffer(pattern(size, 2));
        event_handle done;
        ASSERT_EQ(clEnqueuePeerCopyBuffer(queue(), source.get(), other_queue.get(), target.get(), CL_FALSE, 0, 0, size,
                                          0, nullptr, done.out()),
                  CL_SUCCESS);
        ASSERT_TRUE(completes(done));
        EXPECT_TRUE(same_bytes(pattern(size), copied_contents_of(target, size)));
    }
}

TEST_P(host_access, of_a_part_is_that_of_its_buffer) {
    // OpenCL 1.2, section 5.2.1: a sub-buffer inherits the flags that its creation does not name.
    const temporary_folder folder;
    write_file(folder.path("in"), pattern(size));
    const stream file = open_stream(folder.path("in"), "r+");
    const auto write_only = write_only_buffer(pattern(size, 2));
    const auto part = sub_buffer(write_only, size - 1);
    const option_scope strategy("strategy", "mapped");
    const auto done = write_buffer_from(queue(), part.get(), 0, size - 1, file.get());
    ASSERT_TRUE(completes(done));
    EXPECT_TRUE(same_bytes(slice(pattern(size), 0, size - 1), copied_contents_of(write_only, size - 1)));

    event_handle none;
    EXPECT_EQ(clEnqueueReadBufferToStdioFile(queue(), part.get(), CL_TRUE, 0, 100, file.get(), 0, nullptr, none.out()),
              CL_INVALID_OPERATION);
    EXPECT_EQ(none.get(), nullptr);
}
