// SPDX-License-Identifier: Apache-2.0
// Blocks in memory that two ranks share: when they do, when they cannot, and what becomes of memory nobody may trust.
#include "endpoints/host/host_endpoint.hpp"
#include "endpoints/mpi/windows.hpp"
#include "unit/endpoints/two_ranks.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>
#include <map>
#include <utility>

using namespace unit;

namespace {

int memory_files_fail_with = 0;

} // namespace

// In front of that of the C library.
extern "C" int memfd_create(const char* name, unsigned flags) noexcept {
    static const auto real = reinterpret_cast<int (*)(const char*, unsigned)>(dlsym(RTLD_NEXT, "memfd_create"));
    if (memory_files_fail_with == 0) return real(name, flags);
    errno = memory_files_fail_with;
    return -1;
}

namespace {

class window : public by_strategy {
  protected:
    /// One message of four blocks each way; true if both arrive whole.
    static bool exchange(two_ranks& both, chooser& choices) {
        auto to_b = bench::pattern(14, 1), to_a = bench::pattern(14, 2);
        auto in_a = std::vector<std::byte>(14), in_b = std::vector<std::byte>(14);
        const auto received_a = both.a.receive(in_a, 1), received_b = both.b.receive(in_b, 0);
        const auto sent_a = both.a.send(to_b, 1), sent_b = both.b.send(to_a, 0);
        both.run(choices);
        for (const auto& each : {received_a, received_b, sent_a, sent_b}) {
            EXPECT_EQ(status_of(each), status::complete);
            strategies.insert(std::string(each->report().chosen.strategy));
        }
        return in_b == to_b && in_a == to_a;
    }
    void SetUp() override { strategies.clear(); }
    inline static std::set<std::string> strategies;
};

/// The segments in which so many blocks lie, and the bytes of all.
std::pair<std::size_t, std::size_t> segments_of(const char* staging, std::size_t block_bytes, std::size_t count) {
    options settings;
    settings.set("staging", staging);
    endpoints::windows all(settings, comm::shared_segment::open);
    const auto allocator = all.allocator_for(nullptr, block_bytes);
    std::vector<std::byte*> blocks;
    std::map<std::uint64_t, std::size_t> bytes;
    for (std::size_t i = 0; i < count; ++i) {
        blocks.push_back(allocator->allocate(block_bytes));
        const auto segment = allocator->address_of(blocks.back()).segment;
        bytes[segment.key] = segment.bytes;
    }
    for (auto* const each : blocks) allocator->release(each, block_bytes);
    std::size_t sum = 0;
    for (const auto& [key, one] : bytes) sum += one;
    return {bytes.size(), sum};
}

std::unique_ptr<comm::shared_segment> nothing(const comm::segment_address&) noexcept { return nullptr; }

} // namespace

TEST_P(window, carries_messages_both_ways_in_every_order) {
    explore(
        [&](chooser& choices) {
            two_ranks both;
            EXPECT_TRUE(exchange(both, choices));
            both.expect_quiet();
        },
        2000);
    EXPECT_EQ(strategies, std::set<std::string>{"shared-window"});
}

TEST_P(window, out_of_reach_leaves_messages_and_is_not_tried_again) {
    find_segment = nothing;
    explore(
        [&](chooser& choices) {
            two_ranks both;
            EXPECT_TRUE(exchange(both, choices));
            both.expect_quiet();
            strategies.clear();
            EXPECT_TRUE(exchange(both, choices));
            both.expect_quiet();
            EXPECT_EQ(strategies, std::set<std::string>{"pinned"}); // what it is called that small
        },
        2000);
}

TEST_P(window, out_of_reach_is_tried_again_after_a_good_number_of_messages) {
    static bool is_in_reach;
    is_in_reach = false;
    find_segment = [](const comm::segment_address& where) noexcept {
        return is_in_reach ? comm::shared_segment::open(where) : nullptr;
    };
    chooser choices;
    two_ranks both;
    for (int i = 0; i <= 16; ++i) {
        strategies.clear();
        EXPECT_TRUE(exchange(both, choices));
        if (i > 0) { // the first has planned otherwise
            EXPECT_EQ(strategies, std::set<std::string>{"pinned"}) << i;
        }
        is_in_reach = true;
    }
    strategies.clear();
    EXPECT_TRUE(exchange(both, choices));
    EXPECT_EQ(strategies, std::set<std::string>{"shared-window"});
    both.expect_quiet();
}

TEST_P(window, that_cannot_be_made_leaves_messages_and_is_tried_again) {
    for (const int error : {EMFILE, ENOSYS, EFBIG, EACCES, ENOSPC}) {
        memory_files_fail_with = error;
        chooser choices;
        two_ranks both;
        EXPECT_TRUE(exchange(both, choices)) << error;
        both.expect_quiet();
        EXPECT_EQ(strategies, std::set<std::string>{"pinned"});
        strategies.clear();
        memory_files_fail_with = 0;
        EXPECT_TRUE(exchange(both, choices));
        both.expect_quiet();
        EXPECT_EQ(strategies, std::set<std::string>{"shared-window"});
        strategies.clear();
    }
}

static bool near(endpoints::end_kind known) { return known != endpoints::end_kind::host; }

TEST_P(window, is_for_peers_of_this_node_whose_last_message_was_of_a_device) {
    for (const bool same_node : {true, false}) {
        chooser choices;
        two_ranks both{.node_of_b = same_node ? 1U : 2U};
        const auto sends = [&] { return near(both.a.messages.peers().near_receiver(0, 1)); };
        const auto receives = [&](int from) { return near(both.b.messages.peers().near_sender(0, from)); };
        EXPECT_FALSE(sends() || receives(0) || receives(endpoints::any_source)) << "nothing is known yet";
        EXPECT_TRUE(exchange(both, choices));
        EXPECT_EQ(sends(), same_node);
        EXPECT_EQ(receives(0), same_node);
        EXPECT_EQ(receives(endpoints::any_source), same_node);
        // From host memory to host memory.
        auto out = bench::pattern(14, 3), in = std::vector<std::byte>(14);
        const auto received = bench::make(
            endpoints::make_receive_endpoint({both.b.messages, both.b.turns}, 0, 0, tag, nullptr),
            endpoints::make_host_endpoint(in.data()), in.size(), nullptr);
        const auto sent = bench::make(endpoints::make_host_endpoint(out.data()),
                                      endpoints::make_send_endpoint({both.a.messages, both.a.turns}, 0, 1, tag),
                                      out.size(), nullptr);
        both.b.machine.submit(received);
        both.a.machine.submit(sent);
        both.run(choices);
        EXPECT_EQ(status_of(received), status::complete);
        EXPECT_EQ(in, out);
        EXPECT_FALSE(sends() || receives(0) || receives(endpoints::any_source));
        both.expect_quiet();
        strategies.clear();
    }
}

TEST_P(window, is_not_planned_for_a_while_where_memory_cannot_be_shared) {
    find_segment = [](const comm::segment_address&) noexcept { return std::unique_ptr<comm::shared_segment>(); };
    chooser choices;
    two_ranks both;
    EXPECT_TRUE(exchange(both, choices));
    EXPECT_FALSE(near(both.b.messages.peers().near_sender(0, endpoints::any_source)));
    unsigned without = 0;
    while (!near(both.a.messages.peers().near_receiver(0, 1)) && without < 100) ++without;
    EXPECT_EQ(without, 16U);
    both.expect_quiet();
}

TEST_P(window, is_not_even_tried_between_nodes) {
    find_segment = [](const comm::segment_address&) noexcept {
        ADD_FAILURE() << "looked for";
        return std::unique_ptr<comm::shared_segment>();
    };
    explore(
        [&](chooser& choices) {
            two_ranks both{.node_of_b = 2};
            EXPECT_TRUE(exchange(both, choices));
            both.expect_quiet();
        },
        2000);
    EXPECT_EQ(strategies, std::set<std::string>{"pinned"});
}

TEST_P(window, memory_of_a_sender_that_is_gone_is_not_used_again) {
    two_ranks both;
    auto sent = bench::pattern(14), got = std::vector<std::byte>(14);
    const auto receive = both.b.receive(got, 0);
    const auto send = both.a.send(sent, 1);
    both.settle();
    both.network.deliver(0); // the request
    both.settle();
    both.network.kill(0);
    both.b.messages.rank_gone(0);
    both.settle();
    EXPECT_EQ(status_of(receive), status::peer_failed);
    EXPECT_EQ(both.b.machine.staging().held_bytes(), 0u);
    EXPECT_EQ(both.b.machine.staging().cached_bytes(), 0u) << "a dead process may still be copying into it";
    both.a.messages.rank_gone(1);
    both.settle();
    EXPECT_EQ(status_of(send), status::peer_failed);
    both.network.forget_undelivered();
}

namespace {

class device_window : public by_strategy {
  protected:
    device_window() {
        name = "device-window";
        both = std::make_unique<two_ranks>();
    }
    /// A message from a to b in blocks of the library's choice.
    std::string strategy_of_a_message(std::size_t bytes) {
        const auto sent = bench::pattern(bytes);
        auto out = sent, in = std::vector<std::byte>(bytes);
        const auto receive = both->b.receive(in, 0);
        const auto send = both->a.send(out, 1);
        chooser choices;
        both->run(choices);
        EXPECT_EQ(status_of(send), status::complete) << send->report().error.message;
        EXPECT_EQ(status_of(receive), status::complete) << receive->report().error.message;
        EXPECT_TRUE(in == sent);
        both->expect_quiet();
        return std::string(send->report().chosen.strategy);
    }
    /// As it is before the first message.
    void forget() {
        both->a.messages.devices().forget(1);
        both->b.messages.devices().forget(0);
    }
    /// Of two devices, the second called {1}, both open at a.
    std::vector<std::shared_ptr<windowed_device>> windows_of_b() {
        const auto first = both->b.window;
        both->b.window = std::make_shared<windowed_device>(both->b.windows, both->b.settings, both->b.clock,
                                                           bridge::device_uuid{1});
        both->b.show_window(1, both->a, 0);
        return {first, both->b.window};
    }
    std::unique_ptr<two_ranks> both;
};

/// Host memory, but one device is reached by none.
class bridge_that_misses final : public bridge::device_bridge {
  public:
    explicit bridge_that_misses(const bridge::device_uuid& device) : m_missed(device) {}
    [[nodiscard]] std::string name() const override { return m_inner->name(); }
    [[nodiscard]] bool has(const bridge::device_uuid& device) const override { return m_inner->has(device); }
    [[nodiscard]] bool reaches(const bridge::device_uuid&, const bridge::device_uuid& to) const override {
        return to != m_missed;
    }
    [[nodiscard]] bool host_memory() const override { return true; }
    [[nodiscard]] std::size_t rounded(std::size_t bytes) const override { return m_inner->rounded(bytes); }
    [[nodiscard]] std::unique_ptr<bridge::window> create(const bridge::device_uuid& device,
                                                         std::size_t bytes) override {
        return m_inner->create(device, bytes);
    }
    [[nodiscard]] std::unique_ptr<bridge::window> open(const bridge::device_uuid& device, descriptor shared,
                                                       std::size_t bytes) override {
        return m_inner->open(device, std::move(shared), bytes);
    }
    [[nodiscard]] bridge::copy_number begin_copy(const bridge::device_uuid& by, std::byte* to, const std::byte* from,
                                                 std::size_t bytes) override {
        return m_inner->begin_copy(by, to, from, bytes);
    }
    [[nodiscard]] bridge::copy_state look(bridge::copy_number which) override { return m_inner->look(which); }

  private:
    std::unique_ptr<bridge::device_bridge> m_inner = bridge::make_host_bridge();
    bridge::device_uuid m_missed;
};

const auto any_device = [](const bridge::device_uuid&) { return true; };

} // namespace

TEST_P(device_window, is_offered_with_the_first_message_and_used_from_then_on) {
    forget();
    EXPECT_EQ(strategy_of_a_message(10), "pipelined") << "nothing is known of the other rank's device";
    EXPECT_EQ(strategy_of_a_message(10), "pipelined") << "it is offered";
    EXPECT_EQ(strategy_of_a_message(10), "device-window");
}

TEST_P(device_window, moves_in_the_smaller_blocks_of_the_two_ends_wherever_their_buffers_lie) {
    for (const auto& [larger, smaller] : {std::pair{&both->a, &both->b}, {&both->b, &both->a}})
        for (const auto sender : {home::ordinary, home::in_window})
            for (const auto receiver : {home::ordinary, home::in_window}) {
                larger->settings.set("block", "8");
                smaller->settings.set("block", "4");
                const auto sent = bench::pattern(30);
                auto out = sent, in = std::vector<std::byte>(sent.size());
                where = sender;
                const auto send = both->a.send(out, 1);
                where = receiver;
                const auto receive = both->b.receive(in, 0);
                chooser choices;
                both->run(choices);
                EXPECT_TRUE(in == sent);
                for (const auto& each : {send, receive}) {
                    EXPECT_EQ(status_of(each), status::complete) << each->report().error.message;
                    EXPECT_EQ(each->report().chosen.strategy, "device-window");
                    EXPECT_EQ(each->report().chosen.block_bytes, 4u);
                }
                both->expect_quiet();
            }
}

TEST_P(device_window, is_offered_with_messages_that_carry_their_bytes_and_used_for_larger_ones) {
    forget();
    for (auto* const rank : {&both->a, &both->b})
        for (const char* const name : {"eager", "block"}) rank->settings.set(name, "65536");
    EXPECT_EQ(strategy_of_a_message(20'000), "pipelined") << "nothing is known of the other rank's device";
    for (int i = 0; i < 2; ++i) (void)strategy_of_a_message(10);
    EXPECT_EQ(strategy_of_a_message(20'000), "device-window");
}

TEST_P(device_window, is_filled_by_a_message_whichever_device_of_the_rank_it_is_of) {
    for (const auto& each : windows_of_b()) {
        both->b.window = each;
        EXPECT_EQ(strategy_of_a_message(10), "device-window");
        EXPECT_NE(each->memory->first()[0], std::byte{0});
    }
}

TEST_P(device_window, that_the_senders_device_does_not_reach_is_left_to_others) {
    both->a.windows.use(std::make_unique<bridge_that_misses>(bridge::device_uuid{1}));
    const auto of_b = windows_of_b();
    both->b.window = of_b[1];
    (void)strategy_of_a_message(10);
    EXPECT_EQ(of_b[1]->memory->first()[0], std::byte{0}) << "nothing came there";
    both->b.window = of_b[0];
    EXPECT_EQ(strategy_of_a_message(10), "device-window");
}

TEST_P(device_window, that_no_device_of_the_sender_reaches_is_planned_for_a_few_messages_only) {
    forget();
    const auto& devices = both->b.messages.devices();
    const bridge::device_uuid missed{1};
    both->b.window = std::make_shared<windowed_device>(both->b.windows, both->b.settings, both->b.clock, missed);
    both->a.windows.use(std::make_unique<bridge_that_misses>(missed));
    EXPECT_EQ(strategy_of_a_message(10), "pipelined");
    EXPECT_TRUE(devices.may_fill(0)) << "it is offered";
    for (int i = 0; i < 6; ++i) EXPECT_EQ(strategy_of_a_message(10), "pipelined");
    EXPECT_FALSE(devices.may_fill(0));
    // Another device of that rank has a link.
    both->a.windows.use(bridge::make_host_bridge());
    for (int i = 0; i < 2; ++i) (void)strategy_of_a_message(10);
    EXPECT_TRUE(devices.may_fill(0));
}

TEST_P(device_window, of_one_side_alone_leaves_messages_in_blocks_of_the_receivers_size) {
    both->b.window = nullptr;
    by_strategy::find_segment = nothing;
    both->a.settings.set("block", "0");
    both->b.settings.set("block", "1048576");
    EXPECT_EQ(strategy_of_a_message(std::size_t{3} << 20), "pipelined");
}

TEST_P(device_window, is_of_a_device_that_others_use_if_their_messages_come_from_it) {
    std::uint8_t number = 7;
    for (const char* const eager : {"65536", "0"}) {
        const bridge::device_uuid device{++number};
        both->a.window = std::make_shared<windowed_device>(both->a.windows, both->a.settings, both->a.clock, device);
        both->a.settings.set("eager", eager);
        EXPECT_FALSE(both->b.windows.is_used_elsewhere(device));
        (void)strategy_of_a_message(10);
        EXPECT_TRUE(both->b.windows.is_used_elsewhere(device)) << eager;
    }
    // A rank's message to itself is of no other process.
    const bridge::device_uuid own{77};
    both->b.window = std::make_shared<windowed_device>(both->b.windows, both->b.settings, both->b.clock, own);
    auto out = bench::pattern(10), in = std::vector<std::byte>(10);
    const auto receive = both->b.receive(in, 1);
    const auto send = both->b.send(out, 1);
    chooser choices;
    both->run(choices);
    EXPECT_EQ(status_of(receive), status::complete) << receive->report().error.message;
    EXPECT_TRUE(in == out);
    EXPECT_FALSE(both->b.windows.is_used_elsewhere(own));
}

TEST_P(device_window, that_is_gone_is_retired_at_the_other_rank) {
    forget();
    for (int i = 0; i < 2; ++i) (void)strategy_of_a_message(10);
    EXPECT_EQ(strategy_of_a_message(10), "device-window");
    const auto rank_of_b = 1;
    EXPECT_TRUE(both->a.messages.devices().find_device(rank_of_b, any_device).has_value());
    const std::weak_ptr<arrivals> gone = both->b.window->memory;
    both->b.window = nullptr;
    EXPECT_TRUE(gone.expired());
    // Idle for longer than things are kept; nothing of it is a message.
    for (int i = 0; i < 3; ++i)
        for (auto* const rank : {&both->b, &both->a}) {
            rank->clock.advance(std::chrono::seconds(10));
            rank->settle();
        }
    EXPECT_EQ(both->network.deliverable(), 0u);
    EXPECT_FALSE(both->a.messages.devices().find_device(rank_of_b, any_device).has_value());
    EXPECT_EQ(strategy_of_a_message(10), "pipelined");
}

INSTANTIATE_TEST_SUITE_P(, device_window, ::testing::Values(way_of_blocks{"between_two_ranks", "device-window"}),
                         title_of);
INSTANTIATE_TEST_SUITE_P(, window, ::testing::Values(way_of_blocks{"between_two_ranks", "shared-window"}), title_of);

TEST(window_memory, is_shared_by_blocks_as_each_segment_costs_a_descriptor) {
    constexpr std::size_t kib = 1 << 10;
    EXPECT_EQ(segments_of("256M", 4 * kib, 16), std::pair(std::size_t{1}, 64 * kib));
    EXPECT_EQ(segments_of("256M", 1024 * kib, 5), std::pair(std::size_t{2}, 8 * 1024 * kib));
    EXPECT_EQ(segments_of("256M", 5 * 1024 * kib, 2), std::pair(std::size_t{2}, 10 * 1024 * kib));
}

TEST(window_memory, is_hardly_more_than_staging_memory_may_be) {
    constexpr std::size_t kib = 1 << 10;
    for (const std::size_t count : {1, 2, 13, 16}) {
        EXPECT_LE(segments_of("64K", 4 * kib, count).second, count * 4 * kib + 64 * kib / 16);
        EXPECT_LE(segments_of("1M", 4 * kib, count).second, count * 4 * kib + 1024 * kib / 16);
    }
}
