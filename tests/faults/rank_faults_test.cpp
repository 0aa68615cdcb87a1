// SPDX-License-Identifier: Apache-2.0
// Transfers between ranks, and of a rank with itself, with every call that one side makes failing once.
#include "faults/scenes.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>

using namespace faults;
using support::bytes;

namespace {

constexpr std::size_t small = 1000;            // travels with its announcement
constexpr std::size_t large = (300 << 10) + 5; // waits for its receive

/// Which sides of a message a process has.
enum class side { sends, receives, both };
enum class form { range, exchange, box };

/// Rows with gaps between them; packed they are rows * width bytes.
struct box_of_rows {
    static constexpr std::size_t width = 4097, rows = 75, pitch = 4352;
    static constexpr std::size_t packed = width * rows, extent = pitch * rows;
};

class message_scenario final : public scenario {
  public:
    /// Of an exchange `waits_for_peer` says which side ends first if something fails.
    message_scenario(cl_device_id device, MPI_Comm comm, int peer, side own, form shape, std::size_t size,
                     bool waits_for_peer = false)
        : m_scene(device),
          m_receive_queue(support::make_queue(m_scene.context(), device, support::queue_order::in_order)), m_comm(comm),
          m_peer(peer), m_own(own), m_form(shape), m_waits_for_peer(waits_for_peer), m_size(size),
          m_extent(shape == form::box ? box_of_rows::extent : size), m_sent(m_scene, m_extent),
          m_received(m_scene, m_extent) {}
    message_scenario(const message_scenario&) = delete;
    message_scenario& operator=(const message_scenario&) = delete;
    ~message_scenario() override { end_communicator(); }

    /// Every run is the first on a communicator of its own. Collective.
    void always_first() {
        m_parent = m_comm;
        m_comm = MPI_COMM_NULL;
    }

    void reset() override {
        if (m_parent != MPI_COMM_NULL) {
            end_communicator();
            MPI_Comm_dup(m_parent, &m_comm);
        }
        // A message that was left over from a failed run must meet nothing.
        ++m_tag;
        m_source = support::pattern(m_extent, static_cast<std::uint64_t>(m_tag));
        m_sent.fill(m_source);
        m_received.fill(support::pattern(m_extent, 0));
    }

    std::vector<started> start() override {
        std::vector<started> all;
        if (m_form == form::exchange) {
            all.push_back(start_one([&](cl_event* event) {
                return clEnqueueSendrecvBuffer(m_scene.queue(), m_sent.buffer(), m_received.buffer(), CL_FALSE,
                                               m_sent.offset(), m_size, m_peer, m_tag, m_received.offset(), m_size,
                                               m_peer, m_tag, m_comm, 0, nullptr, event);
            }));
            all.back().waits_for_message = m_waits_for_peer;
            return all;
        }
        if (m_own != side::receives) all.push_back(start_one([&](cl_event* event) { return send(event); }));
        if (m_own != side::sends) all.push_back(start_one([&](cl_event* event) { return receive(event); }));
        all.back().waits_for_message = m_own != side::sends;
        return all;
    }

    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        m_sent.expect(m_source, m_extent, true, failed);
        const auto& last = endings.back();
        const bool untouched = last.refused != CL_SUCCESS || m_own == side::sends;
        if (m_form == form::exchange) {
            // Bytes moved are those of both ways.
            m_received.expect(m_source, last.succeeded() ? m_size : 0, untouched, failed);
            return;
        }
        if (m_form == form::box && !untouched) {
            expect_rows(last.moved);
        } else {
            m_received.expect(m_source, last.moved, untouched, failed);
        }
        for (const auto& each : endings) {
            if (each.succeeded()) {
                EXPECT_EQ(each.moved, m_size);
            }
        }
    }

    void touch() override {
        m_sent.touch();
        m_received.touch();
    }
    std::vector<cl_context> contexts() const override { return {m_scene.context()}; }
    std::vector<cl_command_queue> queues() const override { return {m_scene.queue(), m_receive_queue.get()}; }
    bool has_messages() const override { return true; }
    /// The library asks MPI three times. Longer failures may end the listeners of a communicator for good; the longest
    /// meet also the headers about the first.
    std::vector<unsigned> runs_of_failures(const fault_point& failing) const override {
        const std::string_view name = failing.name;
        const bool talks = name == "PMPI_Isend" || name == "PMPI_Irecv" || name == "PMPI_Testsome";
        if (m_parent != MPI_COMM_NULL && talks) return {1, 3, 9};
        return {1};
    }

  private:
    cl_int send(cl_event* event) {
        if (m_form == form::box)
            return clEnqueueSendBufferRect(m_scene.queue(), m_sent.buffer(), CL_FALSE, box_origin().data(),
                                           box_region().data(), box_of_rows::pitch, 0, m_peer, m_tag, m_comm, 0,
                                           nullptr, event);
        return clEnqueueSendBuffer(m_scene.queue(), m_sent.buffer(), CL_FALSE, m_sent.offset(), m_size, m_peer, m_tag,
                                   m_comm, 0, nullptr, event);
    }
    cl_int receive(cl_event* event) {
        if (m_form == form::box)
            return clEnqueueRecvBufferRect(m_receive_queue.get(), m_received.buffer(), CL_FALSE, box_origin().data(),
                                           box_region().data(), box_of_rows::pitch, 0, m_peer, m_tag, m_comm, 0,
                                           nullptr, event);
        return clEnqueueRecvBuffer(m_receive_queue.get(), m_received.buffer(), CL_FALSE, m_received.offset(), m_size,
                                   m_peer, m_tag, m_comm, 0, nullptr, event);
    }
    static std::array<std::size_t, 3> box_origin() { return {framed_range::margin, 0, 0}; }
    static std::array<std::size_t, 3> box_region() { return {box_of_rows::width, box_of_rows::rows, 1}; }

    /// The first `moved` bytes of the packed box, and gaps that nobody has touched.
    void expect_rows(std::size_t moved) {
        const auto now = m_received.contents(), before = m_received.before();
        for (std::size_t row = 0; row < box_of_rows::rows; ++row) {
            const auto first = row * box_of_rows::pitch;
            const auto there = std::min(box_of_rows::width, moved - std::min(moved, row * box_of_rows::width));
            EXPECT_TRUE(support::same_bytes(support::slice(m_source, first, there), support::slice(now, first, there)));
            const auto gap = first + box_of_rows::width, gap_size = box_of_rows::pitch - box_of_rows::width;
            EXPECT_TRUE(support::same_bytes(support::slice(before, gap, gap_size), support::slice(now, gap, gap_size)));
        }
    }

    void end_communicator() {
        if (m_parent != MPI_COMM_NULL && m_comm != MPI_COMM_NULL) MPI_Comm_free(&m_comm);
    }

    device_scene m_scene;
    support::queue_handle m_receive_queue; // a send and its receive in one in-order queue would wait for each other
    MPI_Comm m_comm, m_parent = MPI_COMM_NULL;
    int m_peer;
    side m_own;
    form m_form;
    bool m_waits_for_peer;
    std::size_t m_size, m_extent;
    framed_range m_sent, m_received;
    bytes m_source;
    int m_tag = 0;
};

/// Two ranks that run the halves of a scenario.
class two_ranks final : public team {
  public:
    two_ranks(MPI_Comm control, int leader) : m_control(control), m_leader(leader) { MPI_Comm_rank(control, &m_rank); }
    bool leads() const override { return m_rank == m_leader; }
    bool any(bool mine) override {
        int all = mine ? 1 : 0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, m_control, &request);
        // The ranks share the processors with those that they wait for.
        for (int done = 0; done == 0; std::this_thread::yield()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        return all != 0;
    }

  private:
    MPI_Comm m_control;
    int m_leader, m_rank = 0;
};

/// A communicator of the test's own for its transfers.
class rank_faults : public shaped_test {
  protected:
    void SetUp() override {
        MPI_Comm_size(MPI_COMM_WORLD, &m_ranks);
        MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
        MPI_Comm_dup(MPI_COMM_WORLD, &m_comm);
    }
    void TearDown() override { MPI_Comm_free(&m_comm); }

    void fail_calls_of_a_message_to_itself(form shape, std::size_t size, bool always_first = false) {
        if (m_ranks > 1) GTEST_SKIP() << "needs no second rank";
        message_scenario run(device(), m_comm, 0, side::both, shape, size);
        if (always_first) run.always_first();
        fail_every_call(run);
    }
    void fail_calls_of_one_of_two_ranks(int leader, form shape, std::size_t size, bool always_first = false) {
        if (m_ranks != 2) GTEST_SKIP() << "needs two ranks";
        const auto own = shape == form::exchange ? side::both : m_rank == 0 ? side::sends : side::receives;
        message_scenario run(device(), m_comm, 1 - m_rank, own, shape, size, m_rank != leader);
        if (always_first) run.always_first();
        two_ranks both(MPI_COMM_WORLD, leader);
        fail_every_call(run, both);
    }

  private:
    int m_ranks = 1, m_rank = 0;
    MPI_Comm m_comm = MPI_COMM_NULL;
};
INSTANTIATE_TEST_SUITE_P(devices, rank_faults,
                         testing::Combine(testing::ValuesIn(one_device_each()), testing::ValuesIn(all_shapes())),
                         shaped_name);

} // namespace

TEST_P(rank_faults, a_small_message_to_itself) { fail_calls_of_a_message_to_itself(form::range, small); }

TEST_P(rank_faults, a_large_message_to_itself) { fail_calls_of_a_message_to_itself(form::range, large); }

TEST_P(rank_faults, the_first_message_to_itself_on_a_communicator) {
    fail_calls_of_a_message_to_itself(form::range, large, true);
}

TEST_P(rank_faults, a_box_to_itself) { fail_calls_of_a_message_to_itself(form::box, box_of_rows::packed); }

TEST_P(rank_faults, the_sender_of_a_small_message) { fail_calls_of_one_of_two_ranks(0, form::range, small); }

TEST_P(rank_faults, the_receiver_of_a_small_message) { fail_calls_of_one_of_two_ranks(1, form::range, small); }

TEST_P(rank_faults, the_sender_of_a_large_message) { fail_calls_of_one_of_two_ranks(0, form::range, large); }

TEST_P(rank_faults, the_receiver_of_a_large_message) { fail_calls_of_one_of_two_ranks(1, form::range, large); }

TEST_P(rank_faults, one_side_of_an_exchange) { fail_calls_of_one_of_two_ranks(0, form::exchange, large); }

TEST_P(rank_faults, the_sender_of_the_first_message_on_a_communicator) {
    fail_calls_of_one_of_two_ranks(0, form::range, large, true);
}

TEST_P(rank_faults, the_receiver_of_the_first_message_on_a_communicator) {
    fail_calls_of_one_of_two_ranks(1, form::range, large, true);
}
