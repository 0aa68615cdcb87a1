// SPDX-License-Identifier: Apache-2.0
// Transfers that work on buffers where they lie: without commands of OpenCL, on the right bytes, and only where a
// device works there too.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <dlfcn.h>
#include <fcntl.h>

#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <random>

using namespace support;

namespace {

constexpr std::size_t KiB = 1 << 10;

std::atomic<int> commands{0};       // maps, reads and writes of this process so far
std::atomic<bool> maps_copy{false}; // as of a device with memory of its own: what is mapped is a copy

/// What is mapped as a copy.
struct shadow {
    cl_mem buffer;
    std::size_t offset;
    bool is_written;
    std::vector<unsigned char> bytes;
};
std::mutex shadows_mutex; // guards shadows
std::map<void*, std::shared_ptr<shadow>> shadows;

template <class Function> Function next(const char* name) { return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name)); }

} // namespace

// The library finds these before those of the loader.
extern "C" {

__attribute__((visibility("default"))) cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                                                              cl_bool blocking, size_t offset,
                                                                              size_t size, void* to, cl_uint count,
                                                                              const cl_event* list, cl_event* event) {
    static const auto real = next<decltype(&clEnqueueReadBuffer)>("clEnqueueReadBuffer");
    ++commands;
    return real(queue, buffer, blocking, offset, size, to, count, list, event);
}

__attribute__((visibility("default"))) cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                                                               cl_bool blocking, size_t offset,
                                                                               size_t size, const void* from,
                                                                               cl_uint count, const cl_event* list,
                                                                               cl_event* event) {
    static const auto real = next<decltype(&clEnqueueWriteBuffer)>("clEnqueueWriteBuffer");
    ++commands;
    return real(queue, buffer, blocking, offset, size, from, count, list, event);
}

__attribute__((visibility("default"))) void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer,
                                                                            cl_bool blocking, cl_map_flags flags,
                                                                            size_t offset, size_t size, cl_uint count,
                                                                            const cl_event* list, cl_event* event,
                                                                            cl_int* code) {
    static const auto real = next<decltype(&clEnqueueMapBuffer)>("clEnqueueMapBuffer");
    ++commands;
    if (!maps_copy) return real(queue, buffer, blocking, flags, offset, size, count, list, event, code);
    auto made = std::make_shared<shadow>(
        shadow{buffer, offset, (flags & CL_MAP_WRITE) != 0, std::vector<unsigned char>(size)});
    auto* const memory = made->bytes.data();
    {
        const std::lock_guard lock(shadows_mutex);
        shadows[memory] = std::move(made);
    }
    const auto result = clEnqueueReadBuffer(queue, buffer, blocking, offset, size, memory, count, list, event);
    if (code != nullptr) *code = result;
    return result == CL_SUCCESS ? memory : nullptr;
}

__attribute__((visibility("default"))) cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer,
                                                                                  void* memory, cl_uint count,
                                                                                  const cl_event* list,
                                                                                  cl_event* event) {
    static const auto real = next<decltype(&clEnqueueUnmapMemObject)>("clEnqueueUnmapMemObject");
    std::shared_ptr<shadow> found;
    {
        const std::lock_guard lock(shadows_mutex);
        if (const auto entry = shadows.find(memory); entry != shadows.end()) found = entry->second;
    }
    if (!found) return real(queue, buffer, memory, count, list, event);
    if (!found->is_written) return clEnqueueMarkerWithWaitList(queue, count, list, event);
    return clEnqueueWriteBuffer(queue, buffer, CL_FALSE, found->offset, found->bytes.size(), memory, count, list,
                                event);
}

} // extern "C"

namespace {

class in_place : public device_test {
  protected:
    void SetUp() override {
        // Of others nobody knows where their buffers lie.
        cl_device_type kind = 0;
        clGetDeviceInfo(device(), CL_DEVICE_TYPE, sizeof kind, &kind, nullptr);
        if ((kind & CL_DEVICE_TYPE_CPU) == 0) GTEST_SKIP() << "not a CPU device";
    }

    /// Through a file and back, each from a transfer of `size` bytes at `offset` of `buffer`; true if the bytes are
    /// right.
    [[nodiscard]] testing::AssertionResult there_and_back(cl_mem buffer, std::size_t offset, std::size_t size,
                                                          std::uint64_t seed) {
        const auto wanted = pattern(size, seed);
        write_file(m_folder.path("in"), wanted);
        const descriptor source = open_descriptor(m_folder.path("in"), O_RDONLY);
        if (const auto done = completes(write_buffer_from(queue(), buffer, offset, size, source.get(), 0)); !done)
            return done;
        bytes seen(size);
        if (clEnqueueReadBuffer(queue(), buffer, CL_TRUE, offset, size, seen.data(), 0, nullptr, nullptr) != CL_SUCCESS)
            return testing::AssertionFailure() << "reading back";
        if (const auto same = same_bytes(wanted, seen); !same) return same;
        const descriptor target = open_descriptor(m_folder.path("out"), O_RDWR | O_CREAT | O_TRUNC);
        // What a kernel would write, not the library.
        const auto later = pattern(size, seed + 1);
        fill(queue(), buffer, offset, later);
        if (const auto done = completes(read_buffer_to(queue(), buffer, offset, size, target.get(), 0)); !done)
            return done;
        return same_bytes(later, file_contents(m_folder.path("out")));
    }

    /// The commands that the transfers there and back take beside the test's own, which are two.
    [[nodiscard]] int commands_of(cl_mem buffer, std::size_t size) {
        const int before = commands;
        EXPECT_TRUE(there_and_back(buffer, 0, size, 3));
        return commands - before - 2;
    }

    temporary_folder m_folder;
};
INSTANTIATE_TEST_SUITE_P(devices, in_place, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(in_place, transfers_take_no_command_once_the_device_has_been_tried) {
    const auto buffer = new_buffer(std::size_t{3'000'000});
    ASSERT_TRUE(eventually([&] { return commands_of(buffer.get(), 1000) == 0; }));
    for (const std::size_t size : {std::size_t{1}, 4 * KiB, 64 * KiB, 300 * KiB, std::size_t{3'000'000}}) {
        EXPECT_EQ(commands_of(buffer.get(), size), 0) << size;
        // A buffer that is new is asked for once.
        const auto other = new_buffer(size);
        EXPECT_LE(commands_of(other.get(), size), 1) << size;
        EXPECT_EQ(commands_of(other.get(), size), 0) << size;
    }
    for (const char* name : {"mapped", "pinned", "pipelined"}) {
        const option_scope strategy("strategy", name);
        EXPECT_EQ(commands_of(buffer.get(), 200 * KiB), 0) << name;
    }
    const option_scope off("in_place", "off");
    EXPECT_GE(commands_of(buffer.get(), 1000), 2);
}

TEST_P(in_place, a_trial_that_no_transfer_ends_keeps_nothing) {
    const auto own_context = make_context({device()});
    const auto own_queue = make_queue(own_context.get(), device(), queue_order::in_order);
    const auto buffer = make_buffer(own_context.get(), 4 * KiB);
    const auto references = [&] {
        cl_uint count = 0;
        clGetContextInfo(own_context.get(), CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, nullptr);
        return count;
    };
    const auto before = references();
    const option_scope soon("keep", "0");
    write_file(m_folder.path("in"), pattern(4 * KiB));
    const int commands_before = commands;
    {
        const descriptor source = open_descriptor(m_folder.path("in"), O_RDONLY);
        ASSERT_TRUE(completes(write_buffer_from(own_queue.get(), buffer.get(), 0, 4 * KiB, source.get(), 0)));
    }
    EXPECT_GE(commands - commands_before, 2) << "the trial's map, and the transfer's own";
    const auto settled = [&] {
        // PoCL lets go of ended commands as their queue takes others.
        static_cast<void>(contents(own_queue.get(), buffer.get(), 0, 1));
        return references() <= before;
    };
    EXPECT_TRUE(eventually(settled)) << before << " before, now " << references();
}

TEST_P(in_place, transfers_are_not_where_maps_are_copies) {
    maps_copy = true;
    const auto buffer = new_buffer(std::size_t{700'000});
    for (int round = 0; round < 20; ++round)
        for (const char* name : {"auto", "mapped", "pinned"}) {
            const option_scope strategy("strategy", name);
            EXPECT_GE(commands_of(buffer.get(), round % 2 == 0 ? 1000 : 700'000), 2) << name;
        }
    maps_copy = false;
}

TEST_P(in_place, transfers_reach_buffers_that_have_the_handles_of_others_before_them) {
    std::mt19937 random(7);
    std::list<buffer_handle> kept;
    for (int round = 0; round < 150; ++round) {
        const std::size_t size = 4 * KiB + random() % (300 * KiB);
        auto whole = new_buffer(size);
        ASSERT_TRUE(there_and_back(whole.get(), 0, size, round));
        const cl_buffer_region region{4 * KiB * (random() % (size / (4 * KiB))), 1 + random() % (2 * KiB)};
        if (region.origin + region.size <= size) {
            cl_int code = CL_SUCCESS;
            const buffer_handle part(clCreateSubBuffer(whole.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
            ASSERT_EQ(code, CL_SUCCESS);
            if (random() % 2 == 0) whole = {}; // lives on in its part
            ASSERT_TRUE(there_and_back(part.get(), 0, region.size, round + 1000));
        }
        if (whole.get() != nullptr) kept.push_back(std::move(whole));
        while (kept.size() > 5) kept.pop_front();
    }
}

TEST_P(in_place, transfers_take_commands_where_the_program_gave_the_memory) {
    const auto plain = new_buffer(std::size_t{100 * KiB});
    ASSERT_TRUE(eventually([&] { return commands_of(plain.get(), 1000) == 0; }));
    std::vector<unsigned char> memory(100 * KiB + 1);
    cl_int code = CL_SUCCESS;
    const buffer_handle buffer(
        clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 100 * KiB, memory.data() + 1, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_GE(commands_of(buffer.get(), 1000), 2);
    EXPECT_GE(commands_of(buffer.get(), 100 * KiB), 2);
}
