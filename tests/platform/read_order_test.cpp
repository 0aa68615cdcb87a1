// SPDX-License-Identifier: Apache-2.0
// What comes behind a read in OpenCL's order finds its bytes in the program's memory, on every rank of a cluster.
#include "platform_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t many = std::size_t{4} << 20; // bytes that take a while to arrive
constexpr std::size_t size = many * sizeof(cl_uint);

class read_order : public platform_test {
  protected:
    void SetUp() override {
        platform_test::SetUp();
        m_values.resize(many);
        for (std::size_t i = 0; i < many; ++i) m_values[i] = static_cast<cl_uint>(i * 2654435761U + 1);
    }

    /// A buffer with the values, which are on the device of `on`.
    [[nodiscard]] buffer_handle full_buffer(cl_command_queue on) const {
        auto made = new_buffer(size);
        EXPECT_EQ(clEnqueueWriteBuffer(on, made.get(), CL_TRUE, 0, size, m_values.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        return made;
    }
    static void read_later(cl_command_queue on, const buffer_handle& from, std::vector<cl_uint>& to,
                           cl_event* event = nullptr) {
        ASSERT_EQ(clEnqueueReadBuffer(on, from.get(), CL_FALSE, 0, size, to.data(), 0, nullptr, event), CL_SUCCESS);
    }
    [[nodiscard]] const std::vector<cl_uint>& values() const { return m_values; }

  private:
    std::vector<cl_uint> m_values;
};

TEST_F(read_order, a_write_sends_what_a_read_in_front_of_it_brought) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        auto* const on = queue(device);
        const auto from = full_buffer(on), to = new_buffer(size);
        std::vector<cl_uint> between(many), back(many);
        read_later(on, from, between);
        ASSERT_EQ(clEnqueueWriteBuffer(on, to.get(), CL_FALSE, 0, size, between.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueReadBuffer(on, to.get(), CL_TRUE, 0, size, back.data(), 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_TRUE(back == values()) << "device " << device;
    }
}

TEST_F(read_order, an_unmap_writes_back_what_a_map_in_front_of_it_showed) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        auto* const on = queue(device);
        const auto buffer = full_buffer(on);
        cl_int code = CL_SUCCESS;
        void* const place = clEnqueueMapBuffer(on, buffer.get(), CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0,
                                               nullptr, nullptr, &code);
        ASSERT_EQ(code, CL_SUCCESS);
        ASSERT_EQ(clEnqueueUnmapMemObject(on, buffer.get(), place, 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_TRUE(read(on, buffer, many) == values()) << "device " << device;
    }
}

TEST_F(read_order, an_unmap_behind_a_map_that_failed_writes_nothing) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        auto* const on = queue(device);
        const auto buffer = full_buffer(on);
        const auto other = new_queue(devices()[device], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        const auto gate = new_user_event();
        const std::vector waits{gate.get()};
        cl_int code = CL_SUCCESS;
        event_handle unmapped;
        void* const place = clEnqueueMapBuffer(other.get(), buffer.get(), CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, size,
                                               1, waits.data(), nullptr, &code);
        ASSERT_EQ(code, CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), -7), CL_SUCCESS);
        ASSERT_EQ(clEnqueueUnmapMemObject(other.get(), buffer.get(), place, 0, nullptr, unmapped.out()), CL_SUCCESS);
        EXPECT_LT(clWaitForEvents(1, std::vector{unmapped.get()}.data()), CL_SUCCESS) << "device " << device;
        EXPECT_TRUE(read(on, buffer, many) == values()) << "device " << device;
    }
}

TEST_F(read_order, what_waits_for_a_read_in_another_queue_is_over_after_it) {
    for (std::size_t device = 0; device < devices().size(); ++device)
        for (const bool by_event : {true, false}) {
            const auto from = full_buffer(queue(device));
            const auto other = new_queue(devices()[device]);
            std::vector<cl_uint> back(many);
            event_handle arrived, behind;
            read_later(queue(device), from, back, arrived.out());
            const std::vector waits{arrived.get()};
            ASSERT_EQ(clEnqueueMarkerWithWaitList(other.get(), 1, waits.data(), behind.out()), CL_SUCCESS);
            if (by_event) {
                ASSERT_EQ(clWaitForEvents(1, std::vector{behind.get()}.data()), CL_SUCCESS);
            } else {
                ASSERT_EQ(clFinish(other.get()), CL_SUCCESS);
            }
            EXPECT_TRUE(back == values()) << "device " << device << ", by " << (by_event ? "event" : "queue");
            ASSERT_EQ(clFinish(queue(device)), CL_SUCCESS);
        }
}

TEST_F(read_order, markers_and_barriers_of_an_out_of_order_queue_are_over_after_its_reads) {
    for (std::size_t device = 0; device < devices().size(); ++device)
        for (const bool by_barrier : {false, true}) {
            const auto on = new_queue(devices()[device], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
            const auto from = full_buffer(queue(device)), small = new_buffer(4);
            std::vector<cl_uint> back(many);
            event_handle behind;
            read_later(on.get(), from, back);
            const cl_uint one = 1;
            if (by_barrier) {
                ASSERT_EQ(clEnqueueBarrierWithWaitList(on.get(), 0, nullptr, nullptr), CL_SUCCESS);
                ASSERT_EQ(clEnqueueFillBuffer(on.get(), small.get(), &one, 4, 0, 4, 0, nullptr, behind.out()),
                          CL_SUCCESS);
            } else {
                ASSERT_EQ(clEnqueueMarkerWithWaitList(on.get(), 0, nullptr, behind.out()), CL_SUCCESS);
            }
            ASSERT_EQ(clWaitForEvents(1, std::vector{behind.get()}.data()), CL_SUCCESS);
            EXPECT_TRUE(back == values()) << "device " << device << ", by " << (by_barrier ? "barrier" : "marker");
            ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
        }
}

TEST_F(read_order, who_asks_for_the_status_of_a_later_command_sees_it_over_after_the_read) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        auto* const on = queue(device);
        const auto from = full_buffer(on), small = new_buffer(4);
        std::vector<cl_uint> back(many);
        event_handle behind;
        read_later(on, from, back);
        const cl_uint one = 1;
        ASSERT_EQ(clEnqueueFillBuffer(on, small.get(), &one, 4, 0, 4, 0, nullptr, behind.out()), CL_SUCCESS);
        ASSERT_EQ(clFlush(on), CL_SUCCESS);
        while (status_of(behind.get()) > CL_COMPLETE) {}
        EXPECT_TRUE(back == values()) << "device " << device;
        ASSERT_EQ(clFinish(on), CL_SUCCESS);
    }
}

TEST_F(read_order, callbacks_of_a_later_command_come_after_the_read) {
    struct seen {
        const std::vector<cl_uint>& back;
        cl_uint first, last;
        std::promise<bool> right;
    };
    for (std::size_t device = 0; device < devices().size(); ++device) {
        auto* const on = queue(device);
        const auto from = full_buffer(on), small = new_buffer(4);
        std::vector<cl_uint> back(many);
        event_handle behind;
        read_later(on, from, back);
        const cl_uint one = 1;
        ASSERT_EQ(clEnqueueFillBuffer(on, small.get(), &one, 4, 0, 4, 0, nullptr, behind.out()), CL_SUCCESS);
        seen by_callback{back, values().front(), values().back(), {}};
        auto right = by_callback.right.get_future();
        const auto look = [](cl_event, cl_int, void* data) {
            auto& of = *static_cast<seen*>(data);
            of.right.set_value(of.back.front() == of.first && of.back.back() == of.last);
        };
        ASSERT_EQ(clSetEventCallback(behind.get(), CL_COMPLETE, look, &by_callback), CL_SUCCESS);
        ASSERT_EQ(clFlush(on), CL_SUCCESS);
        ASSERT_EQ(right.wait_for(std::chrono::seconds(30)), std::future_status::ready);
        EXPECT_TRUE(right.get()) << "device " << device;
        ASSERT_EQ(clFinish(on), CL_SUCCESS);
    }
}

TEST_F(read_order, events_know_of_the_reads_of_a_queue_that_is_gone) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        const auto from = full_buffer(queue(device)), small = new_buffer(4);
        std::vector<cl_uint> back(many);
        event_handle behind;
        const cl_uint one = 1;
        {
            const auto on = new_queue(devices()[device]);
            read_later(on.get(), from, back);
            ASSERT_EQ(clEnqueueFillBuffer(on.get(), small.get(), &one, 4, 0, 4, 0, nullptr, behind.out()), CL_SUCCESS);
        }
        ASSERT_EQ(clWaitForEvents(1, std::vector{behind.get()}.data()), CL_SUCCESS);
        EXPECT_TRUE(back == values()) << "device " << device;
    }
}

TEST_F(read_order, the_later_of_two_reads_into_one_place_is_what_stays) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        auto* const on = queue(device);
        const auto large = full_buffer(on);
        const std::vector<cl_uint> fives(64, 5);
        const auto small = new_buffer(fives.size() * 4);
        ASSERT_EQ(
            clEnqueueWriteBuffer(on, small.get(), CL_TRUE, 0, fives.size() * 4, fives.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
        std::vector<cl_uint> back(many);
        read_later(on, large, back);
        ASSERT_EQ(clEnqueueReadBuffer(on, small.get(), CL_FALSE, 0, fives.size() * 4, back.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        ASSERT_EQ(clFinish(on), CL_SUCCESS);
        EXPECT_TRUE(std::equal(fives.begin(), fives.end(), back.begin())) << "device " << device;
        EXPECT_TRUE(std::equal(back.begin() + 64, back.end(), values().begin() + 64)) << "device " << device;
    }
}

TEST_F(read_order, what_a_callback_of_a_read_lets_go_is_over_after_it) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        const auto from = full_buffer(queue(device));
        const auto other = new_queue(devices()[device]);
        std::vector<cl_uint> back(many);
        const auto gate = new_user_event();
        event_handle arrived, behind;
        read_later(queue(device), from, back, arrived.out());
        const auto open = [](cl_event, cl_int status, void* data) {
            clSetUserEventStatus(static_cast<cl_event>(data), status);
        };
        ASSERT_EQ(clSetEventCallback(arrived.get(), CL_COMPLETE, open, gate.get()), CL_SUCCESS);
        const std::vector waits{gate.get()};
        ASSERT_EQ(clEnqueueMarkerWithWaitList(other.get(), 1, waits.data(), behind.out()), CL_SUCCESS);
        ASSERT_EQ(clFlush(queue(device)), CL_SUCCESS);
        ASSERT_EQ(clWaitForEvents(1, std::vector{behind.get()}.data()), CL_SUCCESS);
        EXPECT_TRUE(back == values()) << "device " << device;
    }
}

TEST_F(read_order, bytes_come_after_a_user_event_on_each_rank) {
    struct late {
        const std::vector<cl_uint>& back;
        cl_event gate;
        bool is_late;
        std::promise<cl_uint> seen;
    };
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("PMI_RANK");
    const bool is_first = rank == nullptr || std::atoi(rank) == 0;
    for (const bool by_first : {true, false}) {
        // What waits for the user event runs where it is set early, and what reads behind that, where it is set late.
        auto* const early = by_first ? queue() : last_queue();
        auto* const on = by_first ? last_queue() : queue();
        const auto from = full_buffer(on);
        std::vector<cl_uint> back(many, 7);
        const auto gate = new_user_event();
        event_handle start, behind, arrived;
        ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, start.out()), CL_SUCCESS);
        late by_callback{back, gate.get(), spans() && is_first != by_first, {}};
        auto seen = by_callback.seen.get_future();
        const auto open = [](cl_event, cl_int status, void* data) {
            auto& of = *static_cast<late*>(data);
            if (of.is_late) std::this_thread::sleep_for(std::chrono::milliseconds(200));
            of.seen.set_value(of.back.front());
            clSetUserEventStatus(of.gate, status);
        };
        ASSERT_EQ(clEnqueueMarkerWithWaitList(early, 1, std::vector{gate.get()}.data(), behind.out()), CL_SUCCESS);
        ASSERT_EQ(clEnqueueReadBuffer(on, from.get(), CL_FALSE, 0, 4096, back.data(), 1,
                                      std::vector{behind.get()}.data(), arrived.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clSetEventCallback(start.get(), CL_COMPLETE, open, &by_callback), CL_SUCCESS);
        ASSERT_EQ(clFlush(queue()), CL_SUCCESS);
        ASSERT_EQ(clWaitForEvents(1, std::vector{arrived.get()}.data()), CL_SUCCESS);
        ASSERT_EQ(seen.wait_for(std::chrono::seconds(30)), std::future_status::ready);
        EXPECT_EQ(seen.get(), 7U) << "the bytes came before the event was set";
        EXPECT_TRUE(std::equal(back.begin(), back.begin() + 1024, values().begin()));
    }
}

TEST_F(read_order, large_reads_arrive_whole_or_fail_whole) {
    constexpr std::size_t offset = 12, bytes = (std::size_t{9} << 20) + 3; // several parts and an odd end
    for (std::size_t device = 0; device < devices().size(); ++device)
        for (const bool in_order : {true, false}) {
            const auto on = new_queue(devices()[device], in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
            const auto from = full_buffer(queue(device));
            const auto gate = new_user_event();
            const std::vector waits{gate.get()};
            std::vector<unsigned char> back(bytes, 7);
            event_handle over;
            auto setting = std::async(std::launch::async,
                                      [&] { return clSetUserEventStatus(gate.get(), CL_COMPLETE); });
            ASSERT_EQ(clEnqueueReadBuffer(on.get(), from.get(), CL_TRUE, offset, bytes, back.data(), 1, waits.data(),
                                          over.out()),
                      CL_SUCCESS);
            EXPECT_EQ(setting.get(), CL_SUCCESS);
            EXPECT_EQ(status_of(over.get()), CL_COMPLETE);
            const auto* const all = reinterpret_cast<const unsigned char*>(values().data());
            EXPECT_TRUE(std::equal(back.begin(), back.end(), all + offset)) << "device " << device;

            // The same without waiting.
            std::fill(back.begin(), back.end(), static_cast<unsigned char>(7));
            event_handle later;
            ASSERT_EQ(clEnqueueReadBuffer(on.get(), from.get(), CL_FALSE, offset, bytes, back.data(), 0, nullptr,
                                          later.out()),
                      CL_SUCCESS);
            ASSERT_EQ(clWaitForEvents(1, std::vector{later.get()}.data()), CL_SUCCESS);
            EXPECT_TRUE(std::equal(back.begin(), back.end(), all + offset)) << "device " << device;

            const auto failed = new_user_event();
            const std::vector fails{failed.get()};
            ASSERT_EQ(clSetUserEventStatus(failed.get(), -5), CL_SUCCESS);
            std::fill(back.begin(), back.end(), static_cast<unsigned char>(7));
            for (const cl_bool blocking : {CL_TRUE, CL_FALSE}) {
                event_handle never;
                const auto code = clEnqueueReadBuffer(on.get(), from.get(), blocking, offset, bytes, back.data(), 1,
                                                      fails.data(), never.out());
                EXPECT_EQ(code, blocking ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS);
                if (!blocking) {
                    EXPECT_NE(clWaitForEvents(1, std::vector{never.get()}.data()), CL_SUCCESS);
                }
            }
            EXPECT_TRUE(std::all_of(back.begin(), back.end(), [](auto byte) { return byte == 7; }))
                << "device " << device;
        }
}

} // namespace
