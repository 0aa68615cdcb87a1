// SPDX-License-Identifier: Apache-2.0
// What a small message costs the engine once the first few have been through.
#include "unit/allocations.hpp"
#include "unit/endpoints/two_ranks.hpp"

using namespace unit;

namespace {

/// MPI between two ranks at its best: a message is in the receive that waits for it when the sender's call returns.
/// Takes nothing from the heap.
class immediate_port final : public comm::port {
  public:
    explicit immediate_port(int rank) : m_rank(rank) {}
    void join(immediate_port& peer) { m_peer = &peer; }

    void send(int, int, int tag, std::span<const std::byte> bytes, comm::operation& done) override {
        ++calls;
        auto& to = *m_peer;
        operation* found = nullptr; // the oldest
        for (auto& each : to.m_open)
            if (each.done != nullptr && each.tag == tag && !each.full &&
                (found == nullptr || each.order < found->order))
                found = &each;
        ASSERT_TRUE(found != nullptr);
        std::copy(bytes.begin(), bytes.end(), found->bytes.begin());
        found->full = true;
        found->result = {.source = m_rank, .tag = tag, .bytes = bytes.size()};
        put({.tag = tag, .done = &done, .full = true});
    }
    void receive(int, int, int tag, std::span<std::byte> bytes, comm::operation& done) override {
        ++calls;
        put({.tag = tag, .bytes = bytes, .done = &done});
    }
    void cancel_receive(comm::operation&) override {}
    void abandon(comm::operation&) override {}
    bool poll() override {
        ++polls;
        bool any = false;
        for (auto& each : m_open) {
            if (each.done == nullptr || !each.full) continue;
            any = true;
            std::exchange(each.done, nullptr)->over(each.result);
        }
        return any;
    }
    [[nodiscard]] bool busy() const override { return true; }
    [[nodiscard]] int largest_tag() const override { return 100; }
    [[nodiscard]] int ranks(int) const override { return 2; }
    [[nodiscard]] int own_rank(int) const override { return m_rank; }
    [[nodiscard]] int job_rank(int, int rank) const override { return rank; }

    int calls = 0, polls = 0;

  private:
    struct operation {
        int tag = 0;
        std::span<std::byte> bytes;
        comm::operation* done = nullptr;
        bool full = false;
        comm::arrival result = {};
        int order = 0;
    };
    void put(const operation& made) {
        auto* const last = std::find_if(m_open.begin(), m_open.end(),
                                        [](const auto& each) { return each.done == nullptr; });
        ASSERT_NE(last, m_open.end());
        *last = made;
        last->order = calls;
    }

    int m_rank;
    immediate_port* m_peer = nullptr;
    std::array<operation, 16> m_open;
};

struct small_rank {
    explicit small_rank(comm::port& port) : messages(settings, port) { machine.add(messages); }
    fake_clock clock;
    options settings;
    engine machine{settings, clock, 1};
    endpoints::messenger messages;
    ordered_gate turns;
    std::vector<std::byte> word = std::vector<std::byte>(8);
};

} // namespace

TEST(small_messages, cost_one_call_of_mpi_at_each_end_and_no_allocation) {
    immediate_port at_a(0), at_b(1);
    at_a.join(at_b);
    at_b.join(at_a);
    small_rank a(at_a), b(at_b);
    a.machine.call([&] { a.messages.listen(0); });
    b.machine.call([&] { b.messages.listen(0); });
    std::size_t allocated = 0;
    int calls = 0;
    for (int i = 0; i < 20; ++i) {
        const auto sent = bench::make(std::make_unique<instant_memory>(a.word, -1),
                                      endpoints::make_send_endpoint({a.messages, a.turns}, 0, 1, tag), 8, nullptr);
        const auto received = bench::make(endpoints::make_receive_endpoint({b.messages, b.turns}, 0, 0, tag, nullptr),
                                          std::make_unique<instant_memory>(b.word, -1), 8, nullptr);
        const auto before = allocations();
        b.machine.submit(received);
        while (b.machine.step()) {}
        a.machine.submit(sent);
        const auto calls_before = at_a.calls + at_b.calls;
        for (bool moves = true; moves;) {
            moves = a.machine.step();
            moves = b.machine.step() || moves;
        }
        allocated = allocations() - before;
        calls = at_a.calls + at_b.calls - calls_before;
        ASSERT_EQ(status_of(sent), status::complete);
        ASSERT_EQ(status_of(received), status::complete);
    }
    EXPECT_EQ(calls, 2) << "the send, and a receive for the next message";
    if (!counts_allocations()) GTEST_SKIP() << "the sanitizer has its own allocator";
    EXPECT_EQ(allocated, 0u);
}
