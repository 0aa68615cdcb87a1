// SPDX-License-Identifier: Apache-2.0
// What docs/memory-model.md says is never seen: two stepped engines, in every order in which they and their sources can
// go on.
#include "endpoints/host/host_endpoint.hpp"
#include "endpoints/symmetric/symmetric_endpoint.hpp"
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

using namespace unit;

namespace {

constexpr std::size_t heap_bytes = 64;

/// Two heaps in one process, and an engine for each.
class two_pes {
  public:
    struct pe {
        explicit pe(const monotonic_clock& clock) : machine(settings, clock, 1) { machine.add(waits); }
        options settings;
        transfer::engine machine;
        endpoints::heap_waits waits;
        std::shared_ptr<endpoints::heap> memory;
    };

    two_pes() {
        for (int own = 0; own < 2; ++own) {
            std::vector<endpoints::heap_member> members(2);
            for (std::size_t i = 0; i < 2; ++i) {
                members[i].control = m_memory[i].control.data();
                members[i].memory = m_memory[i].heap.data();
            }
            all[own]->memory = std::make_shared<endpoints::heap>(all[own]->waits, own, heap_bytes, std::move(members));
        }
    }
    ~two_pes() {
        for (auto& each : all) {
            each->machine.cancel_all({status::cancelled, 0, 0, "the test is over"});
            for (int i = 0; i < 4; ++i) each->machine.step();
        }
        while (steps.count() > 0) steps.finish(0);
    }

    std::shared_ptr<command> submit(int pe, std::unique_ptr<endpoint> source, std::unique_ptr<endpoint> target,
                                    std::size_t bytes, std::vector<std::shared_ptr<command>> after = {}) {
        std::vector<std::unique_ptr<flow>> flows;
        flows.push_back(std::make_unique<flow>(std::move(source), std::move(target), bytes));
        auto work = std::make_shared<command>(std::move(flows), nullptr, std::vector<std::unique_ptr<gate>>{},
                                              std::move(after));
        all[pe]->machine.submit(work);
        return work;
    }
    /// Its source gives `value` when the test says so.
    std::shared_ptr<command> put(int from, int to, std::size_t offset, std::uint64_t value,
                                 std::optional<endpoints::heap_signal> then = {},
                                 std::vector<std::shared_ptr<command>> after = {}) {
        auto& source = m_sources.emplace_back(std::make_unique<one_source>());
        source->bytes.resize(8);
        std::memcpy(source->bytes.data(), &value, 8);
        return submit(from,
                      std::make_unique<fake_endpoint>(steps, source->bytes, endpoint_traits{.kind = medium::device},
                                                      source->seen),
                      endpoints::make_put_target(all[from]->memory, {to, offset}, then), 8, std::move(after));
    }
    std::shared_ptr<command> signal(int from, int to, std::size_t offset, std::uint64_t value,
                                    std::vector<std::shared_ptr<command>> after = {}) {
        return submit(from, endpoints::make_empty_endpoint("signal"),
                      endpoints::make_put_target(all[from]->memory, {to, offset},
                                                 endpoints::heap_signal{.offset = offset, .value = value}),
                      0, std::move(after));
    }
    std::shared_ptr<command> fence(int pe, endpoints::fence_kind kind) {
        return submit(pe, endpoints::make_fence(all[pe]->memory, kind), endpoints::make_empty_endpoint("fence"), 0);
    }
    std::shared_ptr<command> barrier(int pe) {
        return submit(pe, endpoints::make_meeting(all[pe]->memory, {.name = "a barrier", .number = 1}),
                      endpoints::make_empty_endpoint("barrier"), 0);
    }
    std::shared_ptr<command> wait(int pe, std::size_t offset, std::uint64_t value) {
        return submit(pe, endpoints::make_word_wait(all[pe]->memory, {.offset = offset, .value = value}),
                      endpoints::make_empty_endpoint("wait"), 0);
    }
    /// `before` gets what was in the word.
    std::shared_ptr<command> atomic(int from, const endpoints::heap_atomic& what, std::uint64_t& before,
                                    std::vector<std::shared_ptr<command>> after = {}) {
        return submit(from, endpoints::make_atomic_source(all[from]->memory, what),
                      endpoints::make_host_endpoint(reinterpret_cast<std::byte*>(&before)), 8, std::move(after));
    }
    [[nodiscard]] std::uint64_t word(int pe, std::size_t offset) const {
        std::uint64_t value = 0;
        std::memcpy(&value, m_memory[static_cast<std::size_t>(pe)].heap.data() + offset, 8);
        return value;
    }

    /// One of the engines, or one of the sources, goes on. An engine that has found nothing to do does so again until
    /// another one moves, and is not asked. False if all are over.
    bool go_on(chooser& choices) {
        std::vector<std::size_t> can;
        for (std::size_t i = 0; i < 2; ++i)
            if (!m_is_idle[i]) can.push_back(i);
        for (std::size_t i = 0; i < steps.count(); ++i) can.push_back(2 + i);
        if (can.empty()) return false;
        const auto which = can[choices.choose(can.size())];
        if (which >= 2) {
            steps.finish(which - 2);
            m_is_idle = {};
        } else if (all[which]->machine.step()) {
            m_is_idle = {};
        } else {
            m_is_idle[which] = true;
        }
        return true;
    }
    void go_on_to_the_end() {
        for (int i = 0; i < 20; ++i) {
            while (steps.count() > 0) steps.finish(0);
            for (auto& each : all) each->machine.step();
            clock.advance(std::chrono::milliseconds(1));
        }
    }

    fake_clock clock;
    pending_steps steps;
    std::array<std::unique_ptr<pe>, 2> all{std::make_unique<pe>(clock), std::make_unique<pe>(clock)};

  private:
    struct memory {
        alignas(64) std::array<std::byte, 4096> control{};
        alignas(64) std::array<std::byte, heap_bytes> heap{};
    };
    struct one_source {
        std::vector<std::byte> bytes;
        fake_endpoint::life seen;
    };
    std::array<memory, 2> m_memory;
    std::array<bool, 2> m_is_idle{};
    std::vector<std::unique_ptr<one_source>> m_sources;
};

constexpr std::size_t x = 0, y = 8;
constexpr int to_the_end = 1000, first_moves = 10;

/// Runs `begin(pes)`, then `check(pes)` after every move, and at the end, where all is `over(pes)`. After `moves` the
/// rest is done in one order.
template <class Begin, class Check, class Over> void in_every_order(Begin begin, Check check, Over over,
                                                                    int moves = to_the_end) {
    constexpr std::size_t most = 100000;
    bool is_cut = false;
    const auto runs = explore(
        [&](chooser& choices) {
            two_pes pes;
            auto works = begin(pes);
            for (int move = 0; pes.go_on(choices); ++move) {
                check(pes, works);
                if (move + 1 < moves) continue;
                is_cut = true;
                break;
            }
            pes.go_on_to_the_end();
            check(pes, works);
            over(pes, works);
        },
        most);
    EXPECT_GT(runs, 1u);
    EXPECT_LT(runs, most) << "not every order";
    EXPECT_EQ(is_cut, moves != to_the_end);
}

using commands = std::vector<std::shared_ptr<command>>;

void all_complete(const commands& works) {
    for (std::size_t i = 0; i < works.size(); ++i) {
        ASSERT_TRUE(works[i]->complete()) << "command " << i;
        ASSERT_FALSE(works[i]->report().error) << works[i]->report().error.message;
    }
}

TEST(one_sided_litmus, message_passing_with_a_fence) {
    in_every_order(
        [](two_pes& pes) {
            auto put = pes.put(0, 1, x, 1);
            auto fence = pes.fence(0, endpoints::fence_kind::fence);
            auto flag = pes.signal(0, 1, y, 1);
            return commands{put, fence, flag, pes.wait(1, y, 1)};
        },
        [](two_pes& pes, const commands& works) {
            if (works[3]->complete()) {
                ASSERT_EQ(pes.word(1, x), 1u);
            }
            if (pes.word(1, y) == 1) {
                ASSERT_EQ(pes.word(1, x), 1u);
            }
        },
        [](two_pes&, const commands& works) { all_complete(works); });
}

TEST(one_sided_litmus, message_passing_in_an_in_order_queue) {
    in_every_order(
        [](two_pes& pes) {
            auto put = pes.put(0, 1, x, 1);
            return commands{put, pes.signal(0, 1, y, 1, {put}), pes.wait(1, y, 1)};
        },
        [](two_pes& pes, const commands& works) {
            if (works[2]->complete()) {
                ASSERT_EQ(pes.word(1, x), 1u);
            }
        },
        [](two_pes&, const commands& works) { all_complete(works); });
}

TEST(one_sided_litmus, a_signal_comes_behind_the_bytes_of_its_put_and_not_of_others) {
    bool may_pass = false;
    in_every_order(
        [](two_pes& pes) {
            auto other = pes.put(0, 1, x, 1);
            auto put = pes.put(0, 1, 16, 2, endpoints::heap_signal{.offset = y, .value = 1});
            return commands{other, put, pes.wait(1, y, 1)};
        },
        [&](two_pes& pes, const commands& works) {
            if (!works[2]->complete()) return;
            ASSERT_EQ(pes.word(1, 16), 2u);
            may_pass |= pes.word(1, x) == 0;
        },
        [](two_pes&, const commands& works) { all_complete(works); }, first_moves);
    EXPECT_TRUE(may_pass);
}

TEST(one_sided_litmus, store_buffering_with_quiets) {
    in_every_order(
        [](two_pes& pes) {
            auto put = pes.put(0, 1, x, 1);
            auto other = pes.put(1, 0, y, 1);
            return commands{put, other, pes.fence(0, endpoints::fence_kind::quiet),
                            pes.fence(1, endpoints::fence_kind::quiet)};
        },
        [](two_pes& pes, const commands& works) {
            if (works[2]->complete()) {
                ASSERT_EQ(pes.word(1, x), 1u);
            }
            if (works[3]->complete()) {
                ASSERT_EQ(pes.word(0, y), 1u);
            }
        },
        [](two_pes&, const commands& works) { all_complete(works); }, first_moves);
}

TEST(one_sided_litmus, a_barrier_shows_what_was_put_before_it) {
    in_every_order(
        [](two_pes& pes) {
            auto put = pes.put(0, 1, x, 1);
            return commands{put, pes.barrier(0), pes.barrier(1)};
        },
        [](two_pes& pes, const commands& works) {
            if (works[1]->complete() || works[2]->complete()) {
                ASSERT_EQ(pes.word(1, x), 1u);
            }
        },
        [](two_pes&, const commands& works) { all_complete(works); });
}

TEST(one_sided_litmus, one_word_never_goes_back) {
    std::uint64_t first = 0, second = 0, unused = 0;
    in_every_order(
        [&](two_pes& pes) {
            first = second = 0;
            const auto set = [&](std::uint64_t value) {
                return endpoints::heap_atomic{
                    .pe = 1, .offset = x, .what = endpoints::atomic_operation::set, .operand = value};
            };
            const endpoints::heap_atomic fetch{.pe = 1, .offset = x};
            auto one = pes.atomic(0, set(1), unused);
            auto seen = pes.atomic(1, fetch, first);
            return commands{one, pes.atomic(0, set(2), unused, {one}), seen, pes.atomic(1, fetch, second, {seen})};
        },
        [&](two_pes&, const commands& works) {
            if (works[3]->complete()) {
                ASSERT_LE(first, second);
            }
        },
        [](two_pes& pes, const commands& works) {
            all_complete(works);
            ASSERT_EQ(pes.word(1, x), 2u);
        });
}

TEST(one_sided_litmus, counts_all_that_is_added) {
    std::array<std::uint64_t, 4> before{};
    in_every_order(
        [&](two_pes& pes) {
            const endpoints::heap_atomic add{
                .pe = 1, .offset = x, .what = endpoints::atomic_operation::add, .operand = 1};
            commands works;
            for (std::size_t i = 0; i < before.size(); ++i)
                works.push_back(pes.atomic(static_cast<int>(i % 2), add, before[i]));
            return works;
        },
        [](two_pes& pes, const commands&) { ASSERT_LE(pes.word(1, x), 4u); },
        [&](two_pes& pes, const commands& works) {
            all_complete(works);
            ASSERT_EQ(pes.word(1, x), 4u);
            auto numbers = before;
            std::sort(numbers.begin(), numbers.end());
            for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i) << "two have the same";
        });
}

TEST(one_sided_litmus, a_put_that_fails_leaves_its_signal) {
    two_pes pes;
    const auto put = pes.put(0, 1, x, 1, endpoints::heap_signal{.offset = y, .value = 1});
    pes.all[0]->machine.step();
    pes.all[0]->machine.cancel(put, {status::cancelled, 0, 0, "cancelled by the test"});
    pes.go_on_to_the_end();
    EXPECT_TRUE(put->complete());
    EXPECT_EQ(put->report().status, status::cancelled);
    EXPECT_EQ(pes.word(1, y), 0u);
    const auto quiet = pes.fence(0, endpoints::fence_kind::quiet);
    pes.go_on_to_the_end();
    EXPECT_EQ(quiet->report().status, status::cancelled);
}

} // namespace
