// SPDX-License-Identifier: Apache-2.0
// A program without standard input, output or error: what the library opens does not become one of these.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"
#include "support/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

using namespace support;

namespace {

class standard_descriptors : public device_test {
  protected:
    /// What of 0 to 2 is open while a transfer is under way that `start` makes, given what it waits for.
    template <class Start> std::vector<int> open_during(Start start) {
        std::vector<int> found;
        cl_int ended = 0;
        {
            const without_standard_descriptors closed;
            gate held(context());
            const auto transfer = start(wait_list{held.event()});
            found = without_standard_descriptors::open_ones();
            // The message of a program that knows nothing of it.
            (void)!::write(STDERR_FILENO, "a message", 9);
            held.open();
            ended = await(transfer.get());
        }
        EXPECT_EQ(ended, CL_COMPLETE);
        return found;
    }
};
INSTANTIATE_TEST_SUITE_P(devices, standard_descriptors, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(standard_descriptors, that_are_closed_are_not_taken_by_a_transfers_own_descriptor) {
    const temporary_folder folder;
    const bytes contents = pattern(100'000);
    const auto buffer = new_buffer(contents);
    for (const int more : {0, O_APPEND, O_DIRECT, O_DSYNC}) {
        SCOPED_TRACE(testing::Message() << "flags " << more);
        write_file(folder.path("out"), {});
        const auto file = open_descriptor(folder.path("out"), O_RDWR | more);
        const auto found = open_during([&](const wait_list& waits) {
            return read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get(), 0, waits);
        });
        EXPECT_TRUE(found.empty()) << "descriptor " << found.front();
        EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
        const auto back = new_buffer(bytes(contents.size()));
        const auto also = open_during([&](const wait_list& waits) {
            return write_buffer_from(queue(), back.get(), 0, contents.size(), file.get(), 0, waits);
        });
        EXPECT_TRUE(also.empty()) << "descriptor " << also.front();
        EXPECT_TRUE(same_bytes(contents, contents_of(back, 0, contents.size())));
    }
}

TEST_P(standard_descriptors, that_are_closed_are_not_taken_where_a_large_file_is_opened_again_past_the_cache) {
    const option_scope past_the_cache("direct_io", "always");
    const temporary_folder folder;
    const bytes contents = pattern(9'000'000);
    const auto buffer = new_buffer(contents);
    write_file(folder.path("out"), {});
    const auto file = open_descriptor(folder.path("out"), O_RDWR);
    const auto found = open_during([&](const wait_list& waits) {
        return read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get(), 0, waits);
    });
    EXPECT_TRUE(found.empty()) << "descriptor " << found.front();
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}

TEST_P(standard_descriptors, that_are_closed_are_not_taken_by_a_streams_transfer) {
    const temporary_folder folder;
    const bytes contents = pattern(100'000);
    const auto buffer = new_buffer(contents);
    for (const char* mode : {"w", "a"}) {
        SCOPED_TRACE(mode);
        const auto file = open_stream(folder.path(mode), mode);
        const auto found = open_during([&](const wait_list& waits) {
            return read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get(), waits);
        });
        EXPECT_TRUE(found.empty()) << "descriptor " << found.front();
        EXPECT_TRUE(same_bytes(contents, file_contents(folder.path(mode))));
    }
}
