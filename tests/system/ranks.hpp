// SPDX-License-Identifier: Apache-2.0
// The fixture of tests that need ranks, and the short words that they are written in.
#pragma once

#include "device.hpp"
#include "support/kept_queues.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace system_test {

inline int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

inline int world_size() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/// The device of this rank; made at the first call, released by main before MPI_Finalize.
inline std::unique_ptr<rank_device>& own_device_slot() {
    static std::unique_ptr<rank_device> slot;
    return slot;
}

inline rank_device& own() {
    if (!own_device_slot()) own_device_slot() = std::make_unique<rank_device>(world_rank());
    return *own_device_slot();
}

enum class order { in_order, out_of_order };
enum class blocking { no, yes };

inline queue make_queue(order kind) {
    queue made = own().make_queue(kind == order::in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    support::keep_while_commands_end(made.get());
    return made;
}

inline cl_bool as_cl(blocking value) { return value == blocking::yes ? CL_TRUE : CL_FALSE; }

/// A range of a device buffer.
struct range {
    cl_mem buffer;
    std::size_t offset;
    std::size_t size;
};

using wait_list = std::vector<cl_event>;

inline const cl_event* data_of(const wait_list& events) { return events.empty() ? nullptr : events.data(); }

[[nodiscard]] inline event enqueue_send(cl_command_queue on, range what, int dest, int tag, MPI_Comm comm,
                                        const wait_list& after = {}, blocking block = blocking::no) {
    event done;
    const cl_int code = clEnqueueSendBuffer(on, what.buffer, as_cl(block), what.offset, what.size, dest, tag, comm,
                                            static_cast<cl_uint>(after.size()), data_of(after), done.out());
    EXPECT_EQ(code, CL_SUCCESS) << causeway_error_last_message();
    return done;
}

[[nodiscard]] inline event enqueue_receive(cl_command_queue on, range what, int source, int tag, MPI_Comm comm,
                                           const wait_list& after = {}, blocking block = blocking::no) {
    event done;
    const cl_int code = clEnqueueRecvBuffer(on, what.buffer, as_cl(block), what.offset, what.size, source, tag, comm,
                                            static_cast<cl_uint>(after.size()), data_of(after), done.out());
    EXPECT_EQ(code, CL_SUCCESS) << causeway_error_last_message();
    return done;
}

/// Whether the event reaches `expected` in bounded time.
inline ::testing::AssertionResult ends_with(const event& of, cl_int expected) {
    if (!of.get()) return ::testing::AssertionFailure() << "there is no event";
    const cl_int status = wait(of.get());
    if (status == expected) return ::testing::AssertionSuccess();
    auto failure = ::testing::AssertionFailure();
    if (status == timed_out)
        failure << "no end after " << patience().count() << " s, status " << status_of(of.get());
    else
        failure << "status " << status;
    return failure << " instead of " << expected << "; " << transfer_text(of.get(), CL_TRANSFER_ERROR_MESSAGE);
}

inline ::testing::AssertionResult completes(const event& of) { return ends_with(of, CL_COMPLETE); }

/// Whether the event ends with any error in bounded time.
inline ::testing::AssertionResult fails(const event& of) {
    const cl_int status = wait(of.get());
    return status < 0 ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << "status " << status;
}

inline ::testing::AssertionResult same(const bytes& actual, const bytes& expected) {
    if (actual.size() != expected.size())
        return ::testing::AssertionFailure() << actual.size() << " bytes instead of " << expected.size();
    const auto differing = std::mismatch(actual.begin(), actual.end(), expected.begin()).first;
    if (differing == actual.end()) return ::testing::AssertionSuccess();
    const auto at = static_cast<std::size_t>(differing - actual.begin());
    return ::testing::AssertionFailure() << "byte " << at << " of " << actual.size() << " is "
                                         << static_cast<int>(actual[at]) << " instead of "
                                         << static_cast<int>(expected[at]);
}

/// A buffer with untouched bytes on both sides of the range that a test uses.
class framed_buffer {
  public:
    static constexpr std::size_t margin = 72;
    static constexpr unsigned char untouched = 0xEE;

    explicit framed_buffer(std::size_t size)
        : m_size(size), m_buffer(own().make_buffer(size + 2 * margin, untouched)) {}

    explicit framed_buffer(const bytes& contents) : m_size(contents.size()) {
        bytes all(contents.size() + 2 * margin, untouched);
        std::copy(contents.begin(), contents.end(), all.begin() + margin);
        m_buffer = own().make_buffer(std::move(all));
    }

    [[nodiscard]] cl_mem get() const { return m_buffer.get(); }
    [[nodiscard]] range whole() const { return {m_buffer.get(), margin, m_size}; }
    [[nodiscard]] range part(std::size_t offset, std::size_t size) const {
        return {m_buffer.get(), margin + offset, size};
    }

    /// Whether the range begins with `expected` and everything else is untouched.
    [[nodiscard]] ::testing::AssertionResult holds(const bytes& expected) const {
        bytes all(m_size + 2 * margin, untouched);
        std::copy(expected.begin(), expected.end(), all.begin() + margin);
        return same(own().read(m_buffer.get(), 0, all.size()), all);
    }

    void release() { m_buffer.release(); }

  private:
    std::size_t m_size;
    buffer m_buffer;
};

/// The name of a test's parameter, of which GoogleTest takes letters, digits and underscores only.
inline std::string test_name(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// Sets an option for the life of the object.
class option_scope {
  public:
    option_scope(std::string name, const std::string& value) : m_name(std::move(name)) {
        char before[256] = "";
        EXPECT_GE(causeway_option_get(m_name.c_str(), before, sizeof before), 0) << m_name;
        m_before = before;
        EXPECT_EQ(causeway_option_set(m_name.c_str(), value.c_str()), 0) << causeway_error_last_message();
    }
    option_scope(const option_scope&) = delete;
    option_scope& operator=(const option_scope&) = delete;
    ~option_scope() { EXPECT_EQ(causeway_option_set(m_name.c_str(), m_before.c_str()), 0) << m_name; }

  private:
    std::string m_name;
    std::string m_before;
};

/// Each test has a communicator of its own over all ranks, and fails on all ranks if it failed on one.
class ranks_test : public ::testing::Test {
  protected:
    void SetUp() override {
        MPI_Comm_dup(MPI_COMM_WORLD, &m_comm);
        MPI_Comm_rank(m_comm, &m_rank);
        MPI_Comm_size(m_comm, &m_size);
    }

    void TearDown() override {
        int failed_rank = HasFailure() ? m_rank : m_size;
        MPI_Allreduce(MPI_IN_PLACE, &failed_rank, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (failed_rank == m_size)
            MPI_Comm_free(&m_comm);
        else if (!HasFailure())
            ADD_FAILURE() << "failed on rank " << failed_rank;
    }

    /// The other rank of the pair (0,1), (2,3), …; MPI_PROC_NULL for a rank left over.
    [[nodiscard]] int partner() const { return (m_rank ^ 1) < m_size ? m_rank ^ 1 : MPI_PROC_NULL; }

    /// Waits for all ranks, but not for ever: a rank whose test has failed does not come.
    void barrier() const {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibarrier(m_comm, &request);
        const auto end = std::chrono::steady_clock::now() + patience();
        for (int done = 0; !done;) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (!done && std::chrono::steady_clock::now() > end) {
                ADD_FAILURE() << "the other ranks did not come to the barrier";
                return;
            }
            std::this_thread::yield();
        }
    }

    MPI_Comm m_comm = MPI_COMM_NULL;
    int m_rank = 0;
    int m_size = 1;
};

} // namespace system_test

/// Skips a test that the job has too few ranks for.
#define NEEDS_RANKS(count)                                                                                             \
    if (system_test::world_size() < (count)) GTEST_SKIP() << "needs " << (count) << " ranks"
