// SPDX-License-Identifier: Apache-2.0
// Every strategy at the smallest staging memory: concurrent transfers both ways neither stall nor lose a byte.
#include "ranks.hpp"

#include <cstring>
#include <fstream>
#include <random>
#include <tuple>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

class strategies : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    /// `count` messages of random sizes below `largest` to each side at once; all arrive whole.
    void expect_storm(int count, std::size_t largest, unsigned seed) const {
        const int tags = 2 * count;
        std::minstd_rand random(seed);
        std::vector<std::size_t> sizes;
        for (int message = 0; message < tags; ++message) sizes.push_back(static_cast<std::size_t>(random()) % largest);

        struct traffic {
            framed_buffer outgoing;
            framed_buffer incoming;
            event sent;
            event received;
        };
        std::vector<traffic> all;
        for (int message = 0; message < tags; ++message) {
            const std::size_t size = sizes[static_cast<std::size_t>(message)];
            all.push_back({framed_buffer(pattern(m_rank, message, size)), framed_buffer(size), event(), event()});
        }
        // Even messages go right, odd ones left; the order of the enqueues differs from rank to rank.
        std::vector<int> turns(static_cast<std::size_t>(tags));
        for (int message = 0; message < tags; ++message) turns[static_cast<std::size_t>(message)] = message;
        std::shuffle(turns.begin(), turns.end(), std::minstd_rand(seed + static_cast<unsigned>(m_rank)));
        for (const int message : turns) {
            traffic& one = all[static_cast<std::size_t>(message)];
            const bool rightward = message % 2 == 0;
            one.sent = enqueue_send(m_on.get(), one.outgoing.whole(), rightward ? right() : left(), message, m_comm);
            one.received = enqueue_receive(m_on.get(), one.incoming.whole(), rightward ? left() : right(), message,
                                           m_comm);
        }
        for (int message = 0; message < tags; ++message) {
            SCOPED_TRACE(::testing::Message() << "message " << message);
            const traffic& one = all[static_cast<std::size_t>(message)];
            ASSERT_TRUE(completes(one.sent));
            ASSERT_TRUE(completes(one.received));
            ASSERT_TRUE(one.incoming.holds(
                pattern(message % 2 == 0 ? left() : right(), message, sizes[static_cast<std::size_t>(message)])));
        }
    }

    const queue m_on = make_queue(order::out_of_order);
};

using set_up = std::tuple<const char*, const char*>;

class strategies_by : public strategies, public ::testing::WithParamInterface<set_up> {};

TEST_P(strategies_by, carry_sixty_four_transfers_at_once) {
    const option_scope staging("staging", std::get<1>(GetParam()));
    const option_scope block("block", "64K");
    const option_scope strategy("strategy", std::get<0>(GetParam()));
    expect_storm(32, 500 * kib, 5);
}

TEST_P(strategies_by, carry_one_large_transfer) {
    const option_scope staging("staging", std::get<1>(GetParam()));
    const option_scope block("block", "64K");
    const option_scope strategy("strategy", std::get<0>(GetParam()));
    expect_storm(1, 20 * mib, 6);
}

INSTANTIATE_TEST_SUITE_P(strategies, strategies_by,
                         ::testing::Combine(::testing::Values("auto", "mapped", "shared-window", "pinned", "pipelined"),
                                            ::testing::Values("128K", "64M")),
                         [](const auto& info) {
                             return test_name(std::string(std::get<0>(info.param)) + "_in_" + std::get<1>(info.param));
                         });

TEST_F(strategies, of_different_ranks_understand_one_another) {
    const char* const names[] = {"pipelined", "mapped", "shared-window", "pinned"};
    const char* const blocks[] = {"64K", "1M", "256K"};
    for (int round = 0; round < 4; ++round) {
        SCOPED_TRACE(round);
        const option_scope strategy("strategy", names[(m_rank + round) % 4]);
        const option_scope block("block", blocks[(m_rank + 2 * round) % 3]);
        expect_storm(4, 3 * mib, 7 + static_cast<unsigned>(round));
        barrier(); // each rank's options hold for the whole round
    }
}

TEST_F(strategies, are_told_by_a_finished_transfer) {
    for (const char* const name : {"pinned", "pipelined", "shared-window"}) {
        SCOPED_TRACE(name);
        const option_scope strategy("strategy", name);
        const option_scope block("block", std::string(name) != "pinned" ? "64K" : "0");
        const option_scope depth("depth", "3");
        const framed_buffer outgoing(pattern(m_rank, 1, mib));
        const framed_buffer incoming(mib);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
        ASSERT_TRUE(completes(received));
        ASSERT_TRUE(completes(sent));
        EXPECT_EQ(transfer_text(sent.get(), CL_TRANSFER_STRATEGY), name);
        EXPECT_EQ(transfer_text(received.get(), CL_TRANSFER_STRATEGY), name);
        if (std::string(name) != "pinned") {
            EXPECT_EQ(transfer_info<std::size_t>(sent.get(), CL_TRANSFER_BLOCK_SIZE), 64 * kib);
            EXPECT_EQ(transfer_info<cl_uint>(sent.get(), CL_TRANSFER_DEPTH), 3u);
        }
    }
}

TEST_F(strategies, of_devices_in_host_memory_meet_in_windows_once_ranks_know_each_other) {
    if (!own().is_host_memory()) GTEST_SKIP() << "for ranks whose device memory is the host's";
    const option_scope strategy("strategy", "auto");
    constexpr std::size_t size = 3 * mib;
    const auto go_by = [&](bool to_host) {
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        const framed_buffer incoming(size);
        bytes in_memory(size);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
        if (to_host) {
            EXPECT_EQ(
                MPI_Recv(in_memory.data(), static_cast<int>(size), MPI_CL_MEM, left(), 1, m_comm, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
            EXPECT_TRUE(same(in_memory, pattern(left(), 1, size)));
        } else {
            const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
            EXPECT_TRUE(completes(received));
            EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
        }
        EXPECT_TRUE(completes(sent));
        barrier(); // all have heard what they will hear
        return transfer_text(sent.get(), CL_TRANSFER_STRATEGY);
    };
    go_by(false); // they meet
    EXPECT_EQ(go_by(false), "shared-window");
    EXPECT_EQ(go_by(false), "shared-window");
    go_by(true); // found out under way
    EXPECT_EQ(go_by(true), "mapped");
    go_by(false);
    EXPECT_EQ(go_by(false), "shared-window");
}

TEST_F(strategies, tell_times_in_their_order) {
    const framed_buffer outgoing(pattern(m_rank, 1, mib));
    const framed_buffer incoming(mib);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    for (const cl_event done : {sent.get(), received.get()}) {
        const auto queued = transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_QUEUED);
        const auto submitted = transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_SUBMITTED);
        const auto started = transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_STARTED);
        const auto ended = transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_ENDED);
        EXPECT_GT(queued, 0u);
        EXPECT_LE(queued, submitted);
        EXPECT_LE(submitted, started);
        EXPECT_LE(started, ended);
    }
}

/// Memory that this machine can still give, in bytes; 0 if it does not say.
std::size_t available_memory() {
    std::ifstream lines("/proc/meminfo");
    std::string name;
    std::size_t kilobytes = 0;
    std::string unit;
    while (lines >> name >> kilobytes >> unit)
        if (name == "MemAvailable:") return kilobytes * kib;
    return 0;
}

/// Transfers beyond the 2 GiB that a count of MPI can say, checked piece by piece to spare memory.
class large_messages : public ranks_test {
  protected:
    static constexpr std::size_t size = 2048 * mib + 5;
    static constexpr std::size_t piece = 64 * mib;

    /// Several ranks have less memory and time for it each: they are asked by the environment.
    static bool wanted() {
        const char* const value = std::getenv("CAUSEWAY_TEST_LARGE");
        return value && std::string(value) == "1";
    }

    static bool fits(std::size_t buffers) {
        cl_ulong largest = 0;
        check(clGetDeviceInfo(own().device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr),
              "clGetDeviceInfo");
        return largest >= size && available_memory() >= (buffers + 1) * size;
    }

    static buffer make_large() {
        cl_int code = CL_SUCCESS;
        buffer made(clCreateBuffer(own().context(), CL_MEM_READ_WRITE, size, nullptr, &code));
        check(code, "clCreateBuffer");
        return made;
    }

    /// Pieces that differ in their first bytes alone: each has its place in front of what all have.
    class pieces {
      public:
        const bytes& from(std::size_t first) {
            std::memcpy(m_contents.data(), &first, sizeof first);
            m_contents.resize(std::min(piece, size - first));
            return m_contents;
        }

      private:
        bytes m_contents = pattern(0, 1, piece);
    };

    static void fill(cl_mem what) {
        pieces all;
        for (std::size_t first = 0; first < size; first += piece) {
            const bytes& contents = all.from(first);
            check(clEnqueueWriteBuffer(own().queue(), what, CL_TRUE, first, contents.size(), contents.data(), 0,
                                       nullptr, nullptr),
                  "clEnqueueWriteBuffer");
        }
    }

    static void expect_filled(cl_mem what) {
        pieces all;
        for (std::size_t first = 0; first < size; first += piece) {
            const bytes& contents = all.from(first);
            ASSERT_TRUE(same(own().read(what, first, contents.size()), contents)) << "from " << first;
        }
    }

    const queue m_on = make_queue(order::out_of_order);
};

TEST_F(large_messages, to_oneself_go_beyond_two_gibibytes) {
    if (m_size > 1 && !wanted()) GTEST_SKIP() << "with several ranks only if CAUSEWAY_TEST_LARGE=1 asks for it";
    if (m_rank != 0) return;
    if (!fits(2)) GTEST_SKIP() << "needs memory for two buffers of 2 GiB";
    const buffer outgoing = make_large();
    const buffer incoming = make_large();
    fill(outgoing.get());
    const event received = enqueue_receive(m_on.get(), {incoming.get(), 0, size}, 0, 1, m_comm);
    const event sent = enqueue_send(m_on.get(), {outgoing.get(), 0, size}, 0, 1, m_comm);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_EQ(transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED), size);
    expect_filled(incoming.get());
}

TEST_F(large_messages, to_another_rank_go_beyond_two_gibibytes) {
    NEEDS_RANKS(2);
    if (!wanted()) GTEST_SKIP() << "CAUSEWAY_TEST_LARGE=1 asks for it";
    if (m_rank > 1) return;
    const buffer one = make_large();
    if (m_rank == 0) {
        fill(one.get());
        ASSERT_TRUE(completes(enqueue_send(m_on.get(), {one.get(), 0, size}, 1, 1, m_comm)));
    } else {
        ASSERT_TRUE(completes(enqueue_receive(m_on.get(), {one.get(), 0, size}, 0, 1, m_comm)));
        expect_filled(one.get());
    }
}

} // namespace
} // namespace system_test
