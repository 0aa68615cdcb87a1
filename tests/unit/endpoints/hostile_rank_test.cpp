// SPDX-License-Identifier: Apache-2.0
// A rank whose messages are not what the protocol says: nothing is read or written out of bounds, and every wait ends.
#include "unit/endpoints/two_ranks.hpp"

#include <cstring>
#include <random>

using namespace unit;
using endpoints::wire_header;

namespace {

class hostile_rank : public by_strategy {};

std::vector<std::byte> bytes_of(const wire_header& header, std::size_t payload = 0) {
    std::vector<std::byte> made(sizeof header + payload, std::byte{7});
    std::memcpy(made.data(), &header, sizeof header);
    return made;
}

/// Changes headers, and makes them up.
class fuzzer {
  public:
    explicit fuzzer(unsigned seed) : m_random(seed) {}

    std::uint64_t below(std::uint64_t end) { return m_random() % end; }

    /// Where checks are wrong if they are.
    std::uint64_t number() {
        constexpr std::uint64_t corners[] = {0,
                                             1,
                                             2,
                                             3,
                                             4,
                                             5,
                                             7,
                                             8,
                                             4095,
                                             4096,
                                             65536,
                                             std::uint64_t{1} << 30,
                                             (std::uint64_t{1} << 30) + 1,
                                             std::uint64_t{1} << 31,
                                             std::uint64_t{1} << 32,
                                             std::uint64_t{1} << 63};
        const auto corner = corners[below(std::size(corners))];
        switch (below(4)) {
        case 0: return corner;
        case 1: return 0 - corner;
        case 2: return below(20);
        default: return m_random();
        }
    }

    void change(wire_header& header) {
        switch (below(14)) {
        case 0: header.what = static_cast<wire_header::kind>(below(16)); break;
        case 1: header.tag = static_cast<std::int32_t>(number()); break;
        case 2: header.data_tag = static_cast<std::int32_t>(number()); break;
        case 3: header.bytes = number(); break;
        case 4: header.block_bytes = number(); break;
        case 5: header.sender = number(); break;
        case 6: header.receiver = number(); break;
        case 7: header.offset = number(); break;
        case 8: header.window.offset = number(); break;
        case 9: header.window.segment.bytes = number(); break;
        case 10: header.window.segment.key = number(); break;
        case 11: header.device_window = number(); break;
        case 12: header.abilities = number(); break;
        default: header.window.segment.descriptor = static_cast<std::int32_t>(number()); break;
        }
    }

    /// In one of eight messages something is wrong.
    void tamper(std::vector<std::byte>& bytes) {
        if (below(8) != 0 || bytes.size() < sizeof(wire_header)) return;
        wire_header header;
        std::memcpy(&header, bytes.data(), sizeof header);
        for (auto changes = 1 + below(3); changes > 0; --changes) change(header);
        std::memcpy(bytes.data(), &header, sizeof header);
        if (below(8) == 0) bytes.resize(below(bytes.size() + 16)); // cut off, or longer
    }

    wire_header made_up(std::uint64_t node) {
        wire_header header{.what = static_cast<wire_header::kind>(1 + below(13)),
                           .tag = unit::tag,
                           .data_tag = static_cast<std::int32_t>(51 + below(48)),
                           .bytes = below(20),
                           .block_bytes = 1 + below(8),
                           .sender = 1 + below(12),
                           .receiver = 1 + below(12),
                           .node = node};
        for (auto changes = below(4); changes > 0; --changes) change(header);
        return header;
    }

  private:
    std::mt19937_64 m_random;
};

/// Transfers between a rank of ours and one whose words are changed or made up. At last that one is gone.
void run_with(unsigned seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    two_ranks both;
    fuzzer fuzz(seed);
    both.a.settings.set("eager", seed % 2 == 0 ? "0" : "8");
    both.b.settings.set("eager", seed % 2 == 0 ? "0" : "8");
    both.network.tamper([&](auto& bytes) { fuzz.tamper(bytes); });
    std::vector<std::vector<std::byte>> memory(8);
    std::vector<std::shared_ptr<command>> all;
    for (std::size_t i = 0; i < memory.size(); ++i) {
        auto& bytes = memory[i];
        bytes.resize(fuzz.below(24), std::byte{static_cast<unsigned char>(i)});
        auto& rank = i % 4 < 2 ? both.a : both.b;
        const int other = i % 4 < 2 ? 1 : 0;
        all.push_back(i % 2 == 0 ? rank.send(bytes, other)
                                 : rank.receive(bytes, fuzz.below(4) == 0 ? comm::any_source : other));
    }
    both.settle();
    for (int step = 0; step < 200; ++step) {
        if (step % 5 == 0) {
            const auto made = fuzz.made_up(1);
            const auto payload = made.what == wire_header::kind::eager ? fuzz.below(32) : 0;
            both.network.inject(1, 0, bytes_of(made, payload));
        }
        if (both.network.deliverable() > 0) both.network.deliver(fuzz.below(both.network.deliverable()));
        both.settle();
        if (step % 50 == 49)
            for (auto* const rank : {&both.a, &both.b}) rank->clock.advance(std::chrono::seconds(1));
    }
    both.network.tamper(nullptr);
    both.network.kill(1);
    both.a.messages.rank_gone(1);
    both.b.messages.rank_gone(0);
    // Receives from anybody wait for others.
    for (std::size_t i = 0; i < all.size(); ++i)
        (i % 4 < 2 ? both.a : both.b).machine.cancel(all[i], {status::cancelled, 0, 0, "by the test"});
    for (int i = 0; i < 5; ++i) {
        for (auto* const rank : {&both.a, &both.b}) rank->clock.advance(std::chrono::seconds(1));
        both.settle();
    }
    both.network.forget_undelivered();
    both.settle();
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(all[i]->complete()) << "transfer " << i;
}

std::string message_of(const std::shared_ptr<command>& work) { return work->report().error.message; }

} // namespace

TEST_P(hostile_rank, whatever_it_says_harms_nobody_else) {
    for (unsigned seed = 1; seed <= 300 && !HasFailure(); ++seed) run_with(seed);
}

CAUSEWAY_BY_STRATEGY(hostile_rank);

namespace {

/// Rank 1 is nobody; the test speaks for it.
struct spoken_for {
    static bool go_by_messages() {
        by_strategy::name = "pipelined";
        by_strategy::where = home::ordinary;
        return true;
    }
    /// A header to a rank that does not take it would be MPI's for ever.
    ~spoken_for() {
        network.kill(1);
        rank.messages.rank_gone(1);
        rank.settle();
    }
    bool is_set = go_by_messages(); // before the rank is made
    void hear(const wire_header& header, std::size_t payload = 0) {
        network.inject(1, 0, bytes_of(header, payload));
        network.deliver(network.deliverable() - 1);
        rank.settle();
    }
    fake_network network{2};
    one_rank rank{network, 0};
};

} // namespace

TEST(wire, with_another_size_than_its_bytes_fails_the_receive_and_names_the_rank) {
    for (const std::uint64_t told :
         {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{5}, std::uint64_t{16}, UINT64_MAX}) {
        spoken_for test;
        std::vector<std::byte> bytes(16, std::byte{1});
        const auto work = test.rank.receive(bytes, 1);
        test.rank.settle();
        test.hear({.what = wire_header::kind::eager, .tag = tag, .bytes = told}, 4);
        ASSERT_TRUE(work->complete());
        EXPECT_EQ(status_of(work), status::peer_failed);
        EXPECT_NE(message_of(work).find("from rank 1"), std::string::npos) << message_of(work);
        EXPECT_EQ(bytes, std::vector<std::byte>(16, std::byte{1}));
    }
}

TEST(wire, that_is_longer_than_any_message_is_left_out_and_the_next_is_heard) {
    spoken_for test;
    std::vector<std::byte> bytes(4);
    const auto work = test.rank.receive(bytes, 1);
    test.rank.settle();
    for (int i = 0; i < 6; ++i) test.hear({.what = wire_header::kind::eager, .tag = tag, .bytes = 1 << 20}, 1 << 20);
    EXPECT_FALSE(work->complete());
    test.hear({.what = wire_header::kind::eager, .tag = tag, .bytes = 4}, 4);
    ASSERT_TRUE(work->complete());
    EXPECT_EQ(status_of(work), status::complete);
}

TEST(wire, that_announces_blocks_of_no_size_fails_the_receive) {
    for (const std::uint64_t told : {std::uint64_t{0}, std::uint64_t{1} << 31, UINT64_MAX}) {
        spoken_for test;
        std::vector<std::byte> bytes(16);
        const auto work = test.rank.receive(bytes, 1);
        test.rank.settle();
        test.hear({.what = wire_header::kind::rts, .tag = tag, .bytes = 16, .block_bytes = told, .sender = 1});
        ASSERT_TRUE(work->complete());
        EXPECT_EQ(status_of(work), status::peer_failed);
    }
}

TEST(wire, that_accepts_blocks_of_no_size_fails_the_send_and_names_the_rank) {
    for (const std::uint64_t told : {std::uint64_t{0}, std::uint64_t{1} << 31, UINT64_MAX}) {
        spoken_for test;
        std::vector<std::byte> bytes(16);
        const auto work = test.rank.send(bytes, 1);
        test.rank.settle();
        test.hear({.what = wire_header::kind::cts,
                   .tag = tag,
                   .data_tag = 60,
                   .block_bytes = told,
                   .sender = 1,
                   .receiver = 1});
        ASSERT_TRUE(work->complete());
        EXPECT_EQ(status_of(work), status::peer_failed);
        EXPECT_NE(message_of(work).find("rank 1"), std::string::npos);
    }
}

TEST(wire, that_matches_nothing_of_the_protocol_is_told_and_left_out) {
    const std::pair<wire_header, const char*> cases[] = {
        {{.what = static_cast<wire_header::kind>(0), .tag = tag}, "kind"},
        {{.what = static_cast<wire_header::kind>(14), .tag = tag}, "kind"},
        {{.what = wire_header::kind::eager, .tag = endpoints::any_tag}, "wildcard"},
        {{.what = wire_header::kind::cts, .tag = tag, .data_tag = 3, .block_bytes = 4, .sender = 1}, "tag for blocks"},
        {{.what = wire_header::kind::cts, .tag = tag, .data_tag = fake_network::said_on, .block_bytes = 4, .sender = 1},
         "tag for blocks"}};
    for (const auto& [header, why] : cases) {
        SCOPED_TRACE(why);
        spoken_for test;
        std::vector<std::byte> in(16), out(16);
        const auto received = test.rank.receive(in, 1, endpoints::any_tag);
        const auto sent = test.rank.send(out, 1);
        test.rank.settle();
        test.hear(header);
        EXPECT_FALSE(received->complete());
        EXPECT_FALSE(sent->complete());
        test.network.kill(1);
        test.rank.messages.rank_gone(1);
        test.rank.settle();
    }
}

TEST(wire, from_a_third_rank_does_not_speak_for_the_other_side) {
    fake_network network(3);
    (void)spoken_for::go_by_messages();
    one_rank rank(network, 0);
    std::vector<std::byte> bytes(16);
    const auto work = rank.send(bytes, 1);
    rank.settle();
    for (const auto what :
         {wire_header::kind::cts, wire_header::kind::stop, wire_header::kind::refuse, wire_header::kind::done}) {
        network.inject(
            2, 0, bytes_of({.what = what, .tag = tag, .data_tag = 60, .block_bytes = 4, .sender = 1, .receiver = 1}));
        network.deliver(network.deliverable() - 1);
        rank.settle();
        EXPECT_FALSE(work->complete());
    }
    network.kill(1);
    rank.messages.rank_gone(1);
    rank.settle();
    EXPECT_TRUE(work->complete());
    network.kill(2);
    rank.messages.rank_gone(2);
    rank.settle();
}
