// SPDX-License-Identifier: Apache-2.0
// Bad arguments of the rank forms: OpenCL's own code, a text, no event, no effect, no error handler called.
#include "ranks.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <limits>

namespace system_test {
namespace {

constexpr std::size_t buffer_size = 4096;

std::atomic<int> handler_calls{0};

void count_call(MPI_Comm*, int*, ...) { ++handler_calls; }

/// What one call is given; a test changes the one thing that it wants refused.
struct arguments {
    cl_command_queue on;
    cl_mem buffer;
    std::size_t offset = 0;
    std::size_t size = 64;
    int rank = 0;
    int tag = 1;
    MPI_Comm comm = MPI_COMM_NULL;
    cl_uint wait_count = 0;
    const cl_event* wait_events = nullptr;
};

class refusals : public ranks_test {
  protected:
    void SetUp() override {
        ranks_test::SetUp();
        handler_calls = 0;
        MPI_Comm_create_errhandler(count_call, &m_handler);
        MPI_Comm_set_errhandler(m_comm, m_handler);
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &m_world_handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, m_handler);
    }

    void TearDown() override {
        EXPECT_EQ(handler_calls, 0);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, m_world_handler);
        MPI_Errhandler_free(&m_handler);
        ranks_test::TearDown();
    }

    [[nodiscard]] arguments good() const {
        arguments made;
        made.on = m_on.get();
        made.buffer = m_buffer.get();
        made.rank = m_rank;
        made.comm = m_comm;
        return made;
    }

    using call = std::function<cl_int(const arguments&, cl_bool, cl_event*)>;

    static cl_int send(const arguments& with, cl_bool block, cl_event* done) {
        return clEnqueueSendBuffer(with.on, with.buffer, block, with.offset, with.size, with.rank, with.tag, with.comm,
                                   with.wait_count, with.wait_events, done);
    }

    static cl_int receive(const arguments& with, cl_bool block, cl_event* done) {
        return clEnqueueRecvBuffer(with.on, with.buffer, block, with.offset, with.size, with.rank, with.tag, with.comm,
                                   with.wait_count, with.wait_events, done);
    }

    cl_int sendrecv_bad_send(const arguments& with, cl_bool block, cl_event* done) const {
        return clEnqueueSendrecvBuffer(with.on, with.buffer, m_other.get(), block, with.offset, with.size, with.rank,
                                       with.tag, 0, 64, m_rank, 1, with.comm, with.wait_count, with.wait_events, done);
    }

    cl_int sendrecv_bad_receive(const arguments& with, cl_bool block, cl_event* done) const {
        return clEnqueueSendrecvBuffer(with.on, m_other.get(), with.buffer, block, 0, 64, m_rank, 1, with.offset,
                                       with.size, with.rank, with.tag, with.comm, with.wait_count, with.wait_events,
                                       done);
    }

    static cl_int send_rect(const arguments& with, cl_bool block, cl_event* done) {
        const std::array<std::size_t, 3> origin{with.offset, 0, 0};
        const std::array<std::size_t, 3> region{with.size, 1, 1};
        return clEnqueueSendBufferRect(with.on, with.buffer, block, origin.data(), region.data(), 0, 0, with.rank,
                                       with.tag, with.comm, with.wait_count, with.wait_events, done);
    }

    static cl_int receive_rect(const arguments& with, cl_bool block, cl_event* done) {
        const std::array<std::size_t, 3> origin{with.offset, 0, 0};
        const std::array<std::size_t, 3> region{with.size, 1, 1};
        return clEnqueueRecvBufferRect(with.on, with.buffer, block, origin.data(), region.data(), 0, 0, with.rank,
                                       with.tag, with.comm, with.wait_count, with.wait_events, done);
    }

    void expect_refused(const char* name, const call& enqueue, const arguments& with, cl_int code) const {
        for (const cl_bool block : {CL_FALSE, CL_TRUE}) {
            SCOPED_TRACE(::testing::Message() << name << (block ? ", blocking" : ""));
            event none;
            EXPECT_EQ(enqueue(with, block, none.out()), code);
            EXPECT_EQ(none.get(), nullptr);
            EXPECT_STRNE(causeway_error_last_message(), "");
        }
    }

    void expect_sends_refuse(const arguments& with, cl_int code) const {
        expect_refused("send", send, with, code);
        expect_refused("send rect", send_rect, with, code);
        expect_refused(
            "send of send-receive",
            [this](const arguments& all, cl_bool block, cl_event* done) { return sendrecv_bad_send(all, block, done); },
            with, code);
    }

    void expect_receives_refuse(const arguments& with, cl_int code) const {
        expect_refused("receive", receive, with, code);
        expect_refused("receive rect", receive_rect, with, code);
        expect_refused(
            "receive of send-receive",
            [this](const arguments& all, cl_bool block, cl_event* done) {
                return sendrecv_bad_receive(all, block, done);
            },
            with, code);
    }

    void expect_all_refuse(const arguments& with, cl_int code) const {
        expect_sends_refuse(with, code);
        expect_receives_refuse(with, code);
    }

    const queue m_on = make_queue(order::out_of_order);
    const buffer m_buffer = own().make_buffer(buffer_size, 1);
    const buffer m_other = own().make_buffer(buffer_size, 2);

  private:
    MPI_Errhandler m_handler = MPI_ERRHANDLER_NULL;
    MPI_Errhandler m_world_handler = MPI_ERRHANDLER_NULL;
};

TEST_F(refusals, of_a_null_queue) {
    arguments with = good();
    with.on = nullptr;
    expect_all_refuse(with, CL_INVALID_COMMAND_QUEUE);
}

TEST_F(refusals, of_a_null_buffer) {
    arguments with = good();
    with.buffer = nullptr;
    expect_all_refuse(with, CL_INVALID_MEM_OBJECT);
}

TEST_F(refusals, of_a_buffer_of_another_context) {
    const context other = own().make_context();
    cl_int code = CL_SUCCESS;
    const buffer foreign(clCreateBuffer(other.get(), CL_MEM_READ_WRITE, buffer_size, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    arguments with = good();
    with.buffer = foreign.get();
    expect_all_refuse(with, CL_INVALID_CONTEXT);
}

TEST_F(refusals, of_a_linked_buffer_in_a_queue_of_another_device) {
    char links[200] = "";
    (void)causeway_direct_links(own().device(), links, sizeof links);
    if (std::string(links).starts_with("none")) GTEST_SKIP() << "linked buffers are ordinary ones: " << links;
    const auto platform_of = [](cl_device_id device) {
        cl_platform_id platform = nullptr;
        check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr), "clGetDeviceInfo");
        return platform;
    };
    std::array both{own().device(), cl_device_id{}};
    for (cl_device_id each : all_devices())
        if (each != both[0] && platform_of(each) == platform_of(both[0])) both[1] = each;
    if (both[1] == nullptr) GTEST_SKIP() << "the platform has one device only";
    cl_int code = CL_SUCCESS;
    const context shared(clCreateContext(nullptr, 2, both.data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const queue other(clCreateCommandQueue(shared.get(), both[1], 0, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const buffer linked(causeway_buffer_create(shared.get(), both[0], CL_MEM_READ_WRITE, buffer_size, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    arguments with = good();
    with.on = other.get();
    with.buffer = linked.get();
    expect_refused("send", send, with, CL_INVALID_OPERATION);
    expect_refused("receive", receive, with, CL_INVALID_OPERATION);
    expect_refused("send rect", send_rect, with, CL_INVALID_OPERATION);
    expect_refused("receive rect", receive_rect, with, CL_INVALID_OPERATION);
    // The other buffer of the send-receives above is of another context.
    const auto both_ways = [](const arguments& all, cl_bool block, cl_event* done) {
        return clEnqueueSendrecvBuffer(all.on, all.buffer, all.buffer, block, 0, 64, all.rank, 1, 64, 64, all.rank, 1,
                                       all.comm, 0, nullptr, done);
    };
    expect_refused("send-receive", both_ways, with, CL_INVALID_OPERATION);
}

TEST_F(refusals, of_a_range_outside_the_buffer) {
    arguments with = good();
    with.offset = buffer_size - 63;
    expect_all_refuse(with, CL_INVALID_VALUE);
    with.offset = buffer_size + 1;
    expect_all_refuse(with, CL_INVALID_VALUE);
    with.offset = 1;
    with.size = std::numeric_limits<std::size_t>::max();
    expect_all_refuse(with, CL_INVALID_VALUE);
}

TEST_F(refusals, of_a_buffer_that_the_host_may_not_access) {
    arguments with = good();
    const buffer hidden = own().make_empty_buffer(buffer_size, CL_MEM_HOST_NO_ACCESS);
    with.buffer = hidden.get();
    expect_all_refuse(with, CL_INVALID_OPERATION);
}

TEST_F(refusals, of_a_buffer_that_the_host_may_access_in_the_other_direction_only) {
    arguments with = good();
    const buffer read_only = own().make_empty_buffer(buffer_size, CL_MEM_HOST_READ_ONLY);
    with.buffer = read_only.get();
    expect_receives_refuse(with, CL_INVALID_OPERATION);
    const buffer write_only = own().make_empty_buffer(buffer_size, CL_MEM_HOST_WRITE_ONLY);
    with.buffer = write_only.get();
    expect_sends_refuse(with, CL_INVALID_OPERATION);
}

TEST_F(refusals, of_a_rank_that_does_not_exist) {
    arguments with = good();
    for (const int rank : {-5, m_size, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
        SCOPED_TRACE(rank);
        with.rank = rank;
        expect_all_refuse(with, CL_INVALID_VALUE);
    }
}

TEST_F(refusals, of_any_source_as_the_target_of_a_send) {
    arguments with = good();
    with.rank = MPI_ANY_SOURCE;
    expect_sends_refuse(with, CL_INVALID_VALUE);
}

TEST_F(refusals, of_any_tag_as_the_tag_of_a_send) {
    arguments with = good();
    with.tag = MPI_ANY_TAG;
    expect_sends_refuse(with, CL_INVALID_VALUE);
}

TEST_F(refusals, of_a_negative_tag) {
    arguments with = good();
    with.tag = -77;
    expect_all_refuse(with, CL_INVALID_VALUE);
}

TEST_F(refusals, of_a_tag_above_the_upper_bound) {
    int* upper_bound = nullptr;
    int found = 0;
    MPI_Comm_get_attr(m_comm, MPI_TAG_UB, &upper_bound, &found);
    ASSERT_TRUE(found);
    if (*upper_bound == std::numeric_limits<int>::max()) GTEST_SKIP() << "MPI_TAG_UB is the largest int";
    arguments with = good();
    with.tag = *upper_bound + 1;
    expect_all_refuse(with, CL_INVALID_VALUE);
}

TEST_F(refusals, of_the_null_communicator) {
    arguments with = good();
    with.comm = MPI_COMM_NULL;
    expect_all_refuse(with, CL_INVALID_VALUE);
}

TEST_F(refusals, of_a_count_of_events_without_a_list) {
    arguments with = good();
    with.wait_count = 1;
    expect_all_refuse(with, CL_INVALID_EVENT_WAIT_LIST);
}

TEST_F(refusals, of_a_list_of_events_without_a_count) {
    const event some = own().make_user_event();
    const cl_event list = some.get();
    arguments with = good();
    with.wait_events = &list;
    expect_all_refuse(with, CL_INVALID_EVENT_WAIT_LIST);
}

TEST_F(refusals, of_a_null_event_in_the_list) {
    const cl_event list = nullptr;
    arguments with = good();
    with.wait_count = 1;
    with.wait_events = &list;
    expect_all_refuse(with, CL_INVALID_EVENT_WAIT_LIST);
}

TEST_F(refusals, of_an_event_of_another_context) {
    const context other = own().make_context();
    cl_int code = CL_SUCCESS;
    const event foreign(clCreateUserEvent(other.get(), &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const cl_event list = foreign.get();
    arguments with = good();
    with.wait_count = 1;
    with.wait_events = &list;
    expect_all_refuse(with, CL_INVALID_CONTEXT);
    // NVIDIA's driver 580 waits for ever for the event when its context goes.
    EXPECT_EQ(clSetUserEventStatus(foreign.get(), CL_COMPLETE), CL_SUCCESS);
}

TEST_F(refusals, of_overlapping_ranges_in_a_send_and_receive) {
    event none;
    const cl_int code = clEnqueueSendrecvBuffer(m_on.get(), m_buffer.get(), m_buffer.get(), CL_FALSE, 0, 64, m_rank, 1,
                                                63, 64, m_rank, 1, m_comm, 0, nullptr, none.out());
    EXPECT_EQ(code, CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(none.get(), nullptr);
}

TEST_F(refusals, have_no_effect_on_the_messages_around_them) {
    const bytes contents = pattern(m_rank, 1, 64);
    const framed_buffer outgoing(contents);
    const framed_buffer incoming(64);
    arguments bad = good();
    bad.tag = -77;
    EXPECT_EQ(send(bad, CL_FALSE, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(receive(bad, CL_FALSE, nullptr), CL_INVALID_VALUE);
    bad = good();
    bad.offset = buffer_size;
    EXPECT_EQ(send(bad, CL_FALSE, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(receive(bad, CL_FALSE, nullptr), CL_INVALID_VALUE);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), m_rank, 1, m_comm);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), m_rank, MPI_ANY_TAG, m_comm);
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(received));
    EXPECT_TRUE(incoming.holds(contents));
    EXPECT_TRUE(same(own().read(m_buffer.get(), 0, buffer_size), bytes(buffer_size, 1)));
    EXPECT_EQ(clFinish(m_on.get()), CL_SUCCESS);
}

TEST_F(refusals, allow_an_empty_range_at_the_end_of_the_buffer) {
    const event sent = enqueue_send(m_on.get(), {m_buffer.get(), buffer_size, 0}, m_rank, 1, m_comm);
    const event received = enqueue_receive(m_on.get(), {m_other.get(), buffer_size, 0}, m_rank, 1, m_comm);
    EXPECT_TRUE(completes(sent));
    EXPECT_TRUE(completes(received));
}

TEST_F(refusals, allow_the_largest_tag_of_the_users) {
    int* upper_bound = nullptr;
    int found = 0;
    MPI_Comm_get_attr(m_comm, MPI_TAG_UB, &upper_bound, &found);
    ASSERT_TRUE(found);
    const framed_buffer outgoing(pattern(m_rank, 1, 300));
    const framed_buffer incoming(300);
    const int tag = *upper_bound / 2;
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), m_rank, tag, m_comm);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), m_rank, tag, m_comm);
    EXPECT_TRUE(completes(sent));
    EXPECT_TRUE(completes(received));
    EXPECT_TRUE(incoming.holds(pattern(m_rank, 1, 300)));
}

} // namespace
} // namespace system_test
