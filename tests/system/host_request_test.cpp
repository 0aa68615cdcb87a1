// SPDX-License-Identifier: Apache-2.0
// Every way that MPI has to complete a request completes those of MPI_CL_MEM, alone and among ordinary ones.
#include "ranks.hpp"

#include <array>
#include <functional>
#include <set>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;
constexpr int count = 6;

/// Receives three messages of devices and three ordinary ones into `requests`, while it sends the same to the right.
class host_request : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    static bool is_device(int message) { return message % 2 == 0; }
    static std::size_t size_of(int message) { return message < 2 ? 500 : 90 * kib + static_cast<std::size_t>(message); }

    void begin() {
        for (int message = 0; message < count; ++message) {
            const auto at = static_cast<std::size_t>(message);
            const int size = static_cast<int>(size_of(message));
            m_incoming[at].resize(size_of(message));
            m_outgoing[at] = pattern(m_rank, message, size_of(message));
            ASSERT_EQ(MPI_Irecv(m_incoming[at].data(), size, is_device(message) ? MPI_CL_MEM : MPI_BYTE, left(),
                                message, m_comm, &m_requests[at]),
                      MPI_SUCCESS);
        }
        for (int message = 0; message < count; ++message) {
            const auto at = static_cast<std::size_t>(message);
            if (is_device(message)) {
                m_buffers.emplace_back(m_outgoing[at]);
                m_sent.push_back(enqueue_send(m_on.get(), m_buffers.back().whole(), right(), message, m_comm));
            } else {
                MPI_Isend(m_outgoing[at].data(), static_cast<int>(size_of(message)), MPI_BYTE, right(), message, m_comm,
                          &m_ordinary.emplace_back());
            }
        }
    }

    void end() {
        for (int message = 0; message < count; ++message) {
            SCOPED_TRACE(message);
            const auto at = static_cast<std::size_t>(message);
            EXPECT_EQ(m_requests[at], MPI_REQUEST_NULL);
            EXPECT_TRUE(same(m_incoming[at], pattern(left(), message, size_of(message))));
        }
        MPI_Waitall(static_cast<int>(m_ordinary.size()), m_ordinary.data(), MPI_STATUSES_IGNORE);
        for (const event& sent : m_sent) EXPECT_TRUE(completes(sent));
    }

    void expect_status(const MPI_Status& status, int message) const {
        EXPECT_EQ(status.MPI_SOURCE, left());
        EXPECT_EQ(status.MPI_TAG, message);
        int bytes_received = -1;
        MPI_Get_count(&status, is_device(message) ? MPI_CL_MEM : MPI_BYTE, &bytes_received);
        EXPECT_EQ(bytes_received, static_cast<int>(size_of(message)));
    }

    /// Calls `step` until it says that all is done, in bounded time.
    static void repeat(const std::function<bool()>& step) {
        const auto end = std::chrono::steady_clock::now() + patience();
        while (!step()) {
            ASSERT_LT(std::chrono::steady_clock::now(), end) << "the requests did not complete";
            std::this_thread::yield();
        }
    }

    const queue m_on = make_queue(order::out_of_order);
    std::array<MPI_Request, count> m_requests;
    std::array<bytes, count> m_incoming;
    std::array<bytes, count> m_outgoing;
    std::vector<framed_buffer> m_buffers;
    std::vector<event> m_sent;
    std::vector<MPI_Request> m_ordinary;
};

TEST_F(host_request, is_completed_by_wait) {
    begin();
    for (int message = count - 1; message >= 0; --message) {
        MPI_Status status;
        ASSERT_EQ(MPI_Wait(&m_requests[static_cast<std::size_t>(message)], &status), MPI_SUCCESS);
        expect_status(status, message);
    }
    end();
}

TEST_F(host_request, is_completed_by_test) {
    begin();
    for (int message = 0; message < count; ++message) {
        repeat([&] {
            int done = 0;
            MPI_Status status;
            EXPECT_EQ(MPI_Test(&m_requests[static_cast<std::size_t>(message)], &done, &status), MPI_SUCCESS);
            if (done) expect_status(status, message);
            return done != 0;
        });
    }
    end();
}

TEST_F(host_request, is_completed_by_waitall) {
    begin();
    std::array<MPI_Status, count> statuses;
    ASSERT_EQ(MPI_Waitall(count, m_requests.data(), statuses.data()), MPI_SUCCESS);
    for (int message = 0; message < count; ++message)
        expect_status(statuses[static_cast<std::size_t>(message)], message);
    end();
}

TEST_F(host_request, is_completed_by_testall) {
    begin();
    std::array<MPI_Status, count> statuses;
    repeat([&] {
        int done = 0;
        EXPECT_EQ(MPI_Testall(count, m_requests.data(), &done, statuses.data()), MPI_SUCCESS);
        return done != 0;
    });
    for (int message = 0; message < count; ++message)
        expect_status(statuses[static_cast<std::size_t>(message)], message);
    end();
}

TEST_F(host_request, is_completed_by_waitany) {
    begin();
    std::set<int> seen;
    for (int completed = 0; completed < count; ++completed) {
        int index = -1;
        MPI_Status status;
        ASSERT_EQ(MPI_Waitany(count, m_requests.data(), &index, &status), MPI_SUCCESS);
        ASSERT_TRUE(seen.insert(index).second);
        expect_status(status, index);
    }
    end();
}

TEST_F(host_request, is_completed_by_testany) {
    begin();
    std::set<int> seen;
    repeat([&] {
        int index = -1;
        int done = 0;
        MPI_Status status;
        EXPECT_EQ(MPI_Testany(count, m_requests.data(), &index, &done, &status), MPI_SUCCESS);
        if (done && index != MPI_UNDEFINED) {
            EXPECT_TRUE(seen.insert(index).second);
            expect_status(status, index);
        }
        return seen.size() == count;
    });
    end();
}

TEST_F(host_request, is_completed_by_waitsome) {
    begin();
    std::set<int> seen;
    while (seen.size() < count) {
        int completed = 0;
        std::array<int, count> indices;
        std::array<MPI_Status, count> statuses;
        ASSERT_EQ(MPI_Waitsome(count, m_requests.data(), &completed, indices.data(), statuses.data()), MPI_SUCCESS);
        ASSERT_NE(completed, MPI_UNDEFINED);
        for (std::size_t at = 0; at < static_cast<std::size_t>(completed); ++at) {
            ASSERT_TRUE(seen.insert(indices[at]).second);
            expect_status(statuses[at], indices[at]);
        }
    }
    end();
}

TEST_F(host_request, is_completed_by_testsome) {
    begin();
    std::set<int> seen;
    repeat([&] {
        int completed = 0;
        std::array<int, count> indices;
        std::array<MPI_Status, count> statuses;
        EXPECT_EQ(MPI_Testsome(count, m_requests.data(), &completed, indices.data(), statuses.data()), MPI_SUCCESS);
        for (std::size_t at = 0; completed != MPI_UNDEFINED && at < static_cast<std::size_t>(completed); ++at) {
            EXPECT_TRUE(seen.insert(indices[at]).second);
            expect_status(statuses[at], indices[at]);
        }
        return seen.size() == count;
    });
    end();
}

TEST_F(host_request, of_a_send_may_be_freed_before_it_completes) {
    for (const std::size_t size : {std::size_t{100}, 400 * kib}) {
        SCOPED_TRACE(size);
        const bytes outgoing = pattern(m_rank, 50, size);
        MPI_Request request = MPI_REQUEST_NULL;
        ASSERT_EQ(MPI_Isend(outgoing.data(), static_cast<int>(size), MPI_CL_MEM, right(), 50, m_comm, &request),
                  MPI_SUCCESS);
        ASSERT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
        EXPECT_EQ(request, MPI_REQUEST_NULL);
        const framed_buffer incoming(size);
        ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 50, m_comm)));
        EXPECT_TRUE(incoming.holds(pattern(left(), 50, size)));
        barrier(); // the send has left `outgoing`
    }
}

TEST_F(host_request, is_asked_for_without_being_completed) {
    const bytes outgoing = pattern(m_rank, 51, 1000);
    bytes incoming(1000);
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Irecv(incoming.data(), 1000, MPI_CL_MEM, left(), 51, m_comm, &request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Send(outgoing.data(), 1000, MPI_CL_MEM, right(), 51, m_comm), MPI_SUCCESS);
    repeat([&] {
        int done = 0;
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
    EXPECT_NE(request, MPI_REQUEST_NULL);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(same(incoming, pattern(left(), 51, 1000)));
}

/// Whether MPI_Wait says that the request was cancelled, and no error.
::testing::AssertionResult ends_cancelled(MPI_Request& request) {
    MPI_Status status;
    const int code = MPI_Wait(&request, &status);
    if (code != MPI_SUCCESS) return ::testing::AssertionFailure() << "MPI_Wait gives " << code;
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    return cancelled ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << "it is not cancelled";
}

TEST_F(host_request, of_a_receive_is_cancelled_without_an_error) {
    bytes incoming(100);
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Irecv(incoming.data(), 100, MPI_CL_MEM, left(), 53, m_comm, &request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
    EXPECT_TRUE(ends_cancelled(request));
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    // The next receive gets what the cancelled one might have got.
    barrier();
    const bytes outgoing = pattern(m_rank, 53, 100);
    ASSERT_EQ(MPI_Sendrecv(outgoing.data(), 100, MPI_CL_MEM, right(), 53, incoming.data(), 100, MPI_CL_MEM, left(), 53,
                           m_comm, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_TRUE(same(incoming, pattern(left(), 53, 100)));
}

TEST_F(host_request, of_a_send_is_cancelled_without_an_error) {
    const bytes outgoing = pattern(m_rank, 54, 400 * kib); // too large to complete before its receive
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Isend(outgoing.data(), static_cast<int>(outgoing.size()), MPI_CL_MEM, right(), 54, m_comm, &request),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
    EXPECT_TRUE(ends_cancelled(request));
    barrier();
}

TEST_F(host_request, that_is_complete_is_not_cancelled_any_more) {
    const bytes outgoing = pattern(m_rank, 55, 100);
    bytes incoming(100);
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Irecv(incoming.data(), 100, MPI_CL_MEM, left(), 55, m_comm, &request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Send(outgoing.data(), 100, MPI_CL_MEM, right(), 55, m_comm), MPI_SUCCESS);
    repeat([&] {
        int done = 0;
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
    ASSERT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
    MPI_Status status;
    ASSERT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    int cancelled = 1;
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT_FALSE(cancelled);
    EXPECT_TRUE(same(incoming, pattern(left(), 55, 100)));
}

TEST_F(host_request, are_many_at_once) {
    constexpr int many = 200;
    std::vector<bytes> outgoing;
    std::vector<bytes> incoming;
    std::vector<MPI_Request> requests(2 * many);
    for (int message = 0; message < many; ++message) {
        outgoing.push_back(pattern(m_rank, message, static_cast<std::size_t>(message) * 700));
        incoming.emplace_back(static_cast<std::size_t>(message) * 700);
    }
    for (int message = 0; message < many; ++message) {
        const auto at = static_cast<std::size_t>(message);
        ASSERT_EQ(MPI_Isend(outgoing[at].data(), message * 700, MPI_CL_MEM, right(), 52, m_comm, &requests[2 * at]),
                  MPI_SUCCESS);
        ASSERT_EQ(MPI_Irecv(incoming[at].data(), message * 700, MPI_CL_MEM, left(), 52, m_comm, &requests[2 * at + 1]),
                  MPI_SUCCESS);
    }
    ASSERT_EQ(MPI_Waitall(2 * many, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int message = 0; message < many; ++message) {
        SCOPED_TRACE(message);
        const auto at = static_cast<std::size_t>(message);
        ASSERT_TRUE(same(incoming[at], pattern(left(), message, incoming[at].size())));
    }
}

} // namespace
} // namespace system_test
