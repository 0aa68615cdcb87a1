// SPDX-License-Identifier: Apache-2.0
// File commands and copies with arguments by chance, most of them wrong: what is refused has a documented code and a
// text, and has moved nothing; what is not ends in bounded time with the right bytes, or a documented status; and no
// byte beside those that a call names is written. CAUSEWAY_TEST_SEED and CAUSEWAY_TEST_CALLS repeat a run.
#include "random_arguments.hpp"

namespace system_test {
namespace {

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

} // namespace
} // namespace system_test
