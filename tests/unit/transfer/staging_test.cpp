// SPDX-License-Identifier: Apache-2.0
// Staging memory: the cap, the line, and who may hold what.
#include "transfer/staging.hpp"
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace unit;

namespace {

struct pool_bench {
    pool_bench(const char* cap) { settings.set("staging", cap); }
    options settings;
    fake_clock clock;
    staging_pool pool{settings, clock};
    std::unique_ptr<staging_share> share(std::size_t block,
                                         staging_share::waits_for whom = staging_share::waits_for::nobody) {
        return std::make_unique<staging_share>(pool, nullptr, block, whom, [this] { ++calls; });
    }
    std::unique_ptr<staging_share> share(std::size_t block, staging_share::needs wanted,
                                         staging_share::waits_for whom = staging_share::waits_for::nobody) {
        return std::make_unique<staging_share>(pool, nullptr, block, whom, [this] { ++calls; }, wanted);
    }
    /// Of a message that takes one block, or of one that takes more.
    std::unique_ptr<staging_share> receive(std::size_t block, staging_share::needs wanted) {
        return share(block, wanted, staging_share::waits_for::sender);
    }
    int calls = 0;
};

class failing_allocator final : public staging_allocator {
  public:
    [[nodiscard]] std::byte* allocate(std::size_t) override { throw std::bad_alloc(); }
    void release(std::byte*, std::size_t) noexcept override {}
};

/// Takes a block and gives it back, if there is one.
bool gives_one(const std::unique_ptr<staging_share>& share) {
    auto* const block = share->acquire();
    if (block != nullptr) share->release(block);
    return block != nullptr;
}

} // namespace

TEST(staging_pool, never_holds_more_than_its_cap) {
    pool_bench on("16K");
    auto share = on.share(4096);
    std::vector<std::byte*> blocks;
    while (auto* const block = share->acquire()) blocks.push_back(block);
    EXPECT_EQ(blocks.size(), 4u);
    EXPECT_EQ(on.pool.held_bytes(), 16384u);
    for (auto* const block : blocks) share->release(block);
}

TEST(staging_pool, gives_first_blocks_in_order_of_arrival) {
    pool_bench on("8K");
    auto a = on.share(4096), b = on.share(4096), c = on.share(4096), d = on.share(4096);
    auto* const first = a->acquire();
    auto* const second = b->acquire();
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(c->acquire());
    EXPECT_FALSE(d->acquire());
    a->release(first);
    a.reset();
    EXPECT_FALSE(d->acquire());
    auto* const third = c->acquire();
    EXPECT_TRUE(third);
    b->release(second);
    c->release(third);
}

TEST(staging_pool, takes_no_second_block_while_others_have_none) {
    pool_bench on("12K");
    auto a = on.share(4096), big = on.share(8192);
    auto* const one = a->acquire();
    auto* const two = a->acquire();
    ASSERT_TRUE(one && two);
    EXPECT_FALSE(big->acquire());
    EXPECT_FALSE(a->acquire());
    a->release(two);
    EXPECT_GT(on.calls, 0);
    auto* const large = big->acquire();
    EXPECT_TRUE(large);
    a->release(one);
    big->release(large);
}

TEST(staging_pool, gives_the_last_block_of_one_to_another_after_a_turn) {
    pool_bench on("8K");
    auto a = on.share(8192), b = on.share(8192);
    auto* block = a->acquire();
    ASSERT_TRUE(block);
    EXPECT_FALSE(b->acquire());
    for (int i = 0; i < 3; ++i) {
        a->release(block);
        block = a->acquire();
        ASSERT_TRUE(block) << "its turn is not over";
    }
    a->release(block);
    EXPECT_EQ(on.calls, 1);
    EXPECT_FALSE(a->acquire());
    block = b->acquire();
    ASSERT_TRUE(block);
    b->release(block);
    b.reset();
    EXPECT_TRUE(gives_one(a));
}

TEST(staging_pool, gives_no_last_block_to_one_whose_own_the_cap_does_not_hold) {
    pool_bench on("16K");
    auto a = on.share(4096), b = on.share(4096), large = on.share(16384, staging_share::needs::one_block);
    auto* const first = a->acquire();
    auto* const other = b->acquire();
    EXPECT_FALSE(large->acquire());
    a->release(first);
    EXPECT_LE(on.pool.held_bytes(), 16384U);
    EXPECT_TRUE(gives_one(a)) << "it keeps what it has";
    a.reset();
    b->release(other);
    b.reset();
    EXPECT_TRUE(gives_one(large));
}

TEST(staging_pool, gives_one_that_needs_a_single_block_the_next_that_is_free) {
    pool_bench on("8K");
    auto a = on.share(8192), b = on.share(8192), small = on.share(1024, staging_share::needs::one_block);
    auto* const block = a->acquire();
    ASSERT_TRUE(block);
    EXPECT_FALSE(b->acquire());
    EXPECT_FALSE(small->acquire());
    a->release(block);
    EXPECT_TRUE(gives_one(small));
}

TEST(staging_pool, lets_nobody_be_passed_for_ever) {
    pool_bench on("8K");
    auto holder = on.share(8192), large = on.share(8192);
    auto* const block = holder->acquire();
    EXPECT_FALSE(large->acquire());
    std::vector<std::unique_ptr<staging_share>> small;
    for (int i = 0; i < 20; ++i) {
        small.push_back(on.share(8192, staging_share::needs::one_block));
        EXPECT_FALSE(small.back()->acquire());
    }
    holder->release(block);
    int before = 0;
    for (; before < 20; ++before) {
        auto* const mine = small[std::size_t(before)]->acquire();
        if (mine == nullptr) break;
        small[std::size_t(before)]->release(mine);
        small[std::size_t(before)].reset();
    }
    EXPECT_EQ(before, 8);
    EXPECT_TRUE(gives_one(large));
}

TEST(staging_pool, keeps_the_last_block_of_one_that_waits_for_a_sender) {
    pool_bench on("8K");
    auto receive = on.share(4096, staging_share::waits_for::sender);
    auto other = on.share(4096, staging_share::waits_for::sender);
    auto* const block = receive->acquire();
    EXPECT_FALSE(other->acquire());
    for (int i = 0; i < 10; ++i) {
        receive->release(block);
        ASSERT_EQ(receive->acquire(), block) << "its sender has been promised this memory";
    }
    EXPECT_FALSE(other->acquire());
    receive->release(block);
}

TEST(staging_pool, leaves_half_to_flows_that_wait_for_nobody) {
    pool_bench on("8K");
    constexpr auto sender = staging_share::waits_for::sender;
    auto in = on.share(4096, sender), in_too = on.share(4096, sender), out = on.share(4096);
    auto* const first = in->acquire();
    EXPECT_TRUE(first);
    EXPECT_FALSE(in_too->acquire());
    auto* const second = out->acquire();
    EXPECT_TRUE(second);
    in->release(first);
    out->release(second);
}

TEST(staging_pool, lets_a_small_receive_pass_large_ones_that_hold_all_they_may) {
    using needs = staging_share::needs;
    pool_bench on("256M");
    std::vector<std::unique_ptr<staging_share>> large;
    std::vector<std::byte*> held;
    for (int i = 0; i < 32; ++i) {
        large.push_back(on.receive(4 << 20, needs::several));
        if (auto* const block = large.back()->acquire()) held.push_back(block);
    }
    EXPECT_LT(held.size(), large.size()) << "some wait for the others";
    EXPECT_TRUE(gives_one(on.receive(100 << 10, needs::one_block)));
    EXPECT_LE(on.pool.held_bytes(), std::size_t{128} << 20) << "receives leave half to sends";
    for (std::size_t i = 0; i < held.size(); ++i) large[i]->release(held[i]);
}

TEST(staging_pool, lets_large_receives_on_whatever_small_ones_do) {
    using needs = staging_share::needs;
    constexpr std::size_t kib = 1 << 10;
    pool_bench on("16M");
    auto first = on.receive(7 << 20, needs::several), second = on.receive(7 << 20, needs::several);
    auto* const block = first->acquire();
    ASSERT_TRUE(block);
    EXPECT_FALSE(second->acquire());
    std::vector<std::unique_ptr<staging_share>> small;
    std::vector<std::byte*> held;
    for (int i = 0; i < 12; ++i) {
        small.push_back(on.receive(128 * kib, needs::one_block));
        if (auto* const one = small.back()->acquire()) held.push_back(one);
    }
    EXPECT_EQ(held.size(), 8U) << "a sixteenth of the cap";
    const int calls = on.calls;
    small[0]->release(held[0]);
    small[0].reset();
    EXPECT_GT(on.calls, calls) << "the next small one hears of it";
    EXPECT_TRUE(gives_one(small[8]));
    // The large one was first in line, and nothing of what it waits for went to those behind it.
    first->release(block);
    first.reset();
    EXPECT_TRUE(gives_one(second));
    for (std::size_t i = 1; i < held.size(); ++i) small[i]->release(held[i]);
}

TEST(staging_pool, sets_nothing_aside_for_one_block_that_is_large) {
    using needs = staging_share::needs;
    pool_bench on("16M");
    auto large = on.receive(7 << 20, needs::several), single = on.receive(1 << 20, needs::one_block);
    auto* const block = large->acquire();
    ASSERT_TRUE(block);
    EXPECT_FALSE(single->acquire()) << "it would take all that is there for small ones";
    large->release(block);
}

TEST(staging_pool, gives_all_of_memory_with_a_cap_of_its_own_to_flows_that_wait_for_senders) {
    pool_bench on("1M");
    staging_pool window(on.settings, on.clock, 16384);
    staging_share in(window, nullptr, 4096, staging_share::waits_for::sender, [] {});
    std::vector<std::byte*> blocks;
    while (auto* const block = in.acquire()) blocks.push_back(block);
    EXPECT_EQ(blocks.size(), 4u);
    for (auto* const block : blocks) in.release(block);
}

TEST(staging_pool, leaves_half_to_the_reader_of_a_pipe_whose_writer_waits_for_it) {
    pool_bench on("8K");
    auto writer = on.share(4096, staging_share::waits_for::receiver);
    auto reader = on.share(4096, staging_share::waits_for::sender);
    auto* const first = writer->acquire();
    EXPECT_TRUE(first);
    EXPECT_FALSE(writer->acquire());
    auto* const second = reader->acquire();
    EXPECT_TRUE(second);
    writer->release(first);
    reader->release(second);
}

TEST(staging_pool, gives_a_block_that_was_planned_under_a_larger_cap_when_nobody_holds_any) {
    pool_bench on("8K");
    auto large = on.share(65536);
    auto* const block = large->acquire();
    EXPECT_TRUE(block);
    auto other = on.share(4096);
    EXPECT_FALSE(other->acquire());
    large->release(block);
}

TEST(staging_pool, gives_one_flow_of_each_kind_a_block_whatever_the_others_hold) {
    using kind = staging_share::waits_for;
    const kind kinds[] = {kind::nobody, kind::sender, kind::receiver};
    for (const kind last : kinds) {
        pool_bench on("8K");
        std::vector<std::pair<std::unique_ptr<staging_share>, std::byte*>> stuck;
        for (const kind other : kinds) {
            if (other == last) continue;
            auto made = on.share(4096, other);
            auto* const held = made->acquire();
            ASSERT_TRUE(held);
            stuck.emplace_back(std::move(made), held);
        }
        auto share = on.share(4096, last), second = on.share(4096, last);
        auto* const block = share->acquire();
        EXPECT_TRUE(block) << "the stuck flows may be waiting for this one";
        EXPECT_FALSE(second->acquire()) << "beyond the cap without need";
        share->release(block);
        for (auto& [waiting, held] : stuck) waiting->release(held);
    }
}

TEST(staging_pool, serves_other_kinds_when_the_cap_is_lowered_below_what_one_holds) {
    pool_bench on("64K");
    auto stuck = on.share(4096, staging_share::waits_for::sender), other = on.share(4096);
    std::vector<std::byte*> held;
    for (int i = 0; i < 8; ++i) held.push_back(stuck->acquire());
    ASSERT_TRUE(held.back());
    on.settings.set("staging", "8K");
    auto* const block = other->acquire();
    EXPECT_TRUE(block);
    EXPECT_FALSE(other->acquire());
    other->release(block);
    for (auto* const each : held) stuck->release(each);
}

TEST(staging_pool, keeps_freed_memory_for_a_while_only) {
    pool_bench on("1M");
    {
        auto share = on.share(4096);
        share->release(share->acquire());
    }
    EXPECT_EQ(on.pool.cached_bytes(), 4096u);
    EXPECT_TRUE(on.pool.trim());
    on.clock.advance(std::chrono::seconds(10));
    EXPECT_FALSE(on.pool.trim());
    EXPECT_EQ(on.pool.cached_bytes(), 0u);
}

TEST(staging_pool, frees_kept_memory_of_other_sizes_when_the_cap_is_near) {
    pool_bench on("8K");
    {
        auto share = on.share(4096);
        auto* const one = share->acquire();
        auto* const two = share->acquire();
        share->release(one);
        share->release(two);
    }
    auto other = on.share(2048);
    auto* const block = other->acquire();
    EXPECT_TRUE(block);
    EXPECT_LE(on.pool.held_bytes() + on.pool.cached_bytes(), 8192u);
    other->release(block);
}

TEST(staging_pool, survives_an_allocator_that_fails) {
    pool_bench on("8K");
    {
        staging_share broken(on.pool, std::make_shared<failing_allocator>(), 4096, staging_share::waits_for::nobody,
                             [] {});
        EXPECT_THROW((void)broken.acquire(), std::bad_alloc);
    }
    auto share = on.share(4096);
    auto* const block = share->acquire();
    EXPECT_TRUE(block);
    share->release(block);
    EXPECT_EQ(on.pool.held_bytes(), 4096u);
}

TEST(staging_pool, lets_random_flows_of_any_size_finish_at_a_cap_of_two_blocks) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        pool_bench on("8K");
        std::mt19937 random(seed);
        struct flow_like {
            std::unique_ptr<staging_share> share;
            int blocks_left;
            std::vector<std::byte*> held;
        };
        std::vector<flow_like> flows;
        for (int i = 0; i < 16; ++i)
            flows.push_back({on.share(std::size_t{1} << (8 + random() % 5)), static_cast<int>(1 + random() % 9), {}});
        for (int rounds = 0; !flows.empty(); ++rounds) {
            ASSERT_LT(rounds, 10000) << "seed " << seed;
            bool progress = false;
            for (auto& each : flows) {
                while (static_cast<int>(each.held.size()) < std::min(each.blocks_left, 4)) {
                    auto* const block = each.share->acquire();
                    if (block == nullptr) break;
                    each.held.push_back(block);
                    progress = true;
                }
                if (each.held.empty()) continue;
                each.share->release(each.held.back());
                each.held.pop_back();
                --each.blocks_left;
                progress = true;
            }
            std::erase_if(flows, [](const auto& each) { return each.blocks_left == 0 && each.held.empty(); });
            ASSERT_TRUE(progress) << "seed " << seed;
        }
        EXPECT_EQ(on.pool.held_bytes(), 0u);
    }
}

TEST(staging_pool, counts_no_block_of_a_gated_flow_as_progress_of_its_kind) {
    using kind = staging_share::waits_for;
    pool_bench on("16M");
    constexpr std::size_t block = 1 << 20;
    auto gated = on.share(block), running = on.share(block);
    auto in = on.share(block, kind::sender), out = on.share(block, kind::receiver);
    auto* const ahead = gated->acquire_early(staging_share::early::at_once);
    ASSERT_TRUE(ahead);
    std::vector<std::byte*> received, written;
    while (auto* const next = in->acquire()) received.push_back(next);
    while (auto* const next = out->acquire()) written.push_back(next);
    auto* const first = running->acquire();
    EXPECT_TRUE(first) << "the others may be waiting for this one";
    if (first != nullptr) running->release(first);
    for (auto* const each : received) in->release(each);
    for (auto* const each : written) out->release(each);
    gated->release(ahead);
}

TEST(staging_pool, gives_a_few_that_are_early_a_block_each_and_others_when_these_start_or_end) {
    pool_bench on("64M");
    std::vector<std::unique_ptr<staging_share>> shares;
    std::vector<std::byte*> blocks;
    for (int i = 0; i < 8; ++i) {
        shares.push_back(on.share(4096));
        blocks.push_back(shares.back()->acquire_early(staging_share::early::in_turn));
        EXPECT_EQ(blocks.back() != nullptr, i < 4);
        EXPECT_EQ(shares.back()->waits_to_be_early(), i >= 4);
    }
    EXPECT_EQ(on.calls, 0);
    shares[1]->started();
    EXPECT_EQ(on.calls, 1);
    EXPECT_FALSE(on.share(4096)->acquire_early(staging_share::early::in_turn)) << "others came before";
    blocks[4] = shares[4]->acquire_early(staging_share::early::in_turn);
    EXPECT_TRUE(blocks[4]);
    EXPECT_FALSE(shares[4]->waits_to_be_early());
    // One that waits may end, or start without having been early; one that is early may end.
    shares[5].reset();
    shares[6]->started();
    on.calls = 0;
    shares[0]->release(blocks[0]);
    shares[0].reset();
    EXPECT_EQ(on.calls, 1);
    blocks[7] = shares[7]->acquire_early(staging_share::early::in_turn);
    EXPECT_TRUE(blocks[7]);
    for (const auto i : {1u, 2u, 3u, 4u, 7u}) shares[i]->release(blocks[i]);
    shares.clear();
    EXPECT_EQ(on.pool.held_bytes(), 0u);
}

TEST(staging_pool, counts_what_was_acquired_ahead_as_any_other_block_once_it_has_started) {
    pool_bench on("16M");
    constexpr std::size_t block = 1 << 20;
    auto one = on.share(block), other = on.share(block);
    auto* const first = one->acquire_early(staging_share::early::at_once);
    ASSERT_TRUE(first);
    EXPECT_FALSE(other->acquire_early(staging_share::early::at_once));
    one->started();
    auto* const second = other->acquire_early(staging_share::early::at_once);
    EXPECT_TRUE(second);
    one->release(first);
    if (second != nullptr) other->release(second);
}

TEST(staging_pool, leaves_others_their_memory_however_many_of_a_class_began_early) {
    using kind = staging_share::waits_for;
    pool_bench on("16M");
    constexpr std::size_t block = 1 << 20;
    std::vector<std::unique_ptr<staging_share>> sends, receives;
    for (int i = 0; i < 40; ++i) {
        sends.push_back(on.share(block, staging_share::needs::one_block, kind::receiver));
        auto* const early = sends.back()->acquire_early(staging_share::early::at_once);
        sends.back()->started();
        if (early != nullptr) sends.back()->keep(early);
    }
    EXPECT_EQ(on.pool.held_bytes(), 8 * block);
    for (int i = 0; i < 7; ++i) {
        receives.push_back(on.receive(block, staging_share::needs::one_block));
        auto* const first = receives.back()->acquire();
        EXPECT_TRUE(first) << i;
        if (first != nullptr) receives.back()->keep(first);
    }
}

TEST(staging_pool, lets_none_begin_early_before_one_that_stands_in_line) {
    pool_bench on("16M");
    constexpr std::size_t mib = 1 << 20;
    auto first = on.share(6 * mib), second = on.share(5 * mib), large = on.share(7 * mib);
    first->keep(first->acquire());
    second->keep(second->acquire());
    EXPECT_FALSE(large->acquire());
    std::vector<std::unique_ptr<staging_share>> small;
    for (int i = 0; i < 5; ++i) {
        small.push_back(on.share(mib, staging_share::needs::one_block));
        auto* const early = small.back()->acquire_early(staging_share::early::at_once);
        EXPECT_FALSE(early);
        small.back()->started();
        if (early != nullptr) small.back()->keep(early);
    }
    second.reset();
    EXPECT_TRUE(gives_one(large));
}
