// SPDX-License-Identifier: Apache-2.0
// Host memory as the peer of a device: MPI's own calls with MPI_CL_MEM, and every way to complete their requests.
#include "ranks.hpp"

#include <array>
#include <atomic>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;

const auto sizes = ::testing::Values(std::size_t{0}, std::size_t{1}, std::size_t{1000}, 64 * kib, 64 * kib + 1,
                                     3 * 1024 * kib + 5);

int count_of(const bytes& contents) { return static_cast<int>(contents.size()); }

class host_peer : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    /// The status of a message from the left, checked in all its parts.
    void expect_status(const MPI_Status& status, int tag, std::size_t size) const {
        EXPECT_EQ(status.MPI_SOURCE, left());
        EXPECT_EQ(status.MPI_TAG, tag);
        int count = -1;
        MPI_Get_count(&status, MPI_BYTE, &count);
        EXPECT_EQ(count, static_cast<int>(size));
        MPI_Get_count(&status, MPI_CL_MEM, &count);
        EXPECT_EQ(count, static_cast<int>(size));
    }

    const queue m_on = make_queue(order::out_of_order);
};

class host_peer_of : public host_peer, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(host_peer_of, receives_from_a_device) {
    const std::size_t size = GetParam();
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 3, m_comm);
    bytes incoming(size);
    MPI_Status status;
    ASSERT_EQ(MPI_Recv(incoming.data(), count_of(incoming), MPI_CL_MEM, left(), 3, m_comm, &status), MPI_SUCCESS);
    EXPECT_TRUE(same(incoming, pattern(left(), 1, size)));
    expect_status(status, 3, size);
    EXPECT_TRUE(completes(sent));
}

TEST_P(host_peer_of, sends_to_a_device) {
    const std::size_t size = GetParam();
    const framed_buffer incoming(size);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm);
    const bytes outgoing = pattern(m_rank, 1, size);
    ASSERT_EQ(MPI_Send(outgoing.data(), count_of(outgoing), MPI_CL_MEM, right(), 3, m_comm), MPI_SUCCESS);
    ASSERT_TRUE(completes(received));
    EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE), left());
    EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_TAG), 3);
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
}

TEST_P(host_peer_of, exchanges_with_devices_by_requests) {
    const std::size_t size = GetParam();
    const framed_buffer device_outgoing(pattern(m_rank, 1, size));
    const framed_buffer device_incoming(size);
    const bytes host_outgoing = pattern(m_rank, 2, size);
    bytes host_incoming(size);
    std::array<MPI_Request, 2> requests;
    ASSERT_EQ(MPI_Irecv(host_incoming.data(), count_of(host_incoming), MPI_CL_MEM, left(), 1, m_comm, &requests[0]),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Isend(host_outgoing.data(), count_of(host_outgoing), MPI_CL_MEM, right(), 2, m_comm, &requests[1]),
              MPI_SUCCESS);
    const event sent = enqueue_send(m_on.get(), device_outgoing.whole(), right(), 1, m_comm);
    const event received = enqueue_receive(m_on.get(), device_incoming.whole(), left(), 2, m_comm);
    std::array<MPI_Status, 2> statuses;
    ASSERT_EQ(MPI_Waitall(2, requests.data(), statuses.data()), MPI_SUCCESS);
    EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
    EXPECT_EQ(requests[1], MPI_REQUEST_NULL);
    expect_status(statuses[0], 1, size);
    EXPECT_TRUE(same(host_incoming, pattern(left(), 1, size)));
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(received));
    EXPECT_TRUE(device_incoming.holds(pattern(left(), 2, size)));
}

TEST_P(host_peer_of, exchanges_with_host_memory_in_one_call) {
    const std::size_t size = GetParam();
    const bytes outgoing = pattern(m_rank, 1, size);
    bytes incoming(size);
    MPI_Status status;
    ASSERT_EQ(MPI_Sendrecv(outgoing.data(), count_of(outgoing), MPI_CL_MEM, right(), 4, incoming.data(),
                           count_of(incoming), MPI_CL_MEM, left(), 4, m_comm, &status),
              MPI_SUCCESS);
    EXPECT_TRUE(same(incoming, pattern(left(), 1, size)));
    expect_status(status, 4, size);
}

INSTANTIATE_TEST_SUITE_P(sizes, host_peer_of, sizes,
                         [](const auto& info) { return std::to_string(info.param) + "_bytes"; });

TEST_F(host_peer, takes_arguments_with_commas) {
    int incoming = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&incoming, 1, MPI_INT, left(), 6, m_comm, &request);
    MPI_Send(std::array<int, 2>{m_rank, 0}.data(), 1, MPI_INT, right(), 6, m_comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(incoming, left());
}

TEST_F(host_peer, sends_and_receives_in_one_call_with_a_device) {
    NEEDS_RANKS(2);
    if (partner() == MPI_PROC_NULL) return;
    const std::size_t size = 200 * kib;
    const framed_buffer device_outgoing(pattern(m_rank, 1, size));
    const framed_buffer device_incoming(size);
    if (m_rank % 2 == 0) {
        const bytes outgoing = pattern(m_rank, 1, size);
        bytes incoming(size);
        ASSERT_EQ(MPI_Sendrecv(outgoing.data(), count_of(outgoing), MPI_CL_MEM, partner(), 4, incoming.data(),
                               count_of(incoming), MPI_CL_MEM, partner(), 5, m_comm, MPI_STATUS_IGNORE),
                  MPI_SUCCESS);
        EXPECT_TRUE(same(incoming, pattern(partner(), 1, size)));
    } else {
        event done;
        ASSERT_EQ(clEnqueueSendrecvBuffer(m_on.get(), device_outgoing.get(), device_incoming.get(), CL_FALSE,
                                          framed_buffer::margin, size, partner(), 5, framed_buffer::margin, size,
                                          partner(), 4, m_comm, 0, nullptr, done.out()),
                  CL_SUCCESS);
        ASSERT_TRUE(completes(done));
        EXPECT_TRUE(device_incoming.holds(pattern(partner(), 1, size)));
    }
}

TEST_F(host_peer, leaves_ordinary_types_to_mpi) {
    const int outgoing = 70 + m_rank;
    int incoming = 0;
    MPI_Status status;
    MPI_Sendrecv(&outgoing, 1, MPI_INT, right(), 4, &incoming, 1, MPI_INT, left(), 4, m_comm, &status);
    EXPECT_EQ(incoming, 70 + left());
    EXPECT_EQ(status.MPI_SOURCE, left());
}

TEST_F(host_peer, takes_messages_of_any_source_and_tag) {
    const std::size_t size = 90 * kib;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), 0, 30 + m_rank, m_comm);
    if (m_rank == 0) {
        for (int message = 0; message < m_size; ++message) {
            bytes incoming(size + 10);
            MPI_Status status;
            ASSERT_EQ(
                MPI_Recv(incoming.data(), count_of(incoming), MPI_CL_MEM, MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm, &status),
                MPI_SUCCESS);
            EXPECT_EQ(status.MPI_TAG, 30 + status.MPI_SOURCE);
            int count = 0;
            MPI_Get_count(&status, MPI_BYTE, &count);
            EXPECT_EQ(count, static_cast<int>(size));
            incoming.resize(size);
            EXPECT_TRUE(same(incoming, pattern(status.MPI_SOURCE, 1, size)));
        }
    }
    EXPECT_TRUE(completes(sent));
}

TEST_F(host_peer, keeps_the_order_of_host_and_device_messages) {
    const std::size_t size = 70 * kib;
    std::array<bytes, 2> host_outgoing{pattern(m_rank, 1, size), pattern(m_rank, 3, size)};
    const framed_buffer device_outgoing(pattern(m_rank, 2, size));
    std::array<MPI_Request, 2> requests;
    ASSERT_EQ(
        MPI_Isend(host_outgoing[0].data(), count_of(host_outgoing[0]), MPI_CL_MEM, right(), 1, m_comm, &requests[0]),
        MPI_SUCCESS);
    const event sent = enqueue_send(m_on.get(), device_outgoing.whole(), right(), 1, m_comm);
    ASSERT_EQ(
        MPI_Isend(host_outgoing[1].data(), count_of(host_outgoing[1]), MPI_CL_MEM, right(), 1, m_comm, &requests[1]),
        MPI_SUCCESS);
    const framed_buffer first(size);
    bytes second(size);
    const framed_buffer third(size);
    const event received_first = enqueue_receive(m_on.get(), first.whole(), left(), 1, m_comm);
    MPI_Request received_second = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Irecv(second.data(), count_of(second), MPI_CL_MEM, left(), 1, m_comm, &received_second), MPI_SUCCESS);
    const event received_third = enqueue_receive(m_on.get(), third.whole(), left(), 1, m_comm);
    ASSERT_TRUE(completes(received_third));
    ASSERT_TRUE(completes(received_first));
    ASSERT_EQ(MPI_Wait(&received_second, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(first.holds(pattern(left(), 1, size)));
    EXPECT_TRUE(same(second, pattern(left(), 2, size)));
    EXPECT_TRUE(third.holds(pattern(left(), 3, size)));
    ASSERT_EQ(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    ASSERT_TRUE(completes(sent));
}

TEST_F(host_peer, completes_at_once_with_the_null_rank) {
    bytes contents(100, 0x55);
    EXPECT_EQ(MPI_Send(contents.data(), 100, MPI_CL_MEM, MPI_PROC_NULL, 1, m_comm), MPI_SUCCESS);
    MPI_Status status;
    EXPECT_EQ(MPI_Recv(contents.data(), 100, MPI_CL_MEM, MPI_PROC_NULL, 1, m_comm, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, 0);
    EXPECT_TRUE(same(contents, bytes(100, 0x55)));
    std::array<MPI_Request, 2> requests;
    EXPECT_EQ(MPI_Isend(contents.data(), 100, MPI_CL_MEM, MPI_PROC_NULL, 1, m_comm, &requests[0]), MPI_SUCCESS);
    EXPECT_EQ(MPI_Irecv(contents.data(), 100, MPI_CL_MEM, MPI_PROC_NULL, 1, m_comm, &requests[1]), MPI_SUCCESS);
    EXPECT_EQ(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

TEST_F(host_peer, works_between_groups) {
    NEEDS_RANKS(2);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(m_comm, m_rank == 0 ? 0 : 1, m_rank, &half);
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Intercomm_create(half, 0, m_comm, m_rank == 0 ? 1 : 0, 19, &between);
    const std::size_t size = 80 * kib;
    if (m_rank == 0) {
        const bytes outgoing = pattern(0, 1, size);
        EXPECT_EQ(MPI_Send(outgoing.data(), count_of(outgoing), MPI_CL_MEM, 0, 1, between), MPI_SUCCESS);
    } else if (m_rank == 1) {
        const framed_buffer incoming(size);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), 0, 1, between);
        EXPECT_TRUE(completes(received));
        EXPECT_TRUE(incoming.holds(pattern(0, 1, size)));
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/// Errors come back as codes, on the communicator and where MPI asks for requests that have none.
class host_peer_errors : public host_peer {
  protected:
    void SetUp() override {
        host_peer::SetUp();
        for (MPI_Comm comm : {m_comm, MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }

    void TearDown() override {
        for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
        host_peer::TearDown();
    }

    static int class_of(int code) {
        int error_class = -1;
        MPI_Error_class(code, &error_class);
        return error_class;
    }
};

TEST_F(host_peer_errors, tell_a_receive_that_the_message_was_too_large) {
    for (const std::size_t size : {std::size_t{1000}, 500 * kib}) {
        SCOPED_TRACE(size);
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
        bytes incoming(size, framed_buffer::untouched);
        const int code = MPI_Recv(incoming.data(), static_cast<int>(size / 2), MPI_CL_MEM, left(), 1, m_comm,
                                  MPI_STATUS_IGNORE);
        EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
        const bytes beyond(incoming.begin() + static_cast<std::ptrdiff_t>(size / 2), incoming.end());
        EXPECT_TRUE(same(beyond, bytes(beyond.size(), framed_buffer::untouched)));
        EXPECT_LE(wait(sent.get()), CL_COMPLETE);
    }
}

TEST_F(host_peer_errors, tell_a_send_that_the_message_was_too_large) {
    const framed_buffer incoming(100 * kib);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    const bytes outgoing = pattern(m_rank, 1, 300 * kib);
    const int code = MPI_Send(outgoing.data(), count_of(outgoing), MPI_CL_MEM, right(), 1, m_comm);
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
    EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
}

TEST_F(host_peer_errors, reach_the_one_who_waits_for_the_request) {
    const framed_buffer outgoing(pattern(m_rank, 1, 300 * kib));
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    bytes incoming(100 * kib);
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Irecv(incoming.data(), count_of(incoming), MPI_CL_MEM, left(), 1, m_comm, &request), MPI_SUCCESS);
    EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_TRUE(ends_with(sent, CL_TRANSFER_MESSAGE_TRUNCATED));
}

std::atomic<int> world_handler_calls{0};

void count_call(MPI_Comm*, int*, ...) { ++world_handler_calls; }

TEST_F(host_peer_errors, of_a_request_reach_the_handler_of_the_world) {
    // A generalised request belongs to no communicator: here the one of the message would abort.
    MPI_Comm_set_errhandler(m_comm, MPI_ERRORS_ARE_FATAL);
    world_handler_calls = 0;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_call, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    const framed_buffer outgoing(pattern(m_rank, 1, 1000));
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    bytes incoming(100);
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Irecv(incoming.data(), 100, MPI_CL_MEM, left(), 1, m_comm, &request), MPI_SUCCESS);
    EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    EXPECT_EQ(world_handler_calls, 1);
    EXPECT_LE(wait(sent.get()), CL_COMPLETE);
    MPI_Errhandler_free(&handler);
}

TEST_F(host_peer_errors, name_a_rank_that_does_not_exist) {
    bytes contents(8);
    EXPECT_EQ(class_of(MPI_Send(contents.data(), 8, MPI_CL_MEM, m_size, 1, m_comm)), MPI_ERR_RANK);
    EXPECT_EQ(class_of(MPI_Recv(contents.data(), 8, MPI_CL_MEM, -5, 1, m_comm, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
    EXPECT_EQ(class_of(MPI_Send(contents.data(), 8, MPI_CL_MEM, MPI_ANY_SOURCE, 1, m_comm)), MPI_ERR_RANK);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(class_of(MPI_Isend(contents.data(), 8, MPI_CL_MEM, MPI_ANY_SOURCE, 1, m_comm, &request)), MPI_ERR_RANK);
}

TEST_F(host_peer_errors, name_a_tag_or_a_count_that_does_not_exist) {
    bytes contents(8);
    EXPECT_EQ(class_of(MPI_Send(contents.data(), 8, MPI_CL_MEM, m_rank, -4, m_comm)), MPI_ERR_TAG);
    EXPECT_EQ(class_of(MPI_Send(contents.data(), 8, MPI_CL_MEM, m_rank, MPI_ANY_TAG, m_comm)), MPI_ERR_TAG);
    EXPECT_EQ(class_of(MPI_Recv(contents.data(), 8, MPI_CL_MEM, MPI_ANY_SOURCE, -4, m_comm, MPI_STATUS_IGNORE)),
              MPI_ERR_TAG);
    EXPECT_EQ(class_of(MPI_Send(contents.data(), -1, MPI_CL_MEM, m_rank, 1, m_comm)), MPI_ERR_COUNT);
}

} // namespace
} // namespace system_test
