// SPDX-License-Identifier: Apache-2.0
// Several transfers on one FILE take effect in the order of enqueue, whatever their queues and wait lists.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

using namespace support;

namespace {

constexpr std::size_t piece = 50'000;

class stdio_order : public device_test {};
INSTANTIATE_TEST_SUITE_P(devices, stdio_order, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(stdio_order, writes_to_one_file_follow_one_another) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const bytes contents = pattern(20 * piece);
    const auto buffer = new_buffer(contents);
    std::vector<event_handle> done;
    for (std::size_t i = 0; i < 20; ++i) {
        done.push_back(read_buffer_to(queue(), buffer.get(), i * piece, piece, file.get()));
    }
    for (const auto& event : done) {
        ASSERT_TRUE(completes(event));
    }
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
    EXPECT_EQ(ftello(file.get()), static_cast<off_t>(contents.size()));
}

TEST_P(stdio_order, a_gated_read_holds_back_later_reads_of_its_file) {
    const temporary_folder folder;
    const bytes contents = pattern(3 * piece);
    write_file(folder.path("in"), contents);
    const stream file = open_stream(folder.path("in"), "r");
    const auto other_queue = new_queue();
    const auto buffer = new_buffer(bytes(contents.size()));
    gate start(context());

    const auto first = write_buffer_from(queue(), buffer.get(), 0, piece, file.get(), {start.event()});
    const auto second = write_buffer_from(other_queue.get(), buffer.get(), piece, piece, file.get());
    const auto third = write_buffer_from(other_queue.get(), buffer.get(), 2 * piece, piece, file.get());
    EXPECT_GT(status_of(second.get()), CL_COMPLETE);
    EXPECT_GT(status_of(third.get()), CL_COMPLETE);
    start.open();

    ASSERT_TRUE(completes(third));
    EXPECT_EQ(status_of(first.get()), CL_COMPLETE);
    EXPECT_EQ(status_of(second.get()), CL_COMPLETE);
    EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, contents.size())));
}

TEST_P(stdio_order, a_gated_write_holds_back_later_writes_from_other_queues) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const bytes contents = pattern(3 * piece);
    const auto buffer = new_buffer(contents);
    const auto second_queue = new_queue();
    const auto third_queue = new_queue();
    gate start(context());

    const auto first = read_buffer_to(queue(), buffer.get(), 0, piece, file.get(), {start.event()});
    const auto second = read_buffer_to(second_queue.get(), buffer.get(), piece, piece, file.get());
    const auto third = read_buffer_to(third_queue.get(), buffer.get(), 2 * piece, piece, file.get());
    start.open();

    ASSERT_TRUE(completes(third));
    EXPECT_TRUE(completes(first));
    EXPECT_TRUE(completes(second));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}

TEST_P(stdio_order, gates_that_open_in_reverse_do_not_change_the_order) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const bytes contents = pattern(2 * piece);
    const auto buffer = new_buffer(contents);
    const auto other_queue = new_queue();
    gate first_gate(context());
    gate second_gate(context());

    const auto first = read_buffer_to(queue(), buffer.get(), 0, piece, file.get(), {first_gate.event()});
    const auto second = read_buffer_to(other_queue.get(), buffer.get(), piece, piece, file.get(),
                                       {second_gate.event()});
    second_gate.open();
    first_gate.open();

    ASSERT_TRUE(completes(second));
    EXPECT_TRUE(completes(first));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}

TEST_P(stdio_order, a_gated_transfer_does_not_hold_back_other_files) {
    const temporary_folder folder;
    const stream held = open_stream(folder.path("held"), "w");
    const stream free = open_stream(folder.path("free"), "w");
    const auto buffer = new_buffer(pattern(piece));
    const auto other_queue = new_queue();
    gate start(context());

    const auto waiting = read_buffer_to(queue(), buffer.get(), 0, piece, held.get(), {start.event()});
    EXPECT_TRUE(completes(read_buffer_to(other_queue.get(), buffer.get(), 0, piece, free.get())));
    EXPECT_GT(status_of(waiting.get()), CL_COMPLETE);
    start.open();
    EXPECT_TRUE(completes(waiting));
}

TEST_P(stdio_order, reads_and_writes_of_one_file_take_turns) {
    const temporary_folder folder;
    const bytes before = pattern(6 * piece);
    write_file(folder.path("both"), before);
    const stream file = open_stream(folder.path("both"), "r+");
    const bytes contents = pattern(3 * piece, 2);
    const auto source = new_buffer(contents);
    const auto target = new_buffer(bytes(3 * piece));
    const auto other_queue = new_queue();
    gate start(context());

    std::vector<event_handle> done;
    for (std::size_t i = 0; i < 3; ++i) {
        const wait_list waits = i == 0 ? wait_list{start.event()} : wait_list{};
        done.push_back(write_buffer_from(queue(), target.get(), i * piece, piece, file.get(), waits));
        done.push_back(read_buffer_to(other_queue.get(), source.get(), i * piece, piece, file.get()));
    }
    start.open();
    for (const auto& event : done) {
        ASSERT_TRUE(completes(event));
    }

    bytes expected_file = before;
    bytes expected_buffer;
    for (std::size_t i = 0; i < 3; ++i) {
        expected_buffer = join(expected_buffer, slice(before, 2 * i * piece, piece));
        std::copy_n(contents.begin() + static_cast<std::ptrdiff_t>(i * piece), piece,
                    expected_file.begin() + static_cast<std::ptrdiff_t>((2 * i + 1) * piece));
    }
    EXPECT_TRUE(same_bytes(expected_buffer, contents_of(target, 0, 3 * piece)));
    EXPECT_TRUE(same_bytes(expected_file, file_contents(folder.path("both"))));
    EXPECT_EQ(ftello(file.get()), static_cast<off_t>(6 * piece));
}

TEST_P(stdio_order, a_transfer_that_never_starts_leaves_the_position_to_the_next) {
    const temporary_folder folder;
    const bytes contents = pattern(2 * piece);
    write_file(folder.path("in"), contents);
    const stream file = open_stream(folder.path("in"), "r");
    const auto buffer = new_buffer(bytes(piece));
    gate start(context());

    const auto failed = write_buffer_from(queue(), buffer.get(), 0, piece, file.get(), {start.event()});
    const auto next = write_buffer_from(queue(), buffer.get(), 0, piece, file.get());
    start.fail(-5);

    EXPECT_TRUE(fails_with(failed, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    ASSERT_TRUE(completes(next));
    EXPECT_TRUE(same_bytes(slice(contents, 0, piece), contents_of(buffer, 0, piece)));
    EXPECT_EQ(ftello(file.get()), static_cast<off_t>(piece));
}

TEST_P(stdio_order, an_out_of_order_queue_keeps_the_order_of_one_file) {
    if (!supports_out_of_order(device())) {
        GTEST_SKIP() << "the device has no out-of-order queues";
    }
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const bytes contents = pattern(3 * piece);
    const auto buffer = new_buffer(contents);
    const auto free_queue = new_queue(queue_order::out_of_order);

    const auto first = read_buffer_to(free_queue.get(), buffer.get(), 0, piece, file.get());
    const auto second = read_buffer_to(free_queue.get(), buffer.get(), piece, piece, file.get(), {first.get()});
    const auto third = read_buffer_to(free_queue.get(), buffer.get(), 2 * piece, piece, file.get(),
                                      {first.get(), second.get()});
    ASSERT_EQ(clFinish(free_queue.get()), CL_SUCCESS);
    ASSERT_TRUE(completes(third));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}
