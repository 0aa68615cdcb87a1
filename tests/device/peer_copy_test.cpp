// SPDX-License-Identifier: Apache-2.0
// Copies between buffers of any two devices: of one context, of two contexts, of two vendors.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>

using namespace support;

namespace {

constexpr std::size_t MiB = 1 << 20;

/// A device with a context, a queue and buffers of its own.
class island {
  public:
    explicit island(cl_device_id device)
        : m_context(make_context({device})), m_queue(make_queue(m_context.get(), device, queue_order::in_order)),
          m_own_queue(make_queue(m_context.get(), device, queue_order::in_order)) {}

    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] cl_command_queue queue() const { return m_queue.get(); }
    [[nodiscard]] buffer_handle new_buffer(const bytes& contents) const {
        buffer_handle buffer = make_buffer(context(), contents.size());
        fill(m_own_queue.get(), buffer.get(), 0, contents);
        return buffer;
    }
    [[nodiscard]] bytes contents_of(const buffer_handle& buffer, std::size_t offset, std::size_t size) const {
        return contents(m_own_queue.get(), buffer.get(), offset, size);
    }

  private:
    context_handle m_context;
    queue_handle m_queue;
    queue_handle m_own_queue;
};

event_handle peer_copy(cl_command_queue source_queue, const buffer_handle& source, cl_command_queue target_queue,
                       const buffer_handle& target, std::size_t source_offset, std::size_t target_offset,
                       std::size_t size, const wait_list& waits = {}) {
    event_handle event;
    const cl_int code = clEnqueuePeerCopyBuffer(source_queue, source.get(), target_queue, target.get(), CL_FALSE,
                                                source_offset, target_offset, size, static_cast<cl_uint>(waits.size()),
                                                waits.empty() ? nullptr : waits.data(), event.out());
    if (code != CL_SUCCESS) {
        throw std::runtime_error("clEnqueuePeerCopyBuffer gave " + std::to_string(code));
    }
    return event;
}

cl_context context_of(const event_handle& event) {
    cl_context context = nullptr;
    clGetEventInfo(event.get(), CL_EVENT_CONTEXT, sizeof context, &context, nullptr);
    return context;
}

buffer_handle sub_buffer(const buffer_handle& whole, std::size_t origin, std::size_t size) {
    const cl_buffer_region region{origin, size};
    cl_int code = CL_SUCCESS;
    buffer_handle part(clCreateSubBuffer(whole.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    if (code != CL_SUCCESS) {
        throw std::runtime_error("clCreateSubBuffer gave " + std::to_string(code));
    }
    return part;
}

class peer_copies : public device_test {};
INSTANTIATE_TEST_SUITE_P(devices, peer_copies, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(peer_copies, move_any_size_between_contexts_of_any_two_devices) {
    const island here(device());
    for (const device_under_test& other : all_devices()) {
        const island there(other.device);
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, MiB + 1, 16 * MiB + 3}) {
            SCOPED_TRACE(testing::Message() << size << " bytes to " << other.name);
            const bytes contents = pattern(size + 100);
            const bytes before = pattern(size + 100, 2);
            const auto source = here.new_buffer(contents);
            const auto target = there.new_buffer(before);
            const auto done = peer_copy(here.queue(), source, there.queue(), target, 33, 44, size);
            ASSERT_TRUE(completes(done));
            EXPECT_EQ(bytes_moved(done), size);
            const bytes expected = join(join(slice(before, 0, 44), slice(contents, 33, size)),
                                        slice(before, 44 + size, 56));
            EXPECT_TRUE(same_bytes(expected, there.contents_of(target, 0, size + 100)));
            EXPECT_TRUE(same_bytes(contents, here.contents_of(source, 0, size + 100)));
        }
    }
}

TEST_P(peer_copies, move_bytes_between_two_devices_of_one_context) {
    bool found = false;
    for (const device_under_test& other : all_devices()) {
        if (other.platform != GetParam().platform || other.device == device()) {
            continue;
        }
        found = true;
        SCOPED_TRACE(other.name);
        const auto shared = make_context({device(), other.device});
        const auto source_queue = make_queue(shared.get(), device(), queue_order::in_order);
        const auto target_queue = make_queue(shared.get(), other.device, queue_order::in_order);
        const bytes contents_of_source = pattern(3 * MiB + 1);
        const auto source = make_buffer(shared.get(), contents_of_source.size());
        const auto target = make_buffer(shared.get(), contents_of_source.size());
        fill(source_queue.get(), source.get(), 0, contents_of_source);
        const auto done = peer_copy(source_queue.get(), source, target_queue.get(), target, 0, 0,
                                    contents_of_source.size());
        ASSERT_TRUE(completes(done));
        EXPECT_TRUE(
            same_bytes(contents_of_source, contents(target_queue.get(), target.get(), 0, contents_of_source.size())));
    }
    if (!found) {
        GTEST_SKIP() << "the platform has one device only";
    }
}

TEST_P(peer_copies, move_bytes_within_one_queue) {
    const auto source = new_buffer(pattern(MiB));
    const auto target = new_buffer(bytes(MiB));
    ASSERT_TRUE(completes(peer_copy(queue(), source, queue(), target, 0, 0, MiB)));
    EXPECT_TRUE(same_bytes(pattern(MiB), contents_of(target, 0, MiB)));
}

TEST_P(peer_copies, move_bytes_between_disjoint_ranges_of_one_buffer) {
    const bytes before = pattern(2 * MiB);
    const auto buffer = new_buffer(before);
    ASSERT_TRUE(completes(peer_copy(queue(), buffer, queue(), buffer, 0, MiB, MiB)));
    EXPECT_TRUE(same_bytes(join(slice(before, 0, MiB), slice(before, 0, MiB)), contents_of(buffer, 0, 2 * MiB)));
}

TEST_P(peer_copies, of_overlapping_ranges_of_one_buffer_are_refused) {
    const bytes before = pattern(1000);
    const auto buffer = new_buffer(before);
    for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{0, 499}, {499, 0}, {100, 100}}) {
        SCOPED_TRACE(testing::Message() << from << " to " << to);
        cl_event event = nullptr;
        EXPECT_EQ(clEnqueuePeerCopyBuffer(queue(), buffer.get(), queue(), buffer.get(), CL_FALSE, from, to, 500, 0,
                                          nullptr, &event),
                  CL_MEM_COPY_OVERLAP);
        EXPECT_EQ(event, nullptr);
    }
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    EXPECT_TRUE(same_bytes(before, contents_of(buffer, 0, 1000)));
}

TEST_P(peer_copies, of_sub_buffers_that_overlap_are_refused) {
    const auto whole = new_buffer(pattern(64 * 1024));
    const auto low = sub_buffer(whole, 0, 32 * 1024);
    const auto middle = sub_buffer(whole, 16 * 1024, 32 * 1024);
    EXPECT_EQ(clEnqueuePeerCopyBuffer(queue(), low.get(), queue(), middle.get(), CL_FALSE, 0, 0, 32 * 1024, 0, nullptr,
                                      nullptr),
              CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(
        clEnqueuePeerCopyBuffer(queue(), whole.get(), queue(), low.get(), CL_FALSE, 1000, 0, 1001, 0, nullptr, nullptr),
        CL_MEM_COPY_OVERLAP);
}

TEST_P(peer_copies, of_sub_buffers_that_do_not_overlap_move_bytes) {
    const bytes before = pattern(64 * 1024);
    const auto whole = new_buffer(before);
    const auto low = sub_buffer(whole, 0, 32 * 1024);
    const auto middle = sub_buffer(whole, 16 * 1024, 32 * 1024);
    // Bytes 0 to 16 Ki of the whole go to 32 Ki to 48 Ki.
    ASSERT_TRUE(completes(peer_copy(queue(), low, queue(), middle, 0, 16 * 1024, 16 * 1024)));
    const bytes expected = join(join(slice(before, 0, 32 * 1024), slice(before, 0, 16 * 1024)),
                                slice(before, 48 * 1024, 16 * 1024));
    EXPECT_TRUE(same_bytes(expected, contents_of(whole, 0, 64 * 1024)));
}

TEST_P(peer_copies, of_no_bytes_never_overlap) {
    const auto buffer = new_buffer(pattern(1000));
    EXPECT_TRUE(completes(peer_copy(queue(), buffer, queue(), buffer, 100, 100, 0)));
}

TEST_P(peer_copies, come_after_the_earlier_commands_of_both_queues) {
    const island there(device());
    const auto source = new_buffer(bytes(MiB));
    const auto target = there.new_buffer(bytes(MiB));
    gate source_gate(context());
    gate target_gate(there.context());
    const auto source_filled = enqueue_fill(queue(), source.get(), 5, MiB, {source_gate.event()});
    const auto target_filled = enqueue_fill(there.queue(), target.get(), 6, MiB, {target_gate.event()});
    const auto copied = peer_copy(queue(), source, there.queue(), target, 0, 0, MiB / 2);
    source_gate.open();
    ASSERT_EQ(await(source_filled.get()), CL_COMPLETE);
    EXPECT_GT(status_of(copied.get()), CL_COMPLETE);
    target_gate.open();
    ASSERT_TRUE(completes(copied));
    EXPECT_TRUE(same_bytes(join(bytes(MiB / 2, 5), bytes(MiB / 2, 6)), there.contents_of(target, 0, MiB)));
}

TEST_P(peer_copies, hold_back_the_later_commands_of_both_queues) {
    const island there(device());
    const auto source = new_buffer(bytes(MiB, 1));
    const auto target = there.new_buffer(bytes(MiB, 2));
    gate start(context());
    const auto copied = peer_copy(queue(), source, there.queue(), target, 0, 0, MiB, {start.event()});
    const auto source_filled = enqueue_fill(queue(), source.get(), 3, MiB);
    const auto target_filled = enqueue_fill(there.queue(), target.get(), 4, MiB / 2);
    clFlush(queue());
    clFlush(there.queue());
    EXPECT_GT(status_of(source_filled.get()), CL_COMPLETE);
    EXPECT_GT(status_of(target_filled.get()), CL_COMPLETE);
    start.open();
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    ASSERT_EQ(clFinish(there.queue()), CL_SUCCESS);
    EXPECT_EQ(status_of(copied.get()), CL_COMPLETE);
    EXPECT_TRUE(same_bytes(bytes(MiB, 3), contents_of(source, 0, MiB)));
    EXPECT_TRUE(same_bytes(join(bytes(MiB / 2, 4), bytes(MiB / 2, 1)), there.contents_of(target, 0, MiB)));
}

TEST_P(peer_copies, wait_for_events_of_either_context) {
    const island there(device());
    const auto source = new_buffer(pattern(1000));
    const auto target = there.new_buffer(bytes(1000));
    gate source_gate(context());
    gate target_gate(there.context());
    const auto copied = peer_copy(queue(), source, there.queue(), target, 0, 0, 1000,
                                  {source_gate.event(), target_gate.event()});
    source_gate.open();
    EXPECT_GT(status_of(copied.get()), CL_COMPLETE);
    target_gate.open();
    ASSERT_TRUE(completes(copied));
    EXPECT_TRUE(same_bytes(pattern(1000), there.contents_of(target, 0, 1000)));
}

TEST_P(peer_copies, fail_when_an_event_of_either_context_fails) {
    const island there(device());
    const auto source = new_buffer(pattern(1000));
    const auto target = there.new_buffer(bytes(1000));
    for (const bool of_source : {true, false}) {
        SCOPED_TRACE(of_source ? "of the source's" : "of the target's");
        gate start(of_source ? context() : there.context());
        const auto copied = peer_copy(queue(), source, there.queue(), target, 0, 0, 1000, {start.event()});
        start.fail(-5);
        EXPECT_TRUE(fails_with(copied, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    }
    EXPECT_TRUE(same_bytes(bytes(1000), there.contents_of(target, 0, 1000)));
}

TEST_P(peer_copies, give_an_event_of_the_targets_context) {
    const island there(device());
    const auto source = new_buffer(pattern(1000));
    const auto target = there.new_buffer(bytes(1000));
    const auto copied = peer_copy(queue(), source, there.queue(), target, 0, 0, 1000);
    EXPECT_EQ(context_of(copied), there.context());
    EXPECT_EQ(transfer_info<cl_context>(copied, CL_TRANSFER_CONTEXT), there.context());
    // So the target's side can wait for it.
    const auto filled = enqueue_fill(there.queue(), target.get(), 1, 10, {copied.get()});
    ASSERT_EQ(clFinish(there.queue()), CL_SUCCESS);
    EXPECT_TRUE(same_bytes(join(bytes(10, 1), slice(pattern(1000), 10, 990)), there.contents_of(target, 0, 1000)));
}

TEST_P(peer_copies, are_done_when_a_blocking_call_returns) {
    const island there(device());
    const auto source = new_buffer(pattern(MiB));
    const auto target = there.new_buffer(bytes(MiB));
    ASSERT_EQ(clEnqueuePeerCopyBuffer(queue(), source.get(), there.queue(), target.get(), CL_TRUE, 0, 0, MiB, 0,
                                      nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_TRUE(same_bytes(pattern(MiB), there.contents_of(target, 0, MiB)));
}

TEST_P(peer_copies, chain_with_file_transfers) {
    const temporary_folder folder;
    const bytes contents = pattern(2 * MiB);
    write_file(folder.path("in"), contents);
    const descriptor input = open_descriptor(folder.path("in"), O_RDONLY);
    const descriptor output = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);
    const island there(device());
    const auto source = new_buffer(bytes(2 * MiB));
    const auto target = there.new_buffer(bytes(2 * MiB));
    const auto read = write_buffer_from(queue(), source.get(), 0, 2 * MiB, input.get(), 0);
    const auto copied = peer_copy(queue(), source, there.queue(), target, 0, 0, 2 * MiB, {read.get()});
    const auto written = read_buffer_to(there.queue(), target.get(), 0, 2 * MiB, output.get(), 0, {copied.get()});
    ASSERT_TRUE(completes(written));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}

TEST_P(peer_copies, there_and_back_at_once_do_not_block_each_other) {
    const island there(device());
    const auto here_from = new_buffer(pattern(8 * MiB, 1));
    const auto here_to = new_buffer(bytes(8 * MiB));
    const auto there_from = there.new_buffer(pattern(8 * MiB, 2));
    const auto there_to = there.new_buffer(bytes(8 * MiB));
    std::vector<event_handle> done;
    for (int i = 0; i < 10; ++i) {
        done.push_back(peer_copy(queue(), here_from, there.queue(), there_to, 0, 0, 8 * MiB));
        done.push_back(peer_copy(there.queue(), there_from, queue(), here_to, 0, 0, 8 * MiB));
    }
    for (const auto& event : done) {
        ASSERT_TRUE(completes(event));
    }
    EXPECT_TRUE(same_bytes(pattern(8 * MiB, 1), there.contents_of(there_to, 0, 8 * MiB)));
    EXPECT_TRUE(same_bytes(pattern(8 * MiB, 2), contents_of(here_to, 0, 8 * MiB)));
}
