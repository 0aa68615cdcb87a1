// SPDX-License-Identifier: Apache-2.0
// clCreateEventFromMPIRequest: an event for every kind of request, good in every wait list.
#include "ranks.hpp"

#include <array>
#include <numeric>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;

class request_event : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    [[nodiscard]] static event make_event(MPI_Request& request) {
        cl_int code = 1;
        event made(clCreateEventFromMPIRequest(own().context(), &request, &code));
        EXPECT_EQ(code, CL_SUCCESS) << causeway_error_last_message();
        EXPECT_NE(made.get(), nullptr);
        return made;
    }

    const queue m_on = make_queue(order::out_of_order);
};

TEST_F(request_event, takes_over_the_requests_of_a_send_and_a_receive) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}, 500 * kib}) {
        SCOPED_TRACE(size);
        const bytes outgoing = pattern(m_rank, 1, size);
        bytes incoming(size);
        MPI_Request receiving = MPI_REQUEST_NULL;
        MPI_Request sending = MPI_REQUEST_NULL;
        MPI_Irecv(incoming.data(), static_cast<int>(size), MPI_BYTE, left(), 1, m_comm, &receiving);
        const event received = make_event(receiving);
        EXPECT_EQ(receiving, MPI_REQUEST_NULL);
        MPI_Isend(outgoing.data(), static_cast<int>(size), MPI_BYTE, right(), 1, m_comm, &sending);
        const event sent = make_event(sending);
        EXPECT_EQ(sending, MPI_REQUEST_NULL);
        ASSERT_TRUE(completes(received));
        ASSERT_TRUE(completes(sent));
        EXPECT_TRUE(same(incoming, pattern(left(), 1, size)));
    }
}

TEST_F(request_event, is_not_complete_before_its_request) {
    NEEDS_RANKS(2);
    int incoming = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&incoming, 1, MPI_INT, left(), 1, m_comm, &request);
    const event received = make_event(request);
    EXPECT_GT(status_of(received.get()), CL_COMPLETE);
    barrier();
    const int outgoing = 5 + m_rank;
    MPI_Send(&outgoing, 1, MPI_INT, right(), 1, m_comm);
    ASSERT_TRUE(completes(received));
    EXPECT_EQ(incoming, 5 + left());
}

TEST_F(request_event, of_the_null_request_is_complete) {
    MPI_Request request = MPI_REQUEST_NULL;
    const event done = make_event(request);
    EXPECT_TRUE(completes(done));
    EXPECT_EQ(request, MPI_REQUEST_NULL);
}

TEST_F(request_event, of_the_null_rank_completes) {
    bytes contents(100);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(contents.data(), 100, MPI_BYTE, MPI_PROC_NULL, 1, m_comm, &request);
    EXPECT_TRUE(completes(make_event(request)));
}

TEST_F(request_event, leaves_a_persistent_request_to_the_user_who_starts_it_again) {
    const std::size_t size = 90 * kib;
    bytes outgoing(size);
    bytes incoming(size);
    std::array<MPI_Request, 2> requests;
    MPI_Recv_init(incoming.data(), static_cast<int>(size), MPI_BYTE, left(), 1, m_comm, &requests[0]);
    MPI_Send_init(outgoing.data(), static_cast<int>(size), MPI_BYTE, right(), 1, m_comm, &requests[1]);
    const std::array<MPI_Request, 2> handles = requests;
    for (int round = 0; round < 5; ++round) {
        SCOPED_TRACE(round);
        const bytes contents = pattern(m_rank, round, size);
        std::copy(contents.begin(), contents.end(), outgoing.begin()); // in place: the request knows the address
        MPI_Startall(2, requests.data());
        const event received = make_event(requests[0]);
        const event sent = make_event(requests[1]);
        EXPECT_EQ(requests, handles);
        ASSERT_TRUE(completes(received));
        ASSERT_TRUE(completes(sent));
        EXPECT_EQ(requests, handles);
        EXPECT_TRUE(same(incoming, pattern(left(), round, size)));
    }
    // Inactive now: both tests succeed at once with an empty status.
    int done = 0;
    MPI_Testall(2, requests.data(), &done, MPI_STATUSES_IGNORE);
    EXPECT_TRUE(done);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
}

#if MPI_VERSION >= 4
TEST_F(request_event, leaves_a_persistent_collective_to_the_user_who_starts_it_again) {
    for (const bool all : {false, true}) {
        SCOPED_TRACE(all);
        int mine = 0;
        int sum = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, m_comm, MPI_INFO_NULL, &request);
        const MPI_Request handle = request;
        for (int round = 1; round < 4; ++round) {
            mine = round;
            all ? MPI_Startall(1, &request) : MPI_Start(&request);
            const event done = make_event(request);
            EXPECT_EQ(request, handle);
            ASSERT_TRUE(completes(done));
            EXPECT_EQ(sum, round * m_size);
        }
        MPI_Request_free(&request);
    }
}
#endif

TEST_F(request_event, knows_every_kind_of_persistent_send) {
    int outgoing = 7 + m_rank;
    int incoming = 0;
    MPI_Request receiving = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;
    std::vector<char> attached(4096 + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
    for (int kind = 0; kind < 3; ++kind) {
        SCOPED_TRACE(kind);
        MPI_Recv_init(&incoming, 1, MPI_INT, left(), 2, m_comm, &receiving);
        MPI_Start(&receiving);
        if (kind == 0)
            MPI_Ssend_init(&outgoing, 1, MPI_INT, right(), 2, m_comm, &sending);
        else if (kind == 1)
            MPI_Bsend_init(&outgoing, 1, MPI_INT, right(), 2, m_comm, &sending);
        else
            MPI_Rsend_init(&outgoing, 1, MPI_INT, right(), 2, m_comm, &sending);
        barrier(); // a ready send needs its receive
        MPI_Start(&sending);
        const MPI_Request handle = sending;
        const event received = make_event(receiving);
        const event sent = make_event(sending);
        ASSERT_TRUE(completes(received));
        ASSERT_TRUE(completes(sent));
        EXPECT_EQ(sending, handle);
        EXPECT_EQ(incoming, 7 + left());
        incoming = 0;
        MPI_Request_free(&sending);
        MPI_Request_free(&receiving);
    }
    void* detached = nullptr;
    int detached_size = 0;
    MPI_Buffer_detach(&detached, &detached_size);
}

TEST_F(request_event, completes_with_a_collective_operation) {
    std::array<MPI_Request, 3> requests;
    int sum = 0;
    const int mine = m_rank + 1;
    std::vector<int> table(1000);
    if (m_rank == 0) std::iota(table.begin(), table.end(), 3);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, m_comm, &requests[0]);
    MPI_Ibcast(table.data(), 1000, MPI_INT, 0, m_comm, &requests[1]);
    MPI_Ibarrier(m_comm, &requests[2]);
    for (MPI_Request& request : requests) {
        const event done = make_event(request);
        ASSERT_TRUE(completes(done));
        EXPECT_EQ(request, MPI_REQUEST_NULL);
    }
    EXPECT_EQ(sum, m_size * (m_size + 1) / 2);
    EXPECT_EQ(table.front(), 3);
    EXPECT_EQ(table.back(), 1002);
}

TEST_F(request_event, completes_with_requests_of_the_device_type) {
    const std::size_t size = 300 * kib;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const bytes host_outgoing = pattern(m_rank, 2, size);
    bytes incoming(size);
    const framed_buffer device_incoming(size);
    MPI_Request receiving = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;
    MPI_Irecv(incoming.data(), static_cast<int>(size), MPI_CL_MEM, left(), 1, m_comm, &receiving);
    const event received = make_event(receiving);
    EXPECT_EQ(receiving, MPI_REQUEST_NULL);
    const event device_sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    MPI_Isend(host_outgoing.data(), static_cast<int>(size), MPI_CL_MEM, right(), 2, m_comm, &sending);
    const event sent = make_event(sending);
    EXPECT_EQ(sending, MPI_REQUEST_NULL);
    const event device_received = enqueue_receive(m_on.get(), device_incoming.whole(), left(), 2, m_comm);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(device_sent));
    ASSERT_TRUE(completes(device_received));
    EXPECT_TRUE(same(incoming, pattern(left(), 1, size)));
    EXPECT_TRUE(device_incoming.holds(pattern(left(), 2, size)));
}

TEST_F(request_event, holds_back_a_copy_to_the_device_and_its_kernel) {
    constexpr std::size_t size = 50000;
    const bytes outgoing = pattern(m_rank, 1, size);
    bytes incoming(size);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(incoming.data(), static_cast<int>(size), MPI_BYTE, left(), 1, m_comm, &request);
    const event received = make_event(request);
    const buffer device = own().make_buffer(size, 0);
    const kernel adding = own().make_adding_kernel(9);
    cl_mem argument = device.get();
    check(clSetKernelArg(adding.get(), 0, sizeof argument, &argument), "clSetKernelArg");
    event written;
    event added;
    const cl_event after_receive = received.get();
    check(clEnqueueWriteBuffer(m_on.get(), device.get(), CL_FALSE, 0, size, incoming.data(), 1, &after_receive,
                               written.out()),
          "clEnqueueWriteBuffer");
    const std::array<cl_event, 2> before{written.get(), received.get()};
    check(clEnqueueNDRangeKernel(m_on.get(), adding.get(), 1, nullptr, &size, nullptr, 2, before.data(), added.out()),
          "clEnqueueNDRangeKernel");
    check(clFlush(m_on.get()), "clFlush");
    MPI_Request sending = MPI_REQUEST_NULL;
    MPI_Isend(outgoing.data(), static_cast<int>(size), MPI_BYTE, right(), 1, m_comm, &sending);
    const event sent = make_event(sending);
    ASSERT_EQ(wait(added.get()), CL_COMPLETE);
    ASSERT_TRUE(completes(sent));
    bytes expected = pattern(left(), 1, size);
    for (unsigned char& byte : expected) byte = static_cast<unsigned char>(byte + 9);
    EXPECT_TRUE(same(own().read(device.get(), 0, size), expected));
}

TEST_F(request_event, holds_back_a_transfer) {
    const std::size_t size = 70 * kib;
    int go = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&go, 1, MPI_INT, left(), 1, m_comm, &request);
    const event allowed = make_event(request);
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 2, m_comm, {allowed.get()});
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 2, m_comm);
    EXPECT_GT(status_of(sent.get()), CL_COMPLETE);
    MPI_Barrier(m_comm); // nobody is let go before all have looked
    const int token = 1;
    MPI_Send(&token, 1, MPI_INT, right(), 1, m_comm);
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(received));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
}

TEST_F(request_event, may_be_released_before_the_request_completes) {
    int incoming = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&incoming, 1, MPI_INT, left(), 1, m_comm, &request);
    event received = make_event(request);
    event barriered;
    const cl_event after_receive = received.get();
    check(clEnqueueMarkerWithWaitList(m_on.get(), 1, &after_receive, barriered.out()), "clEnqueueMarkerWithWaitList");
    received.release();
    check(clFlush(m_on.get()), "clFlush");
    const int outgoing = 3 + m_rank;
    MPI_Send(&outgoing, 1, MPI_INT, right(), 1, m_comm);
    ASSERT_EQ(wait(barriered.get()), CL_COMPLETE);
    EXPECT_EQ(incoming, 3 + left());
}

TEST_F(request_event, is_made_of_many_requests_at_once) {
    constexpr int count = 64;
    std::array<int, count> outgoing;
    std::array<int, count> incoming{};
    std::vector<event> events;
    for (int message = 0; message < count; ++message) {
        const auto at = static_cast<std::size_t>(message);
        outgoing[at] = 100 * m_rank + message;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(&incoming[at], 1, MPI_INT, left(), message, m_comm, &request);
        events.push_back(make_event(request));
    }
    for (int message = count - 1; message >= 0; --message) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(&outgoing[static_cast<std::size_t>(message)], 1, MPI_INT, right(), message, m_comm, &request);
        events.push_back(make_event(request));
    }
    for (const event& done : events) ASSERT_TRUE(completes(done));
    for (int message = 0; message < count; ++message)
        EXPECT_EQ(incoming[static_cast<std::size_t>(message)], 100 * left() + message);
}

TEST_F(request_event, fails_with_its_request) {
    NEEDS_RANKS(2); // Open MPI 4.1 reports no truncation of a message to oneself
    for (MPI_Comm comm : {m_comm, MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const bytes outgoing(100);
    bytes incoming(10);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(incoming.data(), 10, MPI_BYTE, left(), 1, m_comm, &request);
    const event received = make_event(request);
    MPI_Send(outgoing.data(), 100, MPI_BYTE, right(), 1, m_comm);
    EXPECT_TRUE(fails(received));
    for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

TEST_F(request_event, is_refused_without_a_context_or_a_request) {
    int incoming = 0;
    const int outgoing = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&incoming, 1, MPI_INT, left(), 1, m_comm, &request);
    const MPI_Request handle = request;
    cl_int code = 1;
    EXPECT_EQ(clCreateEventFromMPIRequest(nullptr, &request, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_CONTEXT);
    EXPECT_EQ(request, handle);
    EXPECT_EQ(clCreateEventFromMPIRequest(own().context(), nullptr, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_VALUE);
    EXPECT_EQ(clCreateEventFromMPIRequest(nullptr, &request, nullptr), nullptr);
    MPI_Send(&outgoing, 1, MPI_INT, right(), 1, m_comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(incoming, 1);
}

} // namespace
} // namespace system_test
