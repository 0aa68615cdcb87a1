// SPDX-License-Identifier: Apache-2.0
// Calls of the library with arguments by chance, most of them wrong: what is refused has a documented code and a text,
// and has moved nothing; what is not ends in bounded time with the right bytes, or a documented status; and no byte
// beside those that a call names is written. CAUSEWAY_TEST_SEED and CAUSEWAY_TEST_CALLS repeat a run.
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
namespace {

using support::box;
using support::guarded_memory;
using support::large;
using support::text_of;
using support::triple;

constexpr std::size_t size = 1024, file_size = 2048;

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

TEST_F(random_arguments, of_file_commands_move_what_they_say_or_nothing) {
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < calls(); ++i) {
        auto& of = any_slot();
        const auto frame = any_frame(true);
        const auto range = any_range(of);
        const bool is_stream = one_of(3), reads = one_of(2);
        const auto& file = m_files[one_of(3) ? below(m_files.size()) : below(4)];
        auto* const stream = m_streams[one_of(12) ? 2 : below(2)];
        static constexpr std::array<std::int64_t, 8> odd{-1,
                                                         INT64_MIN,
                                                         INT64_MAX,
                                                         INT64_MAX - static_cast<std::int64_t>(size),
                                                         CL_TRANSFER_APPEND,
                                                         CL_TRANSFER_APPEND + 1,
                                                         static_cast<std::int64_t>(1) << 33,
                                                         static_cast<std::int64_t>(1) << 60};
        std::int64_t position = one_of(4) ? odd[below(odd.size())] : static_cast<std::int64_t>(below(file_size + 2));
        if (is_stream && stream != nullptr) {
            position = static_cast<std::int64_t>(below(file_size + 2));
            ASSERT_EQ(::fseeko(stream, position, SEEK_SET), 0);
        }
        const auto what = "call " + std::to_string(i) + (reads ? " reads " : " writes ") +
                          (is_stream ? "stream " : "descriptor " + std::to_string(file.fd) + " ") + "at " +
                          std::to_string(position) + ", buffer " + std::to_string(&of - m_slots.data()) + " at " +
                          std::to_string(range[0]) + " + " + std::to_string(range[1]);
        const auto ended = run(
            frame,
            [&](cl_event* place) {
                const auto call = [&](auto function, auto... where) {
                    return function(frame.on.queue, of.buffer, frame.blocking, range[0], range[1], where...,
                                    frame.after.count, frame.after.list, place);
                };
                if (is_stream)
                    return call(reads ? clEnqueueWriteBufferFromStdioFile : clEnqueueReadBufferToStdioFile, stream);
                if (one_of(4) && place != nullptr && frame.blocking <= 1) {
                    std::vector<std::int64_t> words{reinterpret_cast<std::int64_t>(frame.on.queue),
                                                    reinterpret_cast<std::int64_t>(of.buffer),
                                                    static_cast<std::int64_t>(frame.blocking),
                                                    static_cast<std::int64_t>(range[0]),
                                                    static_cast<std::int64_t>(range[1]),
                                                    file.fd,
                                                    position};
                    if (frame.after.list != nullptr && frame.after.count != 0) {
                        for (cl_uint k = 0; k < frame.after.count; ++k)
                            words.push_back(reinterpret_cast<std::int64_t>(frame.after.list[k]));
                        const auto made = causeway_enqueue_packed(reads ? CAUSEWAY_PACKED_WRITE_BUFFER_FROM_FILE
                                                                        : CAUSEWAY_PACKED_READ_BUFFER_TO_FILE,
                                                                  words.data(), static_cast<cl_uint>(words.size()));
                        if (made < 0 && made > INT_MIN) return static_cast<cl_int>(made);
                        *place = reinterpret_cast<cl_event>(made);
                        return frame.blocking != CL_FALSE ? status_of(*place) : CL_SUCCESS;
                    }
                }
                return call(reads ? clEnqueueWriteBufferFromFile : clEnqueueReadBufferToFile, file.fd, position);
            },
            what);
        const bool is_appended = !is_stream && !reads && position == CL_TRANSFER_APPEND;
        const bool suits_file = is_stream
                                    ? stream != nullptr && (reads || stream == m_streams[0])
                                    : (reads ? file.reads : file.writes) &&
                                          ((is_appended && file.kind == file_choice::file) ||
                                           (position >= 0 &&
                                            large(static_cast<std::size_t>(position)) + range[1] <= large(INT64_MAX)));
        const bool is_right = suits(frame, of) && has_range(of, range) && (reads ? of.may_write : of.may_read) &&
                              suits_file;
        ASSERT_EQ(ended.code == CL_SUCCESS, is_right)
            << what << ": " << ended.code << ", " << causeway_error_last_message();
        if (ended.code != CL_SUCCESS) {
            ASSERT_TRUE(is_refusal(ended.code)) << what << ": " << ended.code;
            ASSERT_NO_FATAL_FAILURE(expect_models(what));
            continue;
        }
        ++accepted;
        const auto kind = is_stream ? file_choice::file : file.kind;
        if (reads) {
            const auto left = kind != file_choice::file || position >= static_cast<std::int64_t>(file_size)
                                  ? 0
                                  : file_size - static_cast<std::size_t>(position);
            const auto there = std::min(range[1], left);
            cl_int expected = there == range[1] ? CL_COMPLETE : CL_TRANSFER_END_OF_FILE;
            if (kind == file_choice::directory && range[1] != 0) expected = CL_TRANSFER_IO_ERROR;
            if (frame.after.what == waits::fail) expected = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
            if (ended.is_known) {
                ASSERT_EQ(ended.status, expected) << what;
            }
            if (expected == CL_COMPLETE || expected == CL_TRANSFER_END_OF_FILE) {
                if (ended.knows_moved) {
                    ASSERT_EQ(ended.moved, there) << what;
                }
                if (of.model != nullptr && there != 0)
                    std::copy_n(m_file.begin() + position, there, of.model + range[0]);
                if (expected != CL_COMPLETE) accept(of, range[0] + there, range[1] - there);
                if (is_stream) {
                    ASSERT_EQ(::ftello(stream), position + static_cast<off_t>(there)) << what;
                }
            } else if (is_stream) {
                ASSERT_EQ(::ftello(stream), position) << what;
            }
        } else {
            const auto at = is_appended ? static_cast<std::int64_t>(file_size) : position;
            cl_int expected = CL_COMPLETE;
            if (kind == file_choice::full && range[1] != 0) expected = CL_TRANSFER_IO_ERROR;
            if (frame.after.what == waits::fail) expected = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
            // File systems differ in how long a file may be.
            const bool is_far = at > static_cast<std::int64_t>(file_size + size);
            const bool failed_far = is_far && ended.status == CL_TRANSFER_IO_ERROR && expected == CL_COMPLETE;
            if (ended.is_known && !failed_far) {
                ASSERT_EQ(ended.status, expected) << what;
            }
            if (kind == file_choice::file && expected == CL_COMPLETE && !failed_far && (ended.is_known || !is_far)) {
                if (of.model != nullptr) {
                    ASSERT_TRUE(same(file_at(at, range[1]), {of.model + range[0], of.model + range[0] + range[1]}))
                        << what;
                }
                if (is_stream) {
                    ASSERT_EQ(::ftello(stream), at + static_cast<off_t>(range[1])) << what;
                }
            }
            // Of the rest nothing has changed.
            const auto first = std::min<std::size_t>(file_size, kind == file_choice::file ? static_cast<std::size_t>(at)
                                                                                          : file_size);
            const auto end = expected == CL_COMPLETE ? std::min(file_size, first + std::min(range[1], file_size))
                                                     : first;
            ASSERT_TRUE(same(file_at(0, first), {m_file.begin(), m_file.begin() + static_cast<long>(first)})) << what;
            ASSERT_TRUE(same(file_at(static_cast<off_t>(end), file_size - end),
                             {m_file.begin() + static_cast<long>(end), m_file.end()}))
                << what;
            ASSERT_NO_FATAL_FAILURE(restore_file());
        }
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(accepted, calls() / 20);
    EXPECT_LT(accepted, calls() * 3 / 4);
}

TEST_F(random_arguments, of_copies_between_buffers_move_what_they_say_or_nothing) {
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < calls(); ++i) {
        auto& from = any_slot();
        auto& to = any_slot();
        const auto frame = any_frame(true);
        auto other = frame;
        other.on = one_of(3) ? any_queue() : frame.on;
        auto range = any_range(from);
        const std::size_t target = one_of(4) ? number() : below(size);
        const auto what = "call " + std::to_string(i) + " copies buffer " + std::to_string(&from - m_slots.data()) +
                          " at " + std::to_string(range[0]) + " + " + std::to_string(range[1]) + " to buffer " +
                          std::to_string(&to - m_slots.data()) + " at " + std::to_string(target);
        const auto ended = run(
            frame,
            [&](cl_event* place) {
                return clEnqueuePeerCopyBuffer(other.on.queue, from.buffer, frame.on.queue, to.buffer, frame.blocking,
                                               range[0], target, range[1], frame.after.count, frame.after.list, place);
            },
            what);
        if (!frame.wants_event && ended.code == CL_SUCCESS) {
            ASSERT_EQ(clFinish(other.on.queue), CL_SUCCESS) << what;
        }
        // Events of either context will do.
        const auto may_wait = frame.after.what != waits::are_wrong &&
                              (frame.after.context < 0 || frame.after.context == frame.on.context ||
                               frame.after.context == other.on.context);
        bool is_right = may_wait && frame.on.context >= 0 && other.on.context >= 0 &&
                        from.context == other.on.context && to.context == frame.on.context && has_range(from, range) &&
                        has_range(to, {target, range[1]}) && from.may_read && to.may_write;
        const auto place_of = [&](const slot& each) {
            return &each == &m_slots[2] ? std::pair{&m_slots[1], size} : std::pair{&each, std::size_t{0}};
        };
        if (is_right && range[1] != 0) {
            const auto [source, source_offset] = place_of(from);
            const auto [written, target_offset] = place_of(to);
            const auto begin = source_offset + range[0], second = target_offset + target;
            if (source == written && begin < second + range[1] && second < begin + range[1]) {
                ASSERT_EQ(ended.code, CL_MEM_COPY_OVERLAP) << what;
                is_right = false;
            }
        }
        ASSERT_EQ(ended.code == CL_SUCCESS, is_right)
            << what << ": " << ended.code << ", " << causeway_error_last_message();
        if (ended.code != CL_SUCCESS) {
            ASSERT_TRUE(is_refusal(ended.code)) << what << ": " << ended.code;
        } else {
            ++accepted;
            const bool failed = frame.after.what == waits::fail;
            if (ended.is_known) {
                ASSERT_EQ(ended.status, failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE) << what;
            }
            if (!failed && to.model != nullptr) {
                if (from.model != nullptr)
                    std::memmove(to.model + target, from.model + range[0], range[1]);
                else
                    accept(to, target, range[1]);
            }
        }
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(accepted, calls() / 30);
    EXPECT_LT(accepted, calls() * 3 / 4);
}

/// One side of a message: a range or a box of a buffer.
struct message_side {
    slot* of;
    bool is_box;
    std::array<std::size_t, 2> range;
    box shape;
    int rank, tag;
    bool has_communicator;

    [[nodiscard]] bool fits() const {
        return is_box ? shape.fits(of->bytes) : large(range[0]) + range[1] <= large(of->bytes);
    }
    [[nodiscard]] std::size_t bytes_of() const {
        return is_box ? shape.region[0] * shape.region[1] * shape.region[2] : range[1];
    }
    /// Where the bytes of the message are in the buffer, in their order.
    [[nodiscard]] std::vector<std::size_t> places() const {
        std::vector<std::size_t> made;
        if (is_box)
            support::visit(shape.region, [&](auto x, auto y, auto z) { made.push_back(shape.at(x, y, z)); });
        else
            for (std::size_t k = 0; k < range[1]; ++k) made.push_back(range[0] + k);
        return made;
    }
};

class random_messages : public random_arguments {
  protected:
    message_side any_side(slot& of) {
        message_side made{&of, one_of(3), any_range(of), {}, any_rank(), any_tag(), !one_of(30)};
        made.shape = any_box(any_region());
        return made;
    }
    [[nodiscard]] bool is_right(const call_frame& frame, const message_side& side, bool sends) const {
        const auto any = sends ? MPI_PROC_NULL : MPI_ANY_SOURCE;
        const bool rank_fits = side.rank == 0 || side.rank == MPI_PROC_NULL || side.rank == any;
        const bool tag_fits = (side.tag >= 0 && side.tag <= largest_tag()) || (!sends && side.tag == MPI_ANY_TAG);
        return suits(frame, *side.of) && side.fits() && (sends ? side.of->may_read : side.of->may_write) && rank_fits &&
               tag_fits && side.has_communicator;
    }
    static int largest_tag() {
        void* value = nullptr;
        int found = 0;
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
        return found != 0 ? *static_cast<int*>(value) : 32767;
    }
    cl_int enqueue(const call_frame& frame, const message_side& side, bool sends, cl_event* place) const {
        auto* const comm = side.has_communicator ? m_self : MPI_COMM_NULL;
        if (side.is_box)
            return (sends ? clEnqueueSendBufferRect : clEnqueueRecvBufferRect)(
                frame.on.queue, side.of->buffer, frame.blocking, side.shape.origin.data(), side.shape.region.data(),
                side.shape.row, side.shape.slice, side.rank, side.tag, comm, frame.after.count, frame.after.list,
                place);
        return (sends ? clEnqueueSendBuffer : clEnqueueRecvBuffer)(frame.on.queue, side.of->buffer, frame.blocking,
                                                                   side.range[0], side.range[1], side.rank, side.tag,
                                                                   comm, frame.after.count, frame.after.list, place);
    }
    static std::string text(const message_side& side, const slot* first) {
        return "buffer " + std::to_string(side.of - first) + (side.is_box ? " box " + text_of(side.shape) : " range ") +
               (side.is_box ? "" : std::to_string(side.range[0]) + " + " + std::to_string(side.range[1])) + ", rank " +
               std::to_string(side.rank) + ", tag " + std::to_string(side.tag);
    }
};

TEST_F(random_messages, are_delivered_or_refused) {
    std::uint64_t sent = 0, received = 0;
    const buffer drain = own().make_buffer(4 * size, 0);
    for (std::uint64_t i = 0; i < calls(); ++i) {
        auto& from = any_slot();
        auto sending = any_frame(false, false);
        sending.wants_event = true;
        const auto out = any_side(from);
        const auto what = "call " + std::to_string(i) + ": " + text(out, m_slots.data());
        event send_done;
        auto* const untouched = reinterpret_cast<cl_event>(0x10);
        cl_event raw = untouched;
        const auto send_code = enqueue(sending, out, true, &raw);
        ASSERT_EQ(send_code == CL_SUCCESS, is_right(sending, out, true))
            << what << ": " << send_code << ", " << causeway_error_last_message();
        if (send_code != CL_SUCCESS) {
            ASSERT_TRUE(is_refusal(send_code)) << what << ": " << send_code;
            ASSERT_EQ(raw, untouched) << what;
        } else {
            send_done = event(raw);
        }
        const bool is_under_way = send_code == CL_SUCCESS && out.rank != MPI_PROC_NULL;
        if (send_code == CL_SUCCESS && !is_under_way) {
            ASSERT_TRUE(completes(send_done)) << what;
        }
        sent += is_under_way;

        // Attempts to receive it; most are refused, some are for another message.
        bool is_taken = false;
        for (int attempt = 0; attempt < 2 && !is_taken; ++attempt, ++i) {
            auto& to = other_than(from);
            const auto in = any_side(to);
            const bool matches = is_under_way && in.rank != MPI_PROC_NULL &&
                                 (in.tag == out.tag || in.tag == MPI_ANY_TAG);
            auto receiving = any_frame(false, matches || in.rank == MPI_PROC_NULL);
            receiving.wants_event = true;
            const auto where = what + "; received by " + text(in, m_slots.data());
            raw = untouched;
            const auto code = enqueue(receiving, in, false, &raw);
            const event done(raw == untouched ? nullptr : raw);
            const bool fits = is_right(receiving, in, false);
            ASSERT_EQ(done.get() != nullptr, fits) << where << ": " << code << ", " << causeway_error_last_message();
            if (!fits) {
                ASSERT_TRUE(is_refusal(code)) << where << ": " << code;
                continue;
            }
            if (in.rank == MPI_PROC_NULL) {
                ASSERT_TRUE(completes(done)) << where;
                continue;
            }
            if (!matches) {
                ASSERT_EQ(clCancelTransfer(done.get()), CL_SUCCESS) << where;
                ASSERT_TRUE(ends_with(done, CL_TRANSFER_CANCELLED)) << where;
                continue;
            }
            is_taken = true;
            ++received;
            const bool is_truncated = in.bytes_of() < out.bytes_of();
            ASSERT_TRUE(ends_with(done, is_truncated ? CL_TRANSFER_MESSAGE_TRUNCATED : CL_COMPLETE)) << where;
            const auto end = wait(send_done.get());
            ASSERT_TRUE(end == CL_COMPLETE || (is_truncated && end == CL_TRANSFER_MESSAGE_TRUNCATED))
                << where << ": " << end;
            const auto places = in.places(), sources = out.places();
            if (is_truncated || from.model == nullptr) {
                for (const auto each : places) accept(to, each, 1);
            } else if (to.model != nullptr) {
                for (std::size_t k = 0; k < sources.size(); ++k) to.model[places[k]] = from.model[sources[k]];
            }
        }
        if (is_under_way && !is_taken) {
            const auto done = enqueue_receive(m_queues[0].get(), {drain.get(), 0, 4 * size}, 0, out.tag, m_self);
            ASSERT_TRUE(completes(done)) << what;
            ASSERT_TRUE(completes(send_done)) << what;
            if (from.model != nullptr) {
                bytes expected;
                for (const auto each : out.places()) expected.push_back(from.model[each]);
                ASSERT_TRUE(same(own().read(drain.get(), 0, expected.size()), expected)) << what;
            }
        }
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(sent, calls() / 40);
    EXPECT_GT(received, sent / 20);
}

TEST_F(random_messages, of_both_ways_at_once_are_delivered_or_refused) {
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < calls(); ++i) {
        auto& from = any_slot();
        auto& to = any_slot();
        auto out = any_side(from), in = any_side(to);
        out.is_box = in.is_box = false;
        out.has_communicator = in.has_communicator;
        if (one_of(2)) in.tag = one_of(4) ? MPI_ANY_TAG : out.tag;
        const auto frame = any_frame(false);
        bool is_expected = is_right(frame, out, true) && is_right(frame, in, false);
        bool overlaps = false;
        if (is_expected && out.range[1] != 0 && in.range[1] != 0) {
            const auto root = [&](const slot& each) { return &each == &m_slots[2] ? &m_slots[1] : &each; };
            const auto begin = out.range[0] + (&from == &m_slots[2] ? size : 0);
            const auto second = in.range[0] + (&to == &m_slots[2] ? size : 0);
            overlaps = root(from) == root(to) && begin < second + in.range[1] && second < begin + out.range[1];
        }
        // A message that nobody takes, and a receive that gets none, have no end.
        const bool matches = out.rank == MPI_PROC_NULL
                                 ? in.rank == MPI_PROC_NULL
                                 : in.rank != MPI_PROC_NULL && (in.tag == out.tag || in.tag == MPI_ANY_TAG);
        if (is_expected && !overlaps && !matches) continue;
        is_expected = is_expected && !overlaps;
        const auto what = "call " + std::to_string(i) + ": " + text(out, m_slots.data()) + " to " +
                          text(in, m_slots.data());
        const auto ended = run(
            frame,
            [&](cl_event* place) {
                return clEnqueueSendrecvBuffer(frame.on.queue, from.buffer, to.buffer, frame.blocking, out.range[0],
                                               out.range[1], out.rank, out.tag, in.range[0], in.range[1], in.rank,
                                               in.tag, in.has_communicator ? m_self : MPI_COMM_NULL, frame.after.count,
                                               frame.after.list, place);
            },
            what);
        ASSERT_EQ(ended.code == CL_SUCCESS, is_expected)
            << what << ": " << ended.code << ", " << causeway_error_last_message();
        if (ended.code != CL_SUCCESS) {
            ASSERT_TRUE(is_refusal(ended.code)) << what << ": " << ended.code;
        } else {
            ++accepted;
            const bool is_nothing = out.rank == MPI_PROC_NULL;
            const bool is_truncated = !is_nothing && in.range[1] < out.range[1];
            if (ended.is_known) {
                ASSERT_EQ(ended.status, is_truncated ? CL_TRANSFER_MESSAGE_TRUNCATED : CL_COMPLETE) << what;
            }
            if (is_truncated || from.model == nullptr)
                accept(to, in.range[0], in.range[1]);
            else if (!is_nothing && to.model != nullptr)
                std::memmove(to.model + in.range[0], from.model + out.range[0], out.range[1]);
        }
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(accepted, calls() / 100);
}

} // namespace
} // namespace system_test
