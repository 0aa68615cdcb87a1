// SPDX-License-Identifier: Apache-2.0
// The library's own callbacks: what drivers tell of failed events differs.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t size = 100'000;

/// What callbacks were told.
class listener {
  public:
    static void CL_CALLBACK hear(cl_event event, cl_int status, void* data) {
        auto& self = *static_cast<listener*>(data);
        const std::lock_guard lock(self.m_mutex);
        self.m_heard.push_back({event, status});
    }
    [[nodiscard]] std::vector<std::pair<cl_event, cl_int>> heard() {
        const std::lock_guard lock(m_mutex);
        return m_heard;
    }
    [[nodiscard]] bool hears(std::size_t count) {
        return eventually([&] { return heard().size() >= count; });
    }

  private:
    std::mutex m_mutex; // guards m_heard
    std::vector<std::pair<cl_event, cl_int>> m_heard;
};

class transfer_callbacks : public device_test {
  protected:
    [[nodiscard]] descriptor new_file() const {
        return open_descriptor(m_folder.path("file"), O_RDWR | O_CREAT | O_TRUNC);
    }
    [[nodiscard]] event_handle write(int fd, const wait_list& waits = {}) const {
        return read_buffer_to(queue(), m_buffer.get(), 0, size, fd, 0, waits);
    }
    /// Of an empty file: it fails.
    [[nodiscard]] event_handle read(int fd, const wait_list& waits = {}) const {
        return write_buffer_from(queue(), m_buffer.get(), 0, size, fd, 0, waits);
    }

  private:
    temporary_folder m_folder;
    buffer_handle m_buffer = new_buffer(pattern(size));
};
INSTANTIATE_TEST_SUITE_P(devices, transfer_callbacks, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(transfer_callbacks, are_called_when_the_bytes_are_there) {
    const auto file = new_file();
    listener told;
    gate start(context());
    const auto done = write(file.get(), {start.event()});
    ASSERT_EQ(clSetTransferCallback(done.get(), listener::hear, &told), CL_SUCCESS);
    ASSERT_EQ(clSetTransferCallback(done.get(), listener::hear, &told), CL_SUCCESS);
    EXPECT_TRUE(told.heard().empty());
    start.open();
    ASSERT_TRUE(told.hears(2));
    for (const auto& [event, status] : told.heard()) {
        EXPECT_EQ(event, done.get());
        EXPECT_EQ(status, CL_COMPLETE);
    }
}

TEST_P(transfer_callbacks, are_called_with_the_failure) {
    const auto file = new_file();
    listener told;
    gate start(context());
    const auto failing = read(file.get(), {start.event()});
    const auto behind = read(file.get(), {failing.get()});
    ASSERT_EQ(clSetTransferCallback(failing.get(), listener::hear, &told), CL_SUCCESS);
    ASSERT_EQ(clSetTransferCallback(behind.get(), listener::hear, &told), CL_SUCCESS);
    start.open();
    ASSERT_TRUE(told.hears(2));
    EXPECT_EQ(told.heard()[0], std::make_pair(failing.get(), CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(told.heard()[1], std::make_pair(behind.get(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
}

TEST_P(transfer_callbacks, that_come_late_are_told_the_same) {
    const auto file = new_file();
    const auto failed = read(file.get());
    ASSERT_TRUE(fails_with(failed, CL_TRANSFER_END_OF_FILE));
    const auto done = write(file.get());
    ASSERT_TRUE(completes(done));
    listener told;
    ASSERT_EQ(clSetTransferCallback(failed.get(), listener::hear, &told), CL_SUCCESS);
    ASSERT_EQ(clSetTransferCallback(done.get(), listener::hear, &told), CL_SUCCESS);
    ASSERT_TRUE(told.hears(2));
    EXPECT_EQ(told.heard()[0].second, CL_TRANSFER_END_OF_FILE);
    EXPECT_EQ(told.heard()[1].second, CL_COMPLETE);
}

TEST_P(transfer_callbacks, of_cancelled_transfers_are_called) {
    const auto file = new_file();
    listener told;
    gate start(context());
    const auto cancelled = write(file.get(), {start.event()});
    ASSERT_EQ(clSetTransferCallback(cancelled.get(), listener::hear, &told), CL_SUCCESS);
    ASSERT_EQ(clCancelTransfer(cancelled.get()), CL_SUCCESS);
    ASSERT_TRUE(told.hears(1));
    EXPECT_EQ(told.heard()[0].second, CL_TRANSFER_CANCELLED);
}

TEST_P(transfer_callbacks, may_block) {
    struct next {
        transfer_callbacks* test;
        cl_command_queue queue;
        cl_mem buffer;
        int fd;
        std::promise<cl_int> code;
    };
    const auto file = new_file(), other = new_file();
    const auto buffer = new_buffer(pattern(size));
    next second{this, queue(), buffer.get(), other.get(), {}};
    auto answer = second.code.get_future();
    const auto first = write(file.get());
    const auto go_on = [](cl_event, cl_int, void* data) {
        auto& rest = *static_cast<next*>(data);
        rest.code.set_value(
            clEnqueueReadBufferToFile(rest.queue, rest.buffer, CL_TRUE, 0, size, rest.fd, 0, 0, nullptr, nullptr));
    };
    ASSERT_EQ(clSetTransferCallback(first.get(), go_on, &second), CL_SUCCESS);
    ASSERT_EQ(answer.wait_for(patience), std::future_status::ready);
    EXPECT_EQ(answer.get(), CL_SUCCESS);
}

TEST_P(transfer_callbacks, keep_the_event_that_the_program_lets_go_of) {
    const auto file = new_file();
    listener told;
    gate start(context());
    {
        const auto done = write(file.get(), {start.event()});
        ASSERT_EQ(clSetTransferCallback(done.get(), listener::hear, &told), CL_SUCCESS);
    }
    start.open();
    ASSERT_TRUE(told.hears(1));
    EXPECT_EQ(told.heard()[0].second, CL_COMPLETE);
}

TEST_P(transfer_callbacks, of_many_threads_are_all_called) {
    const auto file = new_file();
    listener told;
    gate start(context());
    const auto own_queue = new_queue();
    const auto done = write(file.get(), {start.event()});
    std::vector<std::thread> threads;
    constexpr std::size_t count = 4, each = 100;
    for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&] {
            for (std::size_t k = 0; k < each; ++k)
                EXPECT_EQ(clSetTransferCallback(done.get(), listener::hear, &told), CL_SUCCESS);
        });
    start.open(); // some come before the end, some after
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(told.hears(count * each));
    EXPECT_EQ(told.heard().size(), count * each);
}

TEST_P(transfer_callbacks, are_refused_for_what_is_no_transfer) {
    listener told;
    gate users(context());
    EXPECT_EQ(clSetTransferCallback(users.event(), listener::hear, &told), CL_INVALID_EVENT);
    EXPECT_EQ(clSetTransferCallback(nullptr, listener::hear, &told), CL_INVALID_EVENT);
    const auto file = new_file();
    const auto done = write(file.get());
    EXPECT_EQ(clSetTransferCallback(done.get(), nullptr, &told), CL_INVALID_VALUE);
    ASSERT_TRUE(completes(done));
}
