// SPDX-License-Identifier: Apache-2.0
// Contents that fail to come to a device: what needs them fails, and nothing else. With a driver that is told to fail.
#include "platform_fixture.hpp"

#include <dlfcn.h>

#include <atomic>

using namespace support;

namespace {

constexpr std::size_t items = 1000;

class failed_moves : public platform_test {
  protected:
    void SetUp() override {
        m_reads = static_cast<std::atomic<int>*>(dlsym(RTLD_DEFAULT, "reads_to_fail"));
        m_writes = static_cast<std::atomic<int>*>(dlsym(RTLD_DEFAULT, "writes_to_fail"));
        if (m_reads == nullptr || m_writes == nullptr) GTEST_SKIP() << "no driver is told to fail";
        *m_reads = *m_writes = 0;
        platform_test::SetUp();
        ASSERT_GT(devices().size(), 1U);
        m_program = build(add_source);
        m_add = kernel_of(m_program, "add");
        begin();
    }

    /// A buffer whose contents are on the first device.
    void begin() {
        m_buffer = new_buffer(items * sizeof(cl_uint));
        overwrite(queue(), 0);
        add(queue(), 5);
        ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    }
    event_handle add(cl_command_queue on, cl_uint value, const std::vector<cl_event>& waits = {}) {
        cl_event made = nullptr;
        launch(on, m_add, m_buffer, value, items, waits, &made);
        return event_handle(made);
    }
    void overwrite(cl_command_queue on, cl_uint value) {
        const std::vector<cl_uint> values(items, value);
        EXPECT_EQ(clEnqueueWriteBuffer(on, m_buffer.get(), CL_TRUE, 0, items * sizeof(cl_uint), values.data(), 0,
                                       nullptr, nullptr),
                  CL_SUCCESS);
    }
    void fail_next(bool a_read) { *(a_read ? m_reads : m_writes) = 1; }
    /// Whether the failure was met.
    [[nodiscard]] bool has_failed() const { return *m_reads == 0 && *m_writes == 0; }
    [[nodiscard]] cl_mem buffer() const { return m_buffer.get(); }
    [[nodiscard]] std::vector<cl_uint> contents(cl_command_queue on) { return read(on, m_buffer, items); }

  private:
    std::atomic<int>*m_reads = nullptr, *m_writes = nullptr;
    program_handle m_program;
    kernel_handle m_add;
    buffer_handle m_buffer;
};

TEST_F(failed_moves, fail_the_command_that_needs_the_contents_and_those_that_wait_for_it) {
    for (const bool a_read : {true, false}) {
        begin();
        fail_next(a_read);
        const auto failed = add(last_queue(), 7);
        auto* const waits = failed.get();
        EXPECT_NE(clWaitForEvents(1, &waits), CL_SUCCESS) << (a_read ? "read" : "write");
        EXPECT_TRUE(has_failed());
        EXPECT_LT(status_of(failed.get()), CL_COMPLETE);
        const auto behind = add(last_queue(), 7, {failed.get()});
        auto* const too = behind.get();
        EXPECT_NE(clWaitForEvents(1, &too), CL_SUCCESS);
        EXPECT_EQ(contents(queue()), std::vector<cl_uint>(items, 5)) << "where they were";
    }
}

TEST_F(failed_moves, are_made_again_by_the_next_command) {
    for (const bool a_read : {true, false}) {
        fail_next(a_read);
        const auto failed = add(last_queue(), 7);
        auto* const waits = failed.get();
        EXPECT_NE(clWaitForEvents(1, &waits), CL_SUCCESS);
        EXPECT_TRUE(has_failed());
    }
    add(last_queue(), 9);
    EXPECT_EQ(contents(last_queue()), std::vector<cl_uint>(items, 14));
    EXPECT_EQ(contents(queue()), std::vector<cl_uint>(items, 14));
}

TEST_F(failed_moves, matter_no_more_once_all_is_overwritten) {
    fail_next(false);
    const auto failed = add(last_queue(), 7);
    auto* const waits = failed.get();
    EXPECT_NE(clWaitForEvents(1, &waits), CL_SUCCESS);
    overwrite(last_queue(), 3);
    EXPECT_EQ(contents(last_queue()), std::vector<cl_uint>(items, 3));
    EXPECT_EQ(contents(queue()), std::vector<cl_uint>(items, 3));
}

/// The move back is enqueued before anybody knows that the one there will fail.
TEST_F(failed_moves, leave_the_contents_where_they_were_if_a_move_back_is_behind_them) {
    for (const bool a_read : {true, false}) {
        begin();
        const event_handle gate = new_user_event();
        const auto before = add(queue(), 0, {gate.get()});
        fail_next(a_read);
        const auto there = add(last_queue(), 7);
        std::vector<cl_uint> values(items);
        cl_event made = nullptr;
        ASSERT_EQ(clEnqueueReadBuffer(queue(), buffer(), CL_FALSE, 0, items * sizeof(cl_uint), values.data(), 0,
                                      nullptr, &made),
                  CL_SUCCESS);
        const event_handle back(made);
        ASSERT_EQ(clFlush(queue()), CL_SUCCESS);
        ASSERT_EQ(clFlush(last_queue()), CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        for (auto* const failed : {there.get(), back.get()}) {
            EXPECT_NE(clWaitForEvents(1, &failed), CL_SUCCESS);
            EXPECT_LT(status_of(failed), CL_COMPLETE);
        }
        EXPECT_TRUE(has_failed());
        EXPECT_EQ(contents(queue()), std::vector<cl_uint>(items, 5));
        EXPECT_EQ(contents(last_queue()), std::vector<cl_uint>(items, 5));
    }
}

} // namespace
