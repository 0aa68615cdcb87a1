// SPDX-License-Identifier: Apache-2.0
// Invalid arguments: each gives OpenCL's own code and a text, and nothing happens.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <causeway/causeway.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t buffer_size = 4096;

/// One function with good arguments for everything that the call does not name.
struct transfer_call {
    std::string name;
    std::function<cl_int(cl_command_queue, cl_mem, std::size_t offset, std::size_t size, cl_uint, const cl_event*,
                         cl_event*)>
        call;
};

/// The text of the last refusal in small letters.
std::string last_message() {
    std::string text = causeway_error_last_message();
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

testing::AssertionResult message_names(const std::string& thing) {
    if (last_message().find(thing) == std::string::npos) {
        return testing::AssertionFailure() << "\"" << last_message() << "\" does not name the " << thing;
    }
    return testing::AssertionSuccess();
}

class refusals : public device_test {
  protected:
    refusals()
        : m_buffer(new_buffer(pattern(buffer_size))), m_other_buffer(new_buffer(buffer_size)),
          m_foreign_context(make_context({device()})),
          m_foreign_queue(make_queue(m_foreign_context.get(), device(), queue_order::in_order)),
          m_foreign_buffer(make_buffer(m_foreign_context.get(), buffer_size)) {
        write_file(m_folder.path("file"), pattern(buffer_size, 2));
        m_file = open_stream(m_folder.path("file"), "r+");
        fseeko(m_file.get(), 100, SEEK_SET);
        m_fd = open_descriptor(m_folder.path("file"), O_RDWR);
    }

    [[nodiscard]] cl_mem buffer() const { return m_buffer.get(); }
    [[nodiscard]] cl_mem other_buffer() const { return m_other_buffer.get(); }
    [[nodiscard]] cl_context foreign_context() const { return m_foreign_context.get(); }
    [[nodiscard]] cl_command_queue foreign_queue() const { return m_foreign_queue.get(); }
    [[nodiscard]] cl_mem foreign_buffer() const { return m_foreign_buffer.get(); }
    [[nodiscard]] std::FILE* file() const { return m_file.get(); }
    [[nodiscard]] int fd() const { return m_fd.get(); }
    [[nodiscard]] std::string path() const { return m_folder.path("file"); }

    /// The four functions between a buffer and a file.
    [[nodiscard]] std::vector<transfer_call> file_calls() const {
        return {
            {"clEnqueueWriteBufferFromStdioFile",
             [this](auto queue, auto mem, auto offset, auto size, auto count, auto list, auto event) {
                 return clEnqueueWriteBufferFromStdioFile(queue, mem, CL_FALSE, offset, size, file(), count, list,
                                                          event);
             }},
            {"clEnqueueReadBufferToStdioFile",
             [this](auto queue, auto mem, auto offset, auto size, auto count, auto list, auto event) {
                 return clEnqueueReadBufferToStdioFile(queue, mem, CL_FALSE, offset, size, file(), count, list, event);
             }},
            {"clEnqueueWriteBufferFromFile",
             [this](auto queue, auto mem, auto offset, auto size, auto count, auto list, auto event) {
                 return clEnqueueWriteBufferFromFile(queue, mem, CL_FALSE, offset, size, fd(), 0, count, list, event);
             }},
            {"clEnqueueReadBufferToFile",
             [this](auto queue, auto mem, auto offset, auto size, auto count, auto list, auto event) {
                 return clEnqueueReadBufferToFile(queue, mem, CL_FALSE, offset, size, fd(), 0, count, list, event);
             }}};
    }

    /// The file functions and both sides of a peer copy.
    [[nodiscard]] std::vector<transfer_call> all_calls() const {
        std::vector<transfer_call> calls = file_calls();
        calls.push_back({"clEnqueuePeerCopyBuffer, source", [this](auto source_queue, auto mem, auto offset, auto size,
                                                                   auto count, auto list, auto event) {
                             return clEnqueuePeerCopyBuffer(source_queue, mem, queue(), other_buffer(), CL_FALSE,
                                                            offset, 0, size, count, list, event);
                         }});
        calls.push_back({"clEnqueuePeerCopyBuffer, target", [this](auto target_queue, auto mem, auto offset, auto size,
                                                                   auto count, auto list, auto event) {
                             return clEnqueuePeerCopyBuffer(queue(), other_buffer(), target_queue, mem, CL_FALSE, 0,
                                                            offset, size, count, list, event);
                         }});
        return calls;
    }

    /// Makes each call, expects the code and a text that names `thing`, and checks that nothing has happened.
    void expect_refused(const std::vector<transfer_call>& calls, cl_int code, const std::string& thing,
                        cl_command_queue used_queue, cl_mem mem, std::size_t offset, std::size_t size,
                        cl_uint count = 0, const cl_event* list = nullptr) {
        for (const transfer_call& each : calls) {
            SCOPED_TRACE(each.name);
            cl_event event = untouched;
            EXPECT_EQ(each.call(used_queue, mem, offset, size, count, list, &event), code);
            EXPECT_TRUE(message_names(thing));
            EXPECT_EQ(event, untouched);
        }
        expect_nothing_happened();
    }

    void expect_nothing_happened() {
        clFinish(queue());
        EXPECT_EQ(ftello(file()), 100);
        EXPECT_TRUE(same_bytes(pattern(buffer_size, 2), file_contents(path())));
        EXPECT_TRUE(same_bytes(pattern(buffer_size), contents_of(m_buffer, 0, buffer_size)));
    }

    // No call may look at it: a value that is no event.
    const cl_event untouched = reinterpret_cast<cl_event>(0x10);

  private:
    temporary_folder m_folder;
    stream m_file;
    descriptor m_fd;
    buffer_handle m_buffer;
    buffer_handle m_other_buffer;
    context_handle m_foreign_context;
    queue_handle m_foreign_queue;
    buffer_handle m_foreign_buffer;
};
INSTANTIATE_TEST_SUITE_P(devices, refusals, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(refusals, the_calls_that_are_refused_below_are_good_otherwise) {
    for (const transfer_call& each : all_calls()) {
        SCOPED_TRACE(each.name);
        event_handle done;
        ASSERT_EQ(each.call(queue(), buffer(), 0, 100, 0, nullptr, done.out()), CL_SUCCESS);
        EXPECT_TRUE(completes(done));
    }
}

TEST_P(refusals, a_null_queue) {
    expect_refused(all_calls(), CL_INVALID_COMMAND_QUEUE, "queue", nullptr, buffer(), 0, 100);
}

TEST_P(refusals, a_null_buffer) {
    expect_refused(all_calls(), CL_INVALID_MEM_OBJECT, "buffer", queue(), nullptr, 0, 100);
}

TEST_P(refusals, a_buffer_of_another_context) {
    expect_refused(all_calls(), CL_INVALID_CONTEXT, "context", queue(), foreign_buffer(), 0, 100);
}

TEST_P(refusals, a_range_that_ends_behind_the_buffer) {
    expect_refused(all_calls(), CL_INVALID_VALUE, "buffer", queue(), buffer(), buffer_size - 99, 100);
}

TEST_P(refusals, a_range_that_starts_behind_the_buffer) {
    expect_refused(all_calls(), CL_INVALID_VALUE, "buffer", queue(), buffer(), buffer_size + 1, 0);
}

TEST_P(refusals, a_range_whose_end_overflows) {
    const std::size_t most = std::numeric_limits<std::size_t>::max();
    expect_refused(all_calls(), CL_INVALID_VALUE, "buffer", queue(), buffer(), most - 10, 100);
    expect_refused(all_calls(), CL_INVALID_VALUE, "buffer", queue(), buffer(), 100, most - 10);
}

TEST_P(refusals, an_image_in_the_place_of_a_buffer) {
    cl_bool has_images = CL_FALSE;
    clGetDeviceInfo(device(), CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, nullptr);
    if (has_images == CL_FALSE) {
        GTEST_SKIP() << "the device has no images";
    }
    const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = 64;
    shape.image_height = 64;
    cl_int code = CL_SUCCESS;
    const buffer_handle image(clCreateImage(context(), CL_MEM_READ_WRITE, &format, &shape, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    expect_refused(all_calls(), CL_INVALID_MEM_OBJECT, "buffer", queue(), image.get(), 0, 100);
}

TEST_P(refusals, a_buffer_that_the_host_may_not_access) {
    const auto hidden = new_buffer(buffer_size, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS);
    expect_refused(all_calls(), CL_INVALID_OPERATION, "buffer", queue(), hidden.get(), 0, 100);
}

TEST_P(refusals, a_buffer_that_the_host_may_only_read_as_target) {
    const auto read_only = new_buffer(buffer_size, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY);
    const auto calls = all_calls();
    expect_refused({calls[0], calls[2], calls[5]}, CL_INVALID_OPERATION, "buffer", queue(), read_only.get(), 0, 100);
}

TEST_P(refusals, a_buffer_that_the_host_may_only_write_as_source) {
    const auto write_only = new_buffer(buffer_size, CL_MEM_READ_WRITE | CL_MEM_HOST_WRITE_ONLY);
    const auto calls = all_calls();
    expect_refused({calls[1], calls[3], calls[4]}, CL_INVALID_OPERATION, "buffer", queue(), write_only.get(), 0, 100);
}

TEST_P(refusals, a_wait_list_that_is_null_although_it_counts_events) {
    expect_refused(all_calls(), CL_INVALID_EVENT_WAIT_LIST, "wait", queue(), buffer(), 0, 100, 1, nullptr);
}

TEST_P(refusals, a_wait_list_that_counts_no_events_although_it_is_there) {
    const gate start(context());
    const cl_event list[] = {start.event()};
    expect_refused(all_calls(), CL_INVALID_EVENT_WAIT_LIST, "wait", queue(), buffer(), 0, 100, 0, list);
}

TEST_P(refusals, a_wait_list_with_a_null_event) {
    const gate start(context());
    const cl_event list[] = {start.event(), nullptr};
    expect_refused(all_calls(), CL_INVALID_EVENT_WAIT_LIST, "event", queue(), buffer(), 0, 100, 2, list);
}

TEST_P(refusals, an_event_of_another_context) {
    const gate start(foreign_context());
    const cl_event list[] = {start.event()};
    expect_refused(all_calls(), CL_INVALID_CONTEXT, "context", queue(), buffer(), 0, 100, 1, list);
}

TEST_P(refusals, a_refused_call_holds_back_nothing) {
    const gate never(context());
    const cl_event list[] = {never.event(), nullptr};
    expect_refused(all_calls(), CL_INVALID_EVENT_WAIT_LIST, "event", queue(), buffer(), 0, 100, 2, list);
    EXPECT_TRUE(completes(read_buffer_to(queue(), buffer(), 0, 100, file())));
}

TEST_P(refusals, a_null_file) {
    cl_event event = untouched;
    EXPECT_EQ(clEnqueueWriteBufferFromStdioFile(queue(), buffer(), CL_FALSE, 0, 100, nullptr, 0, nullptr, &event),
              CL_INVALID_VALUE);
    EXPECT_TRUE(message_names("file"));
    EXPECT_EQ(clEnqueueReadBufferToStdioFile(queue(), buffer(), CL_FALSE, 0, 100, nullptr, 0, nullptr, &event),
              CL_INVALID_VALUE);
    EXPECT_TRUE(message_names("file"));
    EXPECT_EQ(event, untouched);
}

TEST_P(refusals, a_stream_that_is_not_open_for_reading) {
    for (const char* mode : {"a", "w"}) {
        const temporary_folder folder;
        const stream writing = open_stream(folder.path("out"), mode);
        cl_event event = untouched;
        EXPECT_EQ(
            clEnqueueWriteBufferFromStdioFile(queue(), buffer(), CL_FALSE, 0, 100, writing.get(), 0, nullptr, &event),
            CL_INVALID_VALUE);
        EXPECT_TRUE(message_names("read"));
        EXPECT_EQ(event, untouched);
    }
    expect_nothing_happened();
}

TEST_P(refusals, a_stream_that_is_not_open_for_writing) {
    const stream reading = open_stream(path(), "r");
    cl_event event = untouched;
    EXPECT_EQ(clEnqueueReadBufferToStdioFile(queue(), buffer(), CL_FALSE, 0, 100, reading.get(), 0, nullptr, &event),
              CL_INVALID_VALUE);
    EXPECT_TRUE(message_names("writ"));
    EXPECT_EQ(event, untouched);
    expect_nothing_happened();
}

TEST_P(refusals, a_descriptor_that_cannot_be_used) {
    const descriptor reading = open_descriptor(path(), O_RDONLY);
    const descriptor writing = open_descriptor(path(), O_WRONLY);
    const auto [pipe_out, pipe_in] = make_pipe();
    descriptor closed = open_descriptor(path(), O_RDWR);
    const int closed_fd = closed.get();
    closed.close();
    const int bad_to_read[] = {-1, closed_fd, writing.get(), pipe_out.get()};
    const int bad_to_write[] = {-1, closed_fd, reading.get(), pipe_in.get()};
    for (std::size_t i = 0; i < std::size(bad_to_read); ++i) {
        SCOPED_TRACE(testing::Message() << "case " << i);
        cl_event event = untouched;
        EXPECT_EQ(
            clEnqueueWriteBufferFromFile(queue(), buffer(), CL_FALSE, 0, 100, bad_to_read[i], 0, 0, nullptr, &event),
            CL_INVALID_VALUE);
        EXPECT_NE(last_message(), "");
        EXPECT_EQ(
            clEnqueueReadBufferToFile(queue(), buffer(), CL_FALSE, 0, 100, bad_to_write[i], 0, 0, nullptr, &event),
            CL_INVALID_VALUE);
        EXPECT_NE(last_message(), "");
        EXPECT_EQ(event, untouched);
    }
    expect_nothing_happened();
}

TEST_P(refusals, a_negative_file_offset) {
    for (const std::int64_t offset : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
        cl_event event = untouched;
        EXPECT_EQ(clEnqueueWriteBufferFromFile(queue(), buffer(), CL_FALSE, 0, 100, fd(), offset, 0, nullptr, &event),
                  CL_INVALID_VALUE);
        EXPECT_TRUE(message_names("offset"));
        EXPECT_EQ(clEnqueueReadBufferToFile(queue(), buffer(), CL_FALSE, 0, 100, fd(), offset, 0, nullptr, &event),
                  CL_INVALID_VALUE);
        EXPECT_TRUE(message_names("offset"));
        EXPECT_EQ(event, untouched);
    }
    expect_nothing_happened();
}

TEST_P(refusals, a_file_range_whose_end_overflows) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::size_t size : {1, 100, 4096}) {
        SCOPED_TRACE(size);
        const std::int64_t offset = most - static_cast<std::int64_t>(size) + 1;
        cl_event event = untouched;
        for (const cl_bool blocking : {CL_FALSE, CL_TRUE}) {
            EXPECT_EQ(
                clEnqueueWriteBufferFromFile(queue(), buffer(), blocking, 0, size, fd(), offset, 0, nullptr, &event),
                CL_INVALID_VALUE);
            EXPECT_TRUE(message_names("file"));
            EXPECT_EQ(clEnqueueReadBufferToFile(queue(), buffer(), blocking, 0, size, fd(), offset, 0, nullptr, &event),
                      CL_INVALID_VALUE);
            EXPECT_TRUE(message_names("file"));
        }
        EXPECT_EQ(event, untouched);
    }
    expect_nothing_happened();
}

TEST_P(refusals, a_blocking_call_is_refused_like_any_other) {
    cl_event event = untouched;
    EXPECT_EQ(
        clEnqueueReadBufferToStdioFile(queue(), buffer(), CL_TRUE, 0, buffer_size + 1, file(), 0, nullptr, &event),
        CL_INVALID_VALUE);
    EXPECT_EQ(event, untouched);
    expect_nothing_happened();
}

TEST_P(refusals, a_peer_copy_with_a_wait_list_of_a_third_context) {
    const context_handle third = make_context({device()});
    const gate start(third.get());
    const cl_event list[] = {start.event()};
    cl_event event = untouched;
    EXPECT_EQ(clEnqueuePeerCopyBuffer(queue(), buffer(), foreign_queue(), foreign_buffer(), CL_FALSE, 0, 0, 100, 1,
                                      list, &event),
              CL_INVALID_CONTEXT);
    EXPECT_TRUE(message_names("context"));
    EXPECT_EQ(event, untouched);
}

TEST_P(refusals, the_text_belongs_to_the_thread_whose_call_was_refused) {
    cl_event event = untouched;
    ASSERT_EQ(clEnqueueReadBufferToStdioFile(nullptr, buffer(), CL_FALSE, 0, 1, file(), 0, nullptr, &event),
              CL_INVALID_COMMAND_QUEUE);
    EXPECT_TRUE(message_names("queue"));
    std::string elsewhere = "not asked";
    std::jthread([&] { elsewhere = causeway_error_last_message(); }).join();
    EXPECT_EQ(elsewhere, "");
}
