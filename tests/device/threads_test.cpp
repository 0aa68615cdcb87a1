// SPDX-License-Identifier: Apache-2.0
// Processes that can make no more threads: what needs one fails and says so, and works again once there are some.
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"
#include "support/processes.hpp"

using namespace support;

namespace {

class without_threads : public device_test {
  protected:
    void expect_good(const std::string& scenario) const {
        const temporary_folder folder;
        const auto end = run_program(CAUSEWAY_TEST_THREADLESS_PROGRAM,
                                     {scenario, index_of(GetParam()), folder.path("file")});
        ASSERT_TRUE(end) << "the process does not end";
        EXPECT_EQ(end->code, 7);
        EXPECT_TRUE(same_bytes(bytes(64 << 20, 0x5a), file_contents(folder.path("file"))));
    }
};
INSTANTIATE_TEST_SUITE_P(devices, without_threads, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(without_threads, the_first_transfer_is_refused_and_a_later_one_is_not) { expect_good("engine"); }

TEST_P(without_threads, a_file_transfer_fails) { expect_good("file_worker"); }

TEST_P(without_threads, a_file_transfer_makes_do_with_the_worker_that_there_is) { expect_good("second_file_worker"); }

TEST_P(without_threads, a_stream_transfer_fails_and_takes_nothing_from_the_stream) { expect_good("stream_worker"); }
