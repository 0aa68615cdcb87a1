// SPDX-License-Identifier: Apache-2.0
// One process as rank 1 of four: with CAUSEWAY_DRY_RUN=4x1:1.
#include "platform_fixture.hpp"

using namespace support;

namespace {

class dry_run : public platform_test {
  protected:
    void SetUp() override {
        if (std::getenv("CAUSEWAY_DRY_RUN") == nullptr) GTEST_SKIP() << "CAUSEWAY_DRY_RUN is not set";
        platform_test::SetUp();
    }
};

TEST_F(dry_run, has_the_devices_of_all_ranks_and_ends_all_that_it_waits_for) {
    ASSERT_EQ(devices().size(), 4U);
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    std::vector<cl_uint> start(8, 5);
    const auto buffer = new_buffer(32, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    const auto gate = new_user_event();
    std::vector<event_handle> events;
    for (std::size_t i = 0; i < devices().size(); ++i) {
        events.emplace_back();
        launch(queue(i), add, buffer, 1, 8, i == 2 ? std::vector{gate.get()} : std::vector<cl_event>{},
               events.back().out());
    }
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    for (const auto& event : events) EXPECT_EQ(clWaitForEvents(1, std::vector{event.get()}.data()), CL_SUCCESS);
    // Nothing has run.
    for (std::size_t i = 0; i < devices().size(); ++i) EXPECT_EQ(read(queue(i), buffer, 8), std::vector<cl_uint>(8, 0));
    for (std::size_t i = 0; i < devices().size(); ++i) EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
    // Devices of other ranks have the binaries of a like one.
    std::vector<std::size_t> sizes(devices().size());
    ASSERT_EQ(
        clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof sizes[0], sizes.data(), nullptr),
        CL_SUCCESS);
    EXPECT_GT(sizes[1], 0U); // its own
    EXPECT_EQ(sizes, std::vector(sizes.size(), sizes[1]));
    std::vector<std::vector<unsigned char>> binaries(sizes.size(), std::vector<unsigned char>(sizes[1]));
    std::vector<unsigned char*> places;
    for (auto& binary : binaries) places.push_back(binary.data());
    ASSERT_EQ(
        clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, places.size() * sizeof places[0], places.data(), nullptr),
        CL_SUCCESS);
    EXPECT_NE(binaries[1], std::vector<unsigned char>(sizes[1]));
    EXPECT_EQ(binaries, std::vector(sizes.size(), binaries[1]));
}

TEST_F(dry_run, says_without_waiting_that_commands_of_all_ranks_are_complete) {
    const auto buffer = new_buffer(32);
    const cl_uint pattern = 1;
    for (std::size_t i = 0; i < devices().size(); ++i) {
        SCOPED_TRACE(i);
        event_handle filled, gated;
        const auto gate = new_user_event();
        auto* wait = gate.get();
        ASSERT_EQ(clEnqueueFillBuffer(queue(i), buffer.get(), &pattern, 4, 0, 32, 0, nullptr, filled.out()),
                  CL_SUCCESS);
        EXPECT_EQ(status_of(filled.get()), CL_COMPLETE);
        cl_ulong time = 0;
        EXPECT_EQ(clGetEventProfilingInfo(filled.get(), CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueFillBuffer(queue(i), buffer.get(), &pattern, 4, 0, 32, 1, &wait, gated.out()), CL_SUCCESS);
        EXPECT_GT(status_of(gated.get()), CL_COMPLETE);
        EXPECT_EQ(clGetEventProfilingInfo(gated.get(), CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr),
                  CL_PROFILING_INFO_NOT_AVAILABLE);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        wait = gated.get();
        EXPECT_EQ(clWaitForEvents(1, &wait), CL_SUCCESS);
        EXPECT_EQ(status_of(gated.get()), CL_COMPLETE);
        for (std::size_t j = 0; j < devices().size(); ++j) {
            std::vector<cl_uint> values(8, 7);
            ASSERT_EQ(clEnqueueReadBuffer(queue(j), buffer.get(), CL_TRUE, 0, 32, values.data(), 1, &wait, nullptr),
                      CL_SUCCESS);
            EXPECT_EQ(values, std::vector<cl_uint>(8, 0));
        }
    }
}

} // namespace
