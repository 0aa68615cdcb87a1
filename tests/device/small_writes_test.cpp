// SPDX-License-Identifier: Apache-2.0
// Few bytes to a card that another process seems to use: pretend_discrete.c makes devices say that they are cards, and
// plain writes slow.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <dlfcn.h>
#include <fcntl.h>

using namespace support;

namespace {

class small_writes : public device_test {
  protected:
    void SetUp() override {
        if (slow() == nullptr) GTEST_SKIP() << "needs pretend_discrete, preloaded";
        *slow() = 1;
        *refuse() = *rectangles() = 0;
    }
    void TearDown() override {
        if (slow() != nullptr) *slow() = *refuse() = *starts_at_flush() = 0;
    }
    static int* slow() { return static_cast<int*>(dlsym(RTLD_DEFAULT, "pretend_slow_writes")); }
    static int* refuse() { return static_cast<int*>(dlsym(RTLD_DEFAULT, "pretend_no_rectangles")); }
    static int* starts_at_flush() { return static_cast<int*>(dlsym(RTLD_DEFAULT, "pretend_starts_at_flush")); }
    static int* rectangles() { return static_cast<int*>(dlsym(RTLD_DEFAULT, "pretend_rectangles")); }

    /// Each size at odd and even places, one after the other, with all around it untouched.
    void write_all() {
        const temporary_folder folder;
        const bytes contents = pattern(80'000);
        write_file(folder.path("in"), contents);
        const descriptor file = open_descriptor(folder.path("in"), O_RDONLY);
        for (const std::size_t size : {2u, 8u, 8u, 9u, 30u, 4098u, 24'576u, 65'535u, 65'536u}) {
            for (const std::size_t offset : {0u, 1u, 333u}) {
                SCOPED_TRACE(testing::Message() << size << " bytes at " << offset);
                const bytes before = pattern(size + 400, 2);
                const auto buffer = new_buffer(before);
                ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), offset, size, file.get(), 77)));
                const bytes expected = join(join(slice(before, 0, offset), slice(contents, 77, size)),
                                            slice(before, size + offset, 400 - offset));
                EXPECT_TRUE(same_bytes(expected, contents_of(buffer, 0, expected.size())));
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(devices, small_writes, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(small_writes, go_as_two_rows_and_move_the_same_bytes) {
    write_all();
    EXPECT_GE(*rectangles(), 10) << "of 21 even ones all but those that told";
}

TEST_P(small_writes, go_plainly_where_rows_are_refused) {
    *refuse() = 1;
    write_all();
    EXPECT_EQ(*rectangles(), 1);
}

TEST_P(small_writes, are_flushed_if_they_do_not_start_without_that) {
    *slow() = 0;
    *starts_at_flush() = 1;
    write_all();
}

TEST_P(small_writes, reach_a_part_of_a_buffer) {
    write_all();
    const temporary_folder folder;
    const bytes contents = pattern(100), before = pattern(4096, 2);
    write_file(folder.path("in"), contents);
    const descriptor file = open_descriptor(folder.path("in"), O_RDONLY);
    const auto buffer = new_buffer(before);
    const cl_buffer_region region{1024, 1024};
    cl_int code = CL_SUCCESS;
    const buffer_handle part(
        clCreateSubBuffer(buffer.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const auto known = *rectangles();
    ASSERT_TRUE(completes(write_buffer_from(queue(), part.get(), 5, 64, file.get(), 3)));
    EXPECT_EQ(*rectangles(), known + 1);
    const bytes expected = join(join(slice(before, 0, 1029), slice(contents, 3, 64)), slice(before, 1093, 4096 - 1093));
    EXPECT_TRUE(same_bytes(expected, contents_of(buffer, 0, expected.size())));
}
