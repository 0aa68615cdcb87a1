// SPDX-License-Identifier: Apache-2.0
// Buffers of causeway_buffer_create(): whether they lie in windows or not, they are buffers like any.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"
#include "support/patterns.hpp"

#include <causeway/buffer.h>

#include <fcntl.h>

#include <filesystem>
#include <memory>

using namespace support;

namespace {

constexpr std::size_t MiB = 1 << 20;

enum class kind { ordinary, in_window };

/// A device with a queue of its own, and a context.
class island {
  public:
    explicit island(cl_device_id device) : island(device, std::make_shared<context_handle>(make_context({device}))) {}
    island(cl_device_id device, std::shared_ptr<context_handle> context)
        : m_device(device), m_context(std::move(context)),
          m_queue(make_queue(m_context->get(), device, queue_order::in_order)) {}

    [[nodiscard]] cl_command_queue queue() const { return m_queue.get(); }
    [[nodiscard]] cl_context context() const { return m_context->get(); }
    [[nodiscard]] buffer_handle new_buffer(kind which, std::size_t size) const {
        if (which == kind::ordinary) return make_buffer(context(), size);
        cl_int code = CL_SUCCESS;
        buffer_handle made(causeway_buffer_create(context(), m_device, CL_MEM_READ_WRITE, size, &code));
        if (code != CL_SUCCESS) throw std::runtime_error(causeway_error_last_message());
        return made;
    }
    [[nodiscard]] buffer_handle new_buffer(kind which, const bytes& contents) const {
        auto made = new_buffer(which, contents.size());
        fill(queue(), made.get(), 0, contents);
        return made;
    }

  private:
    cl_device_id m_device;
    std::shared_ptr<context_handle> m_context;
    queue_handle m_queue;
};

/// Enqueued; waits for `waits`.
event_handle copy(const island& from, cl_mem source, std::size_t source_offset, const island& to, cl_mem target,
                  std::size_t target_offset, std::size_t size, const wait_list& waits = {}) {
    event_handle event;
    const cl_int code = clEnqueuePeerCopyBuffer(from.queue(), source, to.queue(), target, CL_FALSE, source_offset,
                                                target_offset, size, static_cast<cl_uint>(waits.size()),
                                                waits.empty() ? nullptr : waits.data(), event.out());
    if (code != CL_SUCCESS) throw std::runtime_error(causeway_error_last_message());
    return event;
}

auto open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

/// Whether buffers of these devices lie in windows: between two contexts, nothing else moves bytes in one step. A link
/// may not be known at once.
bool linked(cl_device_id one, cl_device_id other) {
    char text[200] = "";
    (void)causeway_direct_links(one, text, sizeof text);
    if (std::string(text).starts_with("none")) return false;
    const island from(one), to(other);
    const auto out = from.new_buffer(kind::in_window, MiB), in = to.new_buffer(kind::in_window, MiB);
    return eventually([&] {
        const auto moved = copy(from, out.get(), 0, to, in.get(), 0, MiB);
        return completes(moved) && transfer_text(moved, CL_TRANSFER_STRATEGY) == "direct";
    });
}

class window_buffers : public device_test {
  protected:
    const island here{device()};
};
INSTANTIATE_TEST_SUITE_P(devices, window_buffers, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(window_buffers, refuse_what_no_device_memory_can_be) {
    cl_int code = CL_SUCCESS;
    for (const cl_mem_flags flags : {CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR, CL_MEM_ALLOC_HOST_PTR}) {
        EXPECT_EQ(causeway_buffer_create(here.context(), device(), flags, 64, &code), nullptr);
        EXPECT_EQ(code, CL_INVALID_VALUE);
    }
    EXPECT_EQ(causeway_buffer_create(here.context(), device(), CL_MEM_READ_WRITE, 0, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
    EXPECT_EQ(causeway_buffer_create(nullptr, device(), CL_MEM_READ_WRITE, 64, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_CONTEXT);
    EXPECT_EQ(causeway_buffer_create(here.context(), nullptr, CL_MEM_READ_WRITE, 64, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_DEVICE);
    EXPECT_EQ(causeway_buffer_create(here.context(), device(), CL_MEM_USE_HOST_PTR, 64, nullptr), nullptr);
}

TEST_P(window_buffers, have_the_size_and_flags_that_were_asked_for) {
    const buffer_handle made(causeway_buffer_create(here.context(), device(), CL_MEM_READ_ONLY, 12345, nullptr));
    ASSERT_NE(made.get(), nullptr);
    std::size_t size = 0;
    cl_mem_flags flags = 0;
    ASSERT_EQ(clGetMemObjectInfo(made.get(), CL_MEM_SIZE, sizeof size, &size, nullptr), CL_SUCCESS);
    ASSERT_EQ(clGetMemObjectInfo(made.get(), CL_MEM_FLAGS, sizeof flags, &flags, nullptr), CL_SUCCESS);
    EXPECT_EQ(size, 12345u);
    EXPECT_EQ(flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY), cl_mem_flags{CL_MEM_READ_ONLY});
}

TEST_P(window_buffers, are_buffers_to_every_command) {
    bytes expected = pattern(3 * MiB);
    const auto made = here.new_buffer(kind::in_window, expected);
    const auto add = make_add_kernel(here.context(), device());
    ASSERT_TRUE(completes(enqueue_add(here.queue(), add.get(), made.get(), MiB, 3)));
    for (std::size_t i = 0; i < MiB; ++i) expected[i] += 3;
    cl_int code = CL_SUCCESS;
    auto* const mapped = static_cast<unsigned char*>(clEnqueueMapBuffer(
        here.queue(), made.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 2 * MiB, MiB, 0, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(mapped[5], expected[2 * MiB + 5]);
    mapped[5] = expected[2 * MiB + 5] = 99;
    ASSERT_EQ(clEnqueueUnmapMemObject(here.queue(), made.get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
    const auto copied = here.new_buffer(kind::ordinary, expected.size());
    ASSERT_EQ(clEnqueueCopyBuffer(here.queue(), made.get(), copied.get(), 0, 0, expected.size(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_TRUE(same_bytes(expected, contents(here.queue(), copied.get(), 0, expected.size())));
}

TEST_P(window_buffers, and_ordinary_ones_meet_in_every_combination) {
    for (const auto& other : all_devices()) {
        const island there(other.device);
        for (const auto from : {kind::ordinary, kind::in_window})
            for (const auto to : {kind::ordinary, kind::in_window})
                for (const std::size_t size : {std::size_t{1}, std::size_t{4097}, 5 * MiB + 3}) {
                    SCOPED_TRACE(testing::Message() << size << " bytes to " << other.name << ", "
                                                    << static_cast<int>(from) << " to " << static_cast<int>(to));
                    const bytes source = pattern(size + 100), before = pattern(size + 100, 2);
                    const auto out = here.new_buffer(from, source);
                    const auto in = there.new_buffer(to, before);
                    ASSERT_TRUE(completes(copy(here, out.get(), 33, there, in.get(), 44, size)));
                    EXPECT_TRUE(same_bytes(
                        join(join(slice(before, 0, 44), slice(source, 33, size)), slice(before, 44 + size, 56)),
                        contents(there.queue(), in.get(), 0, size + 100)));
                }
    }
}

TEST_P(window_buffers, of_one_context_belong_to_a_device_each) {
    const temporary_folder folder;
    bool found = false;
    for (const auto& other : all_devices()) {
        if (other.platform != GetParam().platform || other.device == device()) continue;
        found = true;
        SCOPED_TRACE(other.name);
        const auto shared = std::make_shared<context_handle>(make_context({device(), other.device}));
        const island one(device(), shared), two(other.device, shared);
        const bytes source = pattern(3 * MiB + 1), before = pattern(source.size(), 2);
        const auto out = one.new_buffer(kind::in_window, source), in = two.new_buffer(kind::in_window, before);
        ASSERT_TRUE(completes(copy(one, out.get(), 0, two, in.get(), 0, source.size())));
        EXPECT_TRUE(same_bytes(source, contents(two.queue(), in.get(), 0, source.size())));
        const bool are_linked = linked(device(), other.device);

        // The other's queue in place of its own.
        const cl_buffer_region region{MiB, MiB};
        cl_int made = CL_SUCCESS;
        const buffer_handle part(
            clCreateSubBuffer(out.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &made));
        ASSERT_EQ(made, CL_SUCCESS);
        write_file(folder.path("data"), pattern(MiB));
        const descriptor file = open_descriptor(folder.path("data"), O_RDWR);
        const auto use = [&](const char* what, auto call) {
            SCOPED_TRACE(what);
            event_handle event;
            const cl_int code = call(event.out());
            if (are_linked) {
                EXPECT_EQ(code, CL_INVALID_OPERATION);
                EXPECT_NE(std::string(causeway_error_last_message()).find("another device"), std::string::npos)
                    << causeway_error_last_message();
                EXPECT_EQ(event.get(), nullptr);
            } else {
                ASSERT_EQ(code, CL_SUCCESS);
                EXPECT_TRUE(completes(event));
            }
        };
        const auto peer_copy = [](cl_command_queue from, cl_mem source, cl_command_queue to, cl_mem target) {
            return [=](cl_event* event) {
                return clEnqueuePeerCopyBuffer(from, source, to, target, CL_FALSE, 0, 0, MiB, 0, nullptr, event);
            };
        };
        use("source", peer_copy(two.queue(), out.get(), two.queue(), in.get()));
        use("part of it", peer_copy(two.queue(), part.get(), two.queue(), in.get()));
        use("target", peer_copy(one.queue(), out.get(), one.queue(), in.get()));
        use("to a file", [&](cl_event* event) {
            return clEnqueueReadBufferToFile(two.queue(), out.get(), CL_FALSE, 0, MiB, file.get(), 0, 0, nullptr,
                                             event);
        });
        use("from a file", [&](cl_event* event) {
            return clEnqueueWriteBufferFromFile(two.queue(), out.get(), CL_FALSE, 0, MiB, file.get(), 0, 0, nullptr,
                                                event);
        });
        if (are_linked) {
            EXPECT_TRUE(same_bytes(source, contents(one.queue(), out.get(), 0, source.size())));
            EXPECT_TRUE(same_bytes(source, contents(two.queue(), in.get(), 0, source.size())));
        }
    }
    if (!found) GTEST_SKIP() << "the platform has one device only";
}

TEST_P(window_buffers, are_reached_through_their_parts) {
    const island there(device());
    const bytes source = pattern(4 * MiB), before = pattern(4 * MiB, 2);
    const auto out = here.new_buffer(kind::in_window, source), in = there.new_buffer(kind::in_window, before);
    const cl_buffer_region first{MiB, 2 * MiB}, second{2 * MiB, MiB};
    cl_int code = CL_SUCCESS;
    const buffer_handle part_of_out(
        clCreateSubBuffer(out.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &first, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const buffer_handle part_of_in(
        clCreateSubBuffer(in.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &second, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_TRUE(completes(copy(here, part_of_out.get(), 100, there, part_of_in.get(), 200, MiB - 200)));
    EXPECT_TRUE(same_bytes(
        join(join(slice(before, 0, 2 * MiB + 200), slice(source, MiB + 100, MiB - 200)), slice(before, 3 * MiB, MiB)),
        contents(there.queue(), in.get(), 0, 4 * MiB)));
}

TEST_P(window_buffers, are_written_after_kernels_before_and_read_by_kernels_behind) {
    const island there(device());
    const auto out = here.new_buffer(kind::in_window, bytes(MiB, 1)),
               in = there.new_buffer(kind::in_window, bytes(MiB, 0));
    const auto add_here = make_add_kernel(here.context(), device()),
               add_there = make_add_kernel(there.context(), device());
    unsigned char value = 1;
    for (int round = 0; round < 20; ++round) {
        (void)enqueue_add(here.queue(), add_here.get(), out.get(), MiB, 1);
        (void)copy(here, out.get(), 0, there, in.get(), 0, MiB);
        const auto added = enqueue_add(there.queue(), add_there.get(), in.get(), MiB, 2);
        ASSERT_TRUE(completes(added));
        ++value;
        ASSERT_TRUE(
            same_bytes(bytes(MiB, static_cast<unsigned char>(value + 2)), contents(there.queue(), in.get(), 0, MiB)))
            << "round " << round;
    }
}

TEST_P(window_buffers, may_be_released_before_their_transfer_begins) {
    const island there(device());
    const auto in = there.new_buffer(kind::in_window, bytes(2 * MiB));
    auto out = here.new_buffer(kind::in_window, pattern(2 * MiB));
    gate held(here.context());
    const auto done = copy(here, out.get(), 0, there, in.get(), 0, 2 * MiB, {held.event()});
    out = {};
    held.open();
    ASSERT_TRUE(completes(done));
    EXPECT_TRUE(same_bytes(pattern(2 * MiB), contents(there.queue(), in.get(), 0, 2 * MiB)));
}

TEST_P(window_buffers, give_everything_back) {
    const island there(device());
    const auto once = [&] {
        const auto out = here.new_buffer(kind::in_window, pattern(MiB)), in = there.new_buffer(kind::in_window, MiB);
        ASSERT_TRUE(completes(copy(here, out.get(), 0, there, in.get(), 0, MiB)));
    };
    for (int i = 0; i < 3; ++i) once();
    const auto before = open_descriptors();
    for (int i = 0; i < 50; ++i) once();
    // The engine lets go of them soon.
    EXPECT_TRUE(eventually([&] { return open_descriptors() <= before; }))
        << open_descriptors() << " instead of " << before;
}
