// SPDX-License-Identifier: Apache-2.0
// What tests of calls with arguments by chance share: buffers, files, queues and wait lists to choose from, a model of
// all bytes, and the judge of what a call has done.
#pragma once

#include "support/random_arguments.hpp"

#include "ranks.hpp"

#include <causeway/packed.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <span>

namespace system_test {

using support::box;
using support::guarded_memory;
using support::large;
using support::text_of;
using support::triple;

inline constexpr std::size_t size = 1024, file_size = 2048;

/// What a call is told of a buffer, and what it must have in it.
struct slot {
    cl_mem buffer;
    unsigned char* model;
    std::size_t bytes;
    int context; // 0: the test's, 1: another, -1: the buffer is null
    bool may_read = true, may_write = true;
};

struct queue_choice {
    cl_command_queue queue;
    int context;
};

enum class waits { pass, fail, are_wrong };

struct wait_choice {
    cl_uint count = 0;
    const cl_event* list = nullptr;
    int context = 0; // of its events; -1 if there are none
    waits what = waits::pass;
};

/// A way of calling that is the same for all commands.
struct call_frame {
    queue_choice on;
    wait_choice after;
    cl_bool blocking;
    bool wants_event;
};

struct file_choice {
    int fd;
    enum kind_type { file, directory, full, none } kind;
    bool reads, writes;
};

/// What became of a call.
struct outcome {
    cl_int code;
    cl_int status = CL_COMPLETE; // of the transfer, if the call was not refused
    std::size_t moved = 0;
    bool knows_moved = false;
    bool is_known = true; // whether anything says how it ended
};

class random_arguments : public ranks_test, protected support::random_numbers {
  protected:
    void SetUp() override {
        ranks_test::SetUp();
        const auto seed = support::number_of("CAUSEWAY_TEST_SEED", 20261126);
        begin(seed, size);
        RecordProperty("seed", std::to_string(seed));
        MPI_Comm_dup(MPI_COMM_SELF, &m_self);
        MPI_Comm_set_errhandler(m_self, MPI_ERRORS_RETURN);

        m_foreign_context = own().make_context();
        m_queues.push_back(own().make_queue(0));
        m_queues.push_back(own().make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
        cl_int code = CL_SUCCESS;
        m_foreign_queue = queue(clCreateCommandQueue(m_foreign_context.get(), own().device(), 0, &code));
        ASSERT_EQ(code, CL_SUCCESS);

        // A buffer in the program's memory, with nobody's page behind it and a page that must not change before it.
        std::memset(m_memory.last(m_memory_size), 0x5a, m_memory_size);
        auto* const place = m_memory.last(size);
        for (auto* model : {m_in_memory.data(), m_parent.data(), m_parent.data() + size, m_parent.data() + 2 * size,
                            m_foreign.data()})
            for (std::size_t i = 0; i < size; ++i) model[i] = static_cast<unsigned char>(below(256));
        std::memcpy(place, m_in_memory.data(), size);
        m_buffers.emplace_back(
            clCreateBuffer(own().context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, place, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        m_buffers.push_back(own().make_buffer({m_parent.begin(), m_parent.end()}));
        const cl_buffer_region middle{size, size};
        m_buffers.emplace_back(
            clCreateSubBuffer(m_buffers[1].get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &middle, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        m_buffers.emplace_back(clCreateBuffer(m_foreign_context.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size,
                                              m_foreign.data(), &code));
        ASSERT_EQ(code, CL_SUCCESS);
        for (const cl_mem_flags flag : {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS})
            m_buffers.push_back(own().make_empty_buffer(size, flag));
        m_slots = {
            {m_buffers[0].get(), m_in_memory.data(), size, 0},     {m_buffers[1].get(), m_parent.data(), 3 * size, 0},
            {m_buffers[2].get(), m_parent.data() + size, size, 0}, {m_buffers[3].get(), m_foreign.data(), size, 1},
            {m_buffers[4].get(), nullptr, size, 0, true, false},   {m_buffers[5].get(), nullptr, size, 0, false, true},
            {m_buffers[6].get(), nullptr, size, 0, false, false},  {nullptr, nullptr, 0, -1}};

        m_done = own().make_user_event();
        ASSERT_EQ(clSetUserEventStatus(m_done.get(), CL_COMPLETE), CL_SUCCESS);
        m_failed = own().make_user_event();
        ASSERT_EQ(clSetUserEventStatus(m_failed.get(), -7), CL_SUCCESS);
        m_foreign_event = event(clCreateUserEvent(m_foreign_context.get(), &code));
        ASSERT_EQ(clSetUserEventStatus(m_foreign_event.get(), CL_COMPLETE), CL_SUCCESS);
        m_lists = {{m_done.get(), m_done.get()},
                   {m_done.get(), m_failed.get()},
                   {m_done.get(), nullptr},
                   {m_foreign_event.get(), m_foreign_event.get()}};
        open_files();
    }

    void TearDown() override {
        for (const auto& each : m_files)
            if (each.fd >= 0) ::close(each.fd);
        for (auto* each : m_streams)
            if (each != nullptr) std::fclose(each);
        if (m_self != MPI_COMM_NULL) causeway_mpi_comm_free(&m_self);
        ranks_test::TearDown();
    }

    static std::uint64_t calls() { return support::number_of("CAUSEWAY_TEST_CALLS", 1000); }

    void open_files() {
        m_file.resize(file_size);
        for (auto& each : m_file) each = static_cast<unsigned char>(below(256));
        std::string path = (std::filesystem::temp_directory_path() / "causeway-random-XXXXXX").string();
        const int made = ::mkstemp(path.data());
        ASSERT_GE(made, 0);
        using kind = file_choice::kind_type;
        const auto add = [&](const char* name, int flags, kind what, bool reads, bool writes) {
            m_files.push_back({::open(name, flags | O_CLOEXEC), what, reads, writes});
            ASSERT_GE(m_files.back().fd, 0) << name;
        };
        m_files.push_back({made, kind::file, true, true});
        add(path.c_str(), O_RDONLY, kind::file, true, false);
        add(path.c_str(), O_WRONLY, kind::file, false, true);
        add(path.c_str(), O_RDWR | O_APPEND, kind::file, true, true);
        add("/", O_RDONLY | O_DIRECTORY, kind::directory, true, false);
        add("/dev/full", O_WRONLY, kind::full, false, true);
        add(path.c_str(), O_PATH, kind::none, false, false);
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        for (const int end : ends) m_files.push_back({end, kind::none, false, false});
        m_files.push_back({-1, kind::none, false, false});
        m_streams = {std::fopen(path.c_str(), "r+"), std::fopen(path.c_str(), "r"), nullptr};
        ASSERT_TRUE(m_streams[0] != nullptr && m_streams[1] != nullptr);
        ::unlink(path.c_str());
        restore_file();
    }

    void restore_file() {
        ASSERT_EQ(::pwrite(m_files[0].fd, m_file.data(), file_size, 0), static_cast<ssize_t>(file_size));
        ASSERT_EQ(::ftruncate(m_files[0].fd, file_size), 0);
    }
    [[nodiscard]] bytes file_at(off_t offset, std::size_t count) const {
        bytes found(count);
        const auto got = ::pread(m_files[0].fd, found.data(), count, offset);
        found.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return found;
    }

    slot& any_slot() {
        if (one_of(8)) return m_slots[below(m_slots.size())];
        return m_slots[below(3)];
    }
    slot& other_than(const slot& first) {
        for (;;) {
            auto& made = any_slot();
            const auto is_in_parent = [&](const slot& each) { return &each == &m_slots[1] || &each == &m_slots[2]; };
            if (&made != &first && !(is_in_parent(made) && is_in_parent(first))) return made;
        }
    }
    queue_choice any_queue() {
        if (one_of(24)) return {nullptr, -1};
        if (one_of(24)) return {m_foreign_queue.get(), 1};
        return {m_queues[below(m_queues.size())].get(), 0};
    }
    wait_choice any_waits(bool may_fail) {
        switch (below(24)) {
        case 0: return {0, m_lists[0].data(), -1, waits::are_wrong};
        case 1: return {static_cast<cl_uint>(1 + below(5)), nullptr, -1, waits::are_wrong};
        case 2: return {2, m_lists[2].data(), -1, waits::are_wrong};
        case 3: return {2, m_lists[3].data(), 1, waits::pass};
        case 4:
        case 5: return {static_cast<cl_uint>(1 + below(2)), m_lists[0].data(), 0, waits::pass};
        case 6:
            if (may_fail) return {2, m_lists[1].data(), 0, waits::fail};
            [[fallthrough]];
        default: return {0, nullptr, -1, waits::pass};
        }
    }
    call_frame any_frame(bool may_fail, bool may_block = true) {
        return {any_queue(), any_waits(may_fail),
                may_block && one_of(2) ? static_cast<cl_bool>(1 + below(3)) : CL_FALSE, !one_of(4)};
    }
    /// A range of which most fit.
    std::array<std::size_t, 2> any_range(const slot& of) {
        if (one_of(3)) return {number(), number()};
        const auto offset = below(of.bytes + 1);
        return {offset, below(of.bytes - offset + 1)};
    }
    int any_rank() {
        static constexpr std::array<int, 8> odd{1, 2, -1, -2, -3, INT_MAX, INT_MIN, 1 << 20};
        return one_of(6) ? odd[below(odd.size())] : 0;
    }
    int any_tag() {
        static constexpr std::array<int, 5> odd{-1, -2, INT_MIN, 32768, 1 << 20};
        return one_of(12) ? odd[below(odd.size())] : static_cast<int>(below(3));
    }

    [[nodiscard]] static bool suits(const call_frame& frame, const slot& of) {
        return frame.on.context >= 0 && of.context == frame.on.context && frame.after.what != waits::are_wrong &&
               (frame.after.context < 0 || frame.after.context == frame.on.context);
    }
    [[nodiscard]] static bool has_range(const slot& of, const std::array<std::size_t, 2>& range) {
        return large(range[0]) + range[1] <= large(of.bytes);
    }

    /// Calls `enqueue(event place)`, and waits for what it began.
    template <class Enqueue> outcome run(const call_frame& frame, Enqueue enqueue, const std::string& what) {
        auto* const untouched = reinterpret_cast<cl_event>(0x10);
        cl_event raw = untouched;
        outcome made{enqueue(frame.wants_event ? &raw : nullptr)};
        const bool has_event = frame.wants_event && raw != untouched;
        const event done(has_event ? raw : nullptr);
        if (has_event) {
            made.status = wait(done.get());
            if (frame.blocking != CL_FALSE) {
                EXPECT_EQ(made.code, made.status) << what;
            }
            made.moved = transfer_info<std::size_t>(done.get(), CL_TRANSFER_BYTES_MOVED);
            made.knows_moved = true;
            if (made.status != CL_COMPLETE) {
                EXPECT_NE(transfer_text(done.get(), CL_TRANSFER_ERROR_MESSAGE), "") << what;
            }
            made.code = CL_SUCCESS;
        } else if (made.code == CL_SUCCESS) {
            EXPECT_FALSE(frame.wants_event) << what;
            EXPECT_EQ(clFinish(frame.on.queue), CL_SUCCESS) << what;
        } else {
            EXPECT_STRNE(causeway_error_last_message(), "") << what;
            // Without an event a blocking call says how the transfer ended.
            if (!frame.wants_event && frame.blocking != CL_FALSE && is_status(made.code)) {
                made.status = made.code;
                made.code = CL_SUCCESS;
            }
        }
        // Without an event nothing says whether a transfer has failed.
        made.is_known = has_event || frame.blocking != CL_FALSE || made.code != CL_SUCCESS;
        return made;
    }
    [[nodiscard]] static bool is_status(cl_int code) {
        return (code <= -31001 && code >= -31005) || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    [[nodiscard]] static bool is_refusal(cl_int code) {
        switch (code) {
        case CL_INVALID_VALUE:
        case CL_INVALID_CONTEXT:
        case CL_INVALID_COMMAND_QUEUE:
        case CL_INVALID_MEM_OBJECT:
        case CL_INVALID_EVENT_WAIT_LIST:
        case CL_INVALID_OPERATION:
        case CL_MEM_COPY_OVERLAP: return true;
        default: return false;
        }
    }

    /// Everything is as the models say.
    void expect_models(const std::string& what) {
        ASSERT_TRUE(same(own().read(m_buffers[0].get(), 0, size), {m_in_memory.begin(), m_in_memory.end()})) << what;
        ASSERT_TRUE(same(own().read(m_buffers[1].get(), 0, 3 * size), {m_parent.begin(), m_parent.end()})) << what;
        bytes foreign(size);
        ASSERT_EQ(clEnqueueReadBuffer(m_foreign_queue.get(), m_buffers[3].get(), CL_TRUE, 0, size, foreign.data(), 0,
                                      nullptr, nullptr),
                  CL_SUCCESS);
        ASSERT_TRUE(same(foreign, {m_foreign.begin(), m_foreign.end()})) << what;
        const auto* const first = reinterpret_cast<const unsigned char*>(m_memory.last(m_memory_size));
        ASSERT_TRUE(std::all_of(first, first + m_memory_size - size, [](auto each) { return each == 0x5a; })) << what;
    }
    /// Takes what a failed transfer left in its own range for right.
    void accept(const slot& of, std::size_t offset, std::size_t count) {
        auto* const reader = of.context == 1 ? m_foreign_queue.get() : own().queue();
        if (count != 0 && of.model != nullptr) {
            ASSERT_EQ(
                clEnqueueReadBuffer(reader, of.buffer, CL_TRUE, offset, count, of.model + offset, 0, nullptr, nullptr),
                CL_SUCCESS);
        }
    }

    static constexpr std::size_t m_memory_size = 4096;
    guarded_memory m_memory{m_memory_size};
    std::array<unsigned char, size> m_in_memory{}, m_foreign{};
    std::array<unsigned char, 3 * size> m_parent{};
    context m_foreign_context;
    std::vector<queue> m_queues;
    queue m_foreign_queue;
    std::vector<buffer> m_buffers;
    std::vector<slot> m_slots;
    event m_done, m_failed, m_foreign_event;
    std::vector<std::array<cl_event, 2>> m_lists;
    bytes m_file;
    std::vector<file_choice> m_files;
    std::vector<std::FILE*> m_streams;
    MPI_Comm m_self = MPI_COMM_NULL;
};

} // namespace system_test
