// SPDX-License-Identifier: Apache-2.0
// One graph of host functions, kernels and transfers between ranks: tasks wait for receives, and sends for tasks.
#include "system/ranks.hpp"

#include <causeway/tasks_opencl.hpp>

#include <array>
#include <atomic>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace system_test {
namespace {

constexpr std::size_t count = 1000;
constexpr int rounds = 10;

class tasks_of_ranks : public ranks_test {
  protected:
    /// The reference that a call passes on.
    static cl_event passed(const event& own) {
        clRetainEvent(own.get());
        return own.get();
    }
    event enqueue_write(const bytes& from, const wait_list& after = {}) {
        event done;
        EXPECT_EQ(clEnqueueWriteBuffer(m_queue.get(), m_buffer.get(), CL_FALSE, 0, from.size(), from.data(),
                                       static_cast<cl_uint>(after.size()), data_of(after), done.out()),
                  CL_SUCCESS);
        return done;
    }
    event enqueue_read(bytes& to, const wait_list& after = {}) {
        event done;
        EXPECT_EQ(clEnqueueReadBuffer(m_queue.get(), m_buffer.get(), CL_FALSE, 0, to.size(), to.data(),
                                      static_cast<cl_uint>(after.size()), data_of(after), done.out()),
                  CL_SUCCESS);
        return done;
    }
    event enqueue_addition(const wait_list& after = {}) {
        event done;
        EXPECT_EQ(clEnqueueNDRangeKernel(m_queue.get(), m_addition.get(), 1, nullptr, &count, nullptr,
                                         static_cast<cl_uint>(after.size()), data_of(after), done.out()),
                  CL_SUCCESS);
        return done;
    }
    void SetUp() override {
        ranks_test::SetUp();
        m_buffer = own().make_buffer(count, 0);
        m_addition = own().make_adding_kernel(3);
        const cl_mem argument = m_buffer.get();
        ASSERT_EQ(clSetKernelArg(m_addition.get(), 0, sizeof argument, &argument), CL_SUCCESS);
    }
    void TearDown() override {
        ranks_test::TearDown();
        clFinish(m_queue.get());
    }

    queue m_queue = make_queue(order::out_of_order); // regions and events alone order commands
    buffer m_buffer;
    kernel m_addition;
    causeway::task_pool m_pool{{.threads = 2}};
    causeway::event_bridge m_bridge;
};

TEST_F(tasks_of_ranks, regions_order_host_functions_kernels_and_transfers_of_both_ranks) {
    NEEDS_RANKS(2);
    const int peer = partner();
    if (peer == MPI_PROC_NULL) return;
    bytes values(count), back(count);
    int right = 0;
    const int on_device = 0; // stands for the buffer
    const causeway_region device_data{&on_device, sizeof on_device, CAUSEWAY_REGION_INOUT, 0};
    const auto host = causeway::inout(values.data(), count), result = causeway::inout(back.data(), count);
    causeway::task_group group(m_pool);
    const auto spawn = [&](auto enqueue, std::initializer_list<causeway_region> regions) {
        m_bridge.spawn_command(group, [enqueue] { return passed(enqueue()); }, regions);
    };
    const range whole{m_buffer.get(), 0, count};
    for (int round = 0; round < rounds; ++round) {
        const auto send = [=, this] { return enqueue_send(m_queue.get(), whole, peer, round, m_comm); };
        const auto receive = [=, this] { return enqueue_receive(m_queue.get(), whole, peer, round, m_comm); };
        if (m_rank % 2 == 0) { // fills, adds 3 on the device, sends; what comes back is 7 more
            group.spawn([&values, round] { values.assign(count, static_cast<unsigned char>(20 * round)); }, {host});
            spawn([&] { return enqueue_write(values); }, {host, device_data});
            spawn([this] { return enqueue_addition(); }, {device_data});
            spawn(send, {device_data});
            spawn(receive, {device_data});
            spawn([&] { return enqueue_read(back); }, {device_data, result});
            group.spawn([&, round] { right += back == bytes(count, static_cast<unsigned char>(20 * round + 10)); },
                        {result, causeway::inout(&right)});
        } else { // 4 more by the host, 3 by the device
            spawn(receive, {device_data});
            spawn([&] { return enqueue_read(values); }, {device_data, host});
            group.spawn(
                [&values] {
                    for (auto& each : values) each = static_cast<unsigned char>(each + 4);
                },
                {host});
            spawn([&] { return enqueue_write(values); }, {host, device_data});
            spawn([this] { return enqueue_addition(); }, {device_data});
            spawn(send, {device_data});
        }
    }
    group.wait();
    EXPECT_EQ(right, m_rank % 2 == 0 ? rounds : 0);
}

TEST_F(tasks_of_ranks, a_task_waits_for_what_is_received_and_a_send_for_the_task) {
    NEEDS_RANKS(2);
    const int peer = partner();
    if (peer == MPI_PROC_NULL) return;
    bytes values(count);
    const range whole{m_buffer.get(), 0, count};
    if (m_rank % 2 == 0) {
        std::iota(values.begin(), values.end(), static_cast<unsigned char>(0));
        const auto written = enqueue_write(values);
        const auto sent = enqueue_send(m_queue.get(), whole, peer, 1, m_comm, {written.get()});
        const auto received = enqueue_receive(m_queue.get(), whole, peer, 2, m_comm, {sent.get()});
        bytes back(count);
        const auto read = enqueue_read(back, {received.get()});
        ASSERT_TRUE(completes(read));
        for (auto& each : values) each = static_cast<unsigned char>(2 * (each + 3));
        EXPECT_TRUE(same(back, values));
        return;
    }
    causeway::task_group group(m_pool);
    const auto received = enqueue_receive(m_queue.get(), whole, peer, 1, m_comm);
    const auto added = enqueue_addition({received.get()});
    const auto read = enqueue_read(values, {added.get()});
    const auto host = causeway::inout(values.data(), count);
    const cl_event before = read.get();
    m_bridge.spawn_after(group, {&before, 1},
                         [&values] {
                             for (auto& each : values) each = static_cast<unsigned char>(2 * each);
                         },
                         {&host, 1});
    event doubled;
    *doubled.out() = causeway::event_bridge::spawn_event(group, own().context(), [] {}, {&host, 1});
    const auto written = enqueue_write(values, {doubled.get()});
    const auto sent = enqueue_send(m_queue.get(), whole, peer, 2, m_comm, {written.get()});
    group.wait();
    EXPECT_TRUE(completes(sent));
}

TEST_F(tasks_of_ranks, what_a_task_throws_fails_the_send_that_waits_for_it_and_the_group_of_that) {
    causeway::task_group throws(m_pool), sends(m_pool);
    event failed;
    *failed.out() = causeway::event_bridge::spawn_event(throws, own().context(), [] { throw std::logic_error("no"); });
    EXPECT_THROW(throws.wait(), std::logic_error);
    std::atomic<bool> ran{false};
    const int on_device = 0;
    const causeway_region device_data{&on_device, sizeof on_device, CAUSEWAY_REGION_INOUT, 0};
    m_bridge.spawn_command(
        sends,
        [&] {
            return passed(enqueue_send(m_queue.get(), {m_buffer.get(), 0, count}, m_rank, 1, m_comm, {failed.get()}));
        },
        {device_data});
    sends.spawn([&ran] { ran = true; }, {device_data});
    EXPECT_THROW(sends.wait(), std::runtime_error);
    EXPECT_FALSE(ran);
}

} // namespace
} // namespace system_test
