// SPDX-License-Identifier: Apache-2.0
// Atomics, waits for words, fences, quiets and barriers.
#include "symmetric_fixture.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <thread>

using namespace symmetric_test;

namespace {

using symmetric_words = with_heap;

TEST_F(symmetric_words, count_what_all_pes_add) {
    constexpr int rounds = 50;
    auto* const words = allocate<std::uint64_t>(2);
    const queue on = make_queue(order::out_of_order);
    for (int round = 0; round < rounds; ++round) {
        ASSERT_EQ(clEnqueueSymmetricAtomic(on.get(), CL_FALSE, CL_ATOMIC_ADD, 8, words, 3, 0, 0, nullptr, 0, 0, nullptr,
                                           nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
        ASSERT_EQ(clEnqueueSymmetricAtomic(on.get(), CL_FALSE, CL_ATOMIC_INC, 4, words + 1, 0, 0, 0, nullptr, 0, 0,
                                           nullptr, nullptr),
                  CL_SUCCESS);
    }
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
    std::uint64_t sum = 0;
    ASSERT_EQ(causeway_symmetric_get(&sum, words, 8, 0), CL_SUCCESS);
    EXPECT_EQ(sum, 3u * rounds * static_cast<unsigned>(all));
    ASSERT_EQ(causeway_symmetric_get(&sum, words + 1, 8, 0), CL_SUCCESS);
    EXPECT_EQ(sum, static_cast<unsigned>(rounds * all)); // its upper half untouched
}

TEST_F(symmetric_words, count_between_rows_that_others_put) {
    constexpr std::size_t rows = 16;
    constexpr std::uint64_t adds = 8;
    auto* const words = allocate<std::uint64_t>(2 * rows); // numbers, and behind each a counter
    // Words of the host's memory are kept nowhere else.
    const std::uint64_t rounds = causeway_symmetric_pointer(words, me) == nullptr ? 100 : 10;
    auto* const counter = words + 9;
    ASSERT_EQ(causeway_symmetric_signal(counter, 1, CL_SIGNAL_ADD, 0), CL_SUCCESS); // a counter from now on
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    const queue on = make_queue(order::out_of_order);
    const buffer numbers = own().make_buffer(pattern(0, 1, 8 * rows));
    for (std::uint64_t round = 0; round < rounds; ++round) {
        ASSERT_EQ(
            clEnqueuePutStrided(on.get(), numbers.get(), CL_FALSE, 0, 8, words, 16, 8, rows, 0, 0, nullptr, nullptr),
            CL_SUCCESS)
            << causeway_error_last_message();
        for (std::uint64_t i = 0; i < adds; ++i)
            ASSERT_EQ(causeway_symmetric_atomic(CL_ATOMIC_INC, 8, counter, 0, 0, 0, nullptr), CL_SUCCESS);
    }
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
    std::uint64_t seen = 0;
    ASSERT_EQ(causeway_symmetric_get(&seen, counter, sizeof seen, 0), CL_SUCCESS);
    EXPECT_EQ(seen, static_cast<std::uint64_t>(all) * (rounds * adds + 1));
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_words, are_stored_once_by_a_put) {
    auto* const words = allocate<std::uint64_t>(2); // what is sent, and what was seen of it
    auto* const here = static_cast<std::uint64_t*>(causeway_symmetric_pointer(words, me));
    if (here == nullptr || all == 1) GTEST_SKIP() << "takes two PEs, and memory that loads and stores reach";
    constexpr std::uint64_t rounds = 20000;
    const auto next = [](std::uint64_t& word) {
        std::uint64_t found = 0;
        for (unsigned looks = 1; (found = __atomic_load_n(&word, __ATOMIC_ACQUIRE)) == 0; ++looks)
            if (looks % 4096 == 0) std::this_thread::yield(); // where PEs share a processor
        // A second store of the same put would come behind this one.
        __atomic_store_n(&word, std::uint64_t{0}, __ATOMIC_RELEASE);
        return found;
    };
    for (std::uint64_t round = 1; round <= rounds && me < 2 && !HasFailure(); ++round) {
        if (me == 1) {
            ASSERT_EQ(next(here[0]), round);
        }
        ASSERT_EQ(causeway_symmetric_put(words + me, &round, sizeof round, 1 - me), CL_SUCCESS);
        if (me == 0) {
            ASSERT_EQ(next(here[1]), round);
        }
    }
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_words, give_each_pe_a_ticket_of_its_own) {
    auto* const word = allocate<std::uint32_t>(1);
    auto* const tickets = allocate<std::uint32_t>(static_cast<std::size_t>(all));
    const queue on = make_queue(order::in_order);
    std::size_t offset = 0;
    cl_mem heap = causeway_symmetric_buffer(tickets + me, &offset, nullptr);
    ASSERT_EQ(clEnqueueSymmetricAtomic(on.get(), CL_TRUE, CL_ATOMIC_ADD, 4, word, 1, 0, all - 1, heap, offset, 0,
                                       nullptr, nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    ASSERT_EQ(clEnqueuePut(on.get(), heap, CL_TRUE, offset, 4, tickets + me, 0, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    std::vector<std::uint32_t> seen(static_cast<std::size_t>(all));
    ASSERT_EQ(causeway_symmetric_get(seen.data(), tickets, seen.size() * 4, 0), CL_SUCCESS);
    EXPECT_EQ(std::set<std::uint32_t>(seen.begin(), seen.end()).size(), seen.size());
    EXPECT_LT(*std::max_element(seen.begin(), seen.end()), static_cast<std::uint32_t>(all));
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_words, know_every_operation) {
    auto* const words = allocate<std::uint64_t>(2);
    struct one {
        cl_atomic_operation what;
        std::uint64_t operand, compared, expected;
    };
    const one all_operations[] = {{CL_ATOMIC_SET, 12, 0, 12},
                                  {CL_ATOMIC_FETCH, 99, 0, 12},
                                  {CL_ATOMIC_ADD, 30, 0, 42},
                                  {CL_ATOMIC_INC, 99, 0, 43},
                                  {CL_ATOMIC_COMPARE_SWAP, 7, 1, 43},
                                  {CL_ATOMIC_COMPARE_SWAP, 7, 43, 7},
                                  {CL_ATOMIC_SWAP, 0xF0, 0, 0xF0},
                                  {CL_ATOMIC_AND, 0x3C, 0, 0x30},
                                  {CL_ATOMIC_OR, 0x03, 0, 0x33},
                                  {CL_ATOMIC_XOR, 0x11, 0, 0x22},
                                  {CL_ATOMIC_ADD, std::uint64_t(-0x23), 0, std::uint64_t(-1)}};
    const queue on = make_queue(order::in_order);
    enum class form { call, command, command_without_result };
    for (const std::size_t size : {std::size_t{4}, std::size_t{8}}) {
        const std::uint64_t mask = size == 4 ? 0xFFFFFFFFu : ~std::uint64_t{0};
        std::uint64_t last = 0;
        auto* const word = words + (size == 4 ? 0 : 1);
        for (const form by : {form::call, form::command, form::command_without_result}) {
            for (const auto& each : all_operations) {
                const auto what = "operation " + std::to_string(each.what) + " of " + std::to_string(size) +
                                  " bytes, form " + std::to_string(static_cast<int>(by));
                std::uint64_t before = 0;
                if (by == form::call) {
                    ASSERT_EQ(
                        causeway_symmetric_atomic(each.what, size, word, each.operand, each.compared, next, &before),
                        CL_SUCCESS)
                        << causeway_error_last_message();
                } else {
                    const buffer result = own().make_buffer(24, 0xEE);
                    ASSERT_EQ(clEnqueueSymmetricAtomic(
                                  on.get(), CL_TRUE, each.what, size, word, each.operand, each.compared, next,
                                  by == form::command ? result.get() : nullptr, 8, 0, nullptr, nullptr),
                              CL_SUCCESS)
                        << causeway_error_last_message();
                    auto around = own().read(result.get(), 0, 24);
                    std::memcpy(&before, around.data() + 8, size);
                    if (by == form::command) std::fill_n(around.begin() + 8, size, static_cast<unsigned char>(0xEE));
                    EXPECT_TRUE(same(around, bytes(24, 0xEE))) << what;
                }
                if (by != form::command_without_result) {
                    EXPECT_EQ(before, last & mask) << what;
                }
                last = each.expected;
                std::uint64_t now = 0;
                ASSERT_EQ(causeway_symmetric_get(&now, word, size, next), CL_SUCCESS);
                EXPECT_EQ(now, last & mask) << what;
            }
        }
    }
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    EXPECT_EQ(causeway_symmetric_atomic(9, 8, words, 0, 0, me, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(causeway_symmetric_atomic(CL_ATOMIC_SET, 2, words, 0, 0, me, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(causeway_symmetric_atomic(CL_ATOMIC_SET, 4, words, 0, 0, all, nullptr), CL_INVALID_VALUE);
}

TEST_F(symmetric_words, are_waited_for_by_every_comparison) {
    auto* const words = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::out_of_order);
    const std::uint64_t five = 5;
    ASSERT_EQ(causeway_symmetric_put(words, &five, 8, me), CL_SUCCESS) << causeway_error_last_message();
    const auto ends = [&](cl_comparison how, std::uint64_t value, std::size_t size) {
        event waited;
        EXPECT_EQ(clEnqueueWordWait(on.get(), CL_FALSE, words, size, how, value, 0, nullptr, waited.out()), CL_SUCCESS)
            << causeway_error_last_message();
        return waited;
    };
    for (const std::size_t size : {std::size_t{4}, std::size_t{8}}) {
        const std::uint64_t minus = size == 4 ? 0xFFFFFFFFu : ~std::uint64_t{0};
        const event hold[] = {ends(CL_COMPARE_EQ, 5, size),     ends(CL_COMPARE_NE, 6, size),
                              ends(CL_COMPARE_GT, 4, size),     ends(CL_COMPARE_GE, 5, size),
                              ends(CL_COMPARE_LT, 6, size),     ends(CL_COMPARE_LE, 5, size),
                              ends(CL_COMPARE_LT, minus, size), ends(CL_COMPARE_GT | CL_COMPARE_SIGNED, minus, size)};
        for (const auto& each : hold) EXPECT_TRUE(completes(each));
        const event never[] = {ends(CL_COMPARE_EQ, 6, size),     ends(CL_COMPARE_NE, 5, size),
                               ends(CL_COMPARE_GT, 5, size),     ends(CL_COMPARE_GE, 6, size),
                               ends(CL_COMPARE_LT, 5, size),     ends(CL_COMPARE_LE, 4, size),
                               ends(CL_COMPARE_GT, minus, size), ends(CL_COMPARE_LT | CL_COMPARE_SIGNED, minus, size)};
        EXPECT_TRUE(completes(ends(CL_COMPARE_EQ, 5, size))); // behind them all
        for (const auto& each : never) {
            EXPECT_GT(status_of(each.get()), CL_COMPLETE);
            EXPECT_EQ(clCancelTransfer(each.get()), CL_SUCCESS);
            EXPECT_TRUE(ends_with(each, CL_TRANSFER_CANCELLED));
        }
    }
}

TEST_F(symmetric_words, of_4_bytes_are_not_compared_with_values_of_8) {
    auto* const words = allocate<std::uint32_t>(2);
    const queue on = make_queue(order::in_order);
    const auto wait = [&](cl_comparison how, std::uint64_t value, std::size_t size = 4) {
        const auto code = clEnqueueWordWait(on.get(), CL_TRUE, words, size, how, value, 0, nullptr, nullptr);
        if (size == 4) {
            EXPECT_EQ(causeway_symmetric_wait(words, size, how, value), code) << value;
        }
        return code;
    };
    constexpr std::uint64_t large = std::uint64_t{1} << 32;
    EXPECT_EQ(wait(CL_COMPARE_EQ, large), CL_INVALID_VALUE) << "cut, it were 0";
    EXPECT_NE(std::string(causeway_error_last_message()).find("4294967296, does not fit a word of 4 bytes"),
              std::string::npos)
        << causeway_error_last_message();
    EXPECT_EQ(wait(CL_COMPARE_LT | CL_COMPARE_SIGNED, large + 1), CL_INVALID_VALUE);
    EXPECT_EQ(wait(CL_COMPARE_GT | CL_COMPARE_SIGNED, std::uint64_t(INT32_MIN) - 1), CL_INVALID_VALUE);
    EXPECT_EQ(wait(CL_COMPARE_NE, std::uint64_t(-1)), CL_INVALID_VALUE) << "not signed";
    EXPECT_EQ(wait(CL_COMPARE_LT, large - 1), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(wait(CL_COMPARE_GT | CL_COMPARE_SIGNED, std::uint64_t(INT32_MIN)), CL_SUCCESS);
    EXPECT_EQ(wait(CL_COMPARE_GT | CL_COMPARE_SIGNED, large - 1), CL_SUCCESS) << "-1 in 32 bits";
    EXPECT_EQ(wait(CL_COMPARE_LT, large, 8), CL_SUCCESS);
}

TEST_F(symmetric_words, of_4_bytes_are_not_swapped_by_values_of_8) {
    auto* const word = allocate<std::uint32_t>(1);
    const auto call = [&](cl_atomic_operation what, std::uint64_t operand, std::uint64_t compared) {
        return causeway_symmetric_atomic(what, 4, word, operand, compared, me, nullptr);
    };
    constexpr std::uint64_t large = std::uint64_t{1} << 32;
    EXPECT_EQ(call(CL_ATOMIC_COMPARE_SWAP, 9, large), CL_INVALID_VALUE) << "cut, it were 0";
    EXPECT_NE(std::string(causeway_error_last_message()).find("4294967296, does not fit a word of 4 bytes"),
              std::string::npos)
        << causeway_error_last_message();
    EXPECT_EQ(call(CL_ATOMIC_SET, large, large), CL_SUCCESS) << "the low half of the operand is 0";
    EXPECT_EQ(call(CL_ATOMIC_COMPARE_SWAP, std::uint64_t(-1), 0), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(call(CL_ATOMIC_COMPARE_SWAP, 3, std::uint64_t(-1)), CL_SUCCESS) << causeway_error_last_message();
    std::uint64_t now = 0;
    EXPECT_EQ(causeway_symmetric_atomic(CL_ATOMIC_FETCH, 4, word, large, large, me, &now), CL_SUCCESS) << "ignored";
    EXPECT_EQ(now, 3u);
}

TEST_F(symmetric_words, are_found_by_calls_and_collectives_on_the_own_heap) {
    // Signalled, the word may be kept beside the device's memory.
    auto* const word = allocate<std::uint64_t>(1);
    auto* const other = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::in_order);
    for (const std::uint64_t round : {std::uint64_t{1}, std::uint64_t{2}}) {
        ASSERT_EQ(causeway_symmetric_signal(word, 7, CL_SIGNAL_ADD, next), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        const std::uint64_t so_far = round == 1 ? 7 : 1007;
        ASSERT_EQ(causeway_symmetric_put(other, word, 8, next), CL_SUCCESS) << causeway_error_last_message();
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        std::uint64_t seen = 0;
        ASSERT_EQ(causeway_symmetric_get(&seen, other, 8, me), CL_SUCCESS);
        EXPECT_EQ(seen, so_far) << "what a put from the own heap brought";
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);

        const std::uint64_t value = 1000;
        ASSERT_EQ(causeway_symmetric_put(other, &value, 8, me), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        if (round == 1) {
            ASSERT_EQ(causeway_symmetric_get(word, other, 8, next), CL_SUCCESS) << causeway_error_last_message();
        } else {
            ASSERT_EQ(clEnqueueSymmetricBroadcast(on.get(), CL_TRUE, word, other, 8, 0, 0, nullptr, nullptr),
                      CL_SUCCESS)
                << causeway_error_last_message();
        }
        std::uint64_t before = 0;
        ASSERT_EQ(causeway_symmetric_atomic(CL_ATOMIC_FETCH, 8, word, 0, 0, me, &before), CL_SUCCESS);
        EXPECT_EQ(before, value) << "behind a get, or a broadcast, onto the word";
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    }
    ASSERT_EQ(causeway_symmetric_free(other), CL_SUCCESS);
    ASSERT_EQ(causeway_symmetric_free(word), CL_SUCCESS);
}

TEST_F(symmetric_words, are_reduced_in_place_and_onto) {
    constexpr std::size_t most = 9;
    const queue on = make_queue(order::in_order);
    const auto ranks = static_cast<std::uint64_t>(all);
    for (const std::size_t count : {std::size_t{1}, most}) {
        auto* const words = allocate<std::uint64_t>(count);
        auto* const others = allocate<std::uint64_t>(count);
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(causeway_symmetric_signal(words + i, 3 + i, CL_SIGNAL_ADD, next), CL_SUCCESS);
            ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_TRUE, words + i, CL_COMPARE_EQ, 3 + i, 0, nullptr, nullptr),
                      CL_SUCCESS);
        }
        const auto reduce = [&](std::uint64_t* target, const std::uint64_t* source) {
            ASSERT_EQ(clEnqueueSymmetricReduce(on.get(), CL_TRUE, target, source, count, CL_ELEMENT_ULONG,
                                               CL_REDUCE_SUM, 0, nullptr, nullptr),
                      CL_SUCCESS)
                << causeway_error_last_message();
        };
        const auto expect = [&](const std::uint64_t* in, std::uint64_t times, const char* what) {
            for (std::size_t i = 0; i < count; ++i) {
                std::uint64_t got = 0, fetched = 0;
                ASSERT_EQ(causeway_symmetric_get(&got, in + i, 8, me), CL_SUCCESS);
                ASSERT_EQ(causeway_symmetric_atomic(CL_ATOMIC_FETCH, 8, const_cast<std::uint64_t*>(in) + i, 0, 0, next,
                                                    &fetched),
                          CL_SUCCESS);
                EXPECT_EQ(got, times * (3 + i)) << what << ", word " << i << " of " << count;
                EXPECT_EQ(fetched, times * (3 + i)) << what << ", word " << i << " of " << count << " of the next PE";
            }
            ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        };
        reduce(words, words);
        expect(words, ranks, "in place");
        reduce(others, words);
        expect(others, ranks * ranks, "to other words");
        reduce(words, others);
        expect(words, ranks * ranks * ranks, "onto the words");
        ASSERT_EQ(causeway_symmetric_free(others), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_free(words), CL_SUCCESS);
    }
}

TEST_F(symmetric_words, are_seen_behind_a_fence_in_its_order) {
    // A gated put, a fence and a flag, in an out-of-order queue: who sees the flag sees what was put.
    auto* const data = allocate<std::uint64_t>(2);
    const queue on = make_queue(order::out_of_order);
    for (std::uint64_t round = 1; round <= 20; ++round) {
        const buffer source = own().make_buffer(pattern(me, static_cast<int>(round), 8));
        const event gate = own().make_user_event();
        cl_event closed = gate.get();
        ASSERT_EQ(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, 8, data, next, 1, &closed, nullptr), CL_SUCCESS);
        ASSERT_EQ(clEnqueueFence(on.get(), 0, nullptr, nullptr), CL_SUCCESS);
        event flagged;
        ASSERT_EQ(clEnqueueSignal(on.get(), CL_FALSE, data + 1, round, CL_SIGNAL_SET, next, 0, nullptr, flagged.out()),
                  CL_SUCCESS);
        EXPECT_GT(status_of(flagged.get()), CL_COMPLETE);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_TRUE, data + 1, CL_COMPARE_GE, round, 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_TRUE(same(contents(data, 8), pattern(before, static_cast<int>(round), 8)));
        ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS);
    }
}

TEST_F(symmetric_words, are_changed_by_calls_behind_a_fence_that_waits) {
    auto* const words = allocate<std::uint64_t>(2);
    const queue on = make_queue(order::out_of_order);
    for (std::uint64_t round = 1; round <= 10; ++round) {
        const buffer source = own().make_buffer(pattern(me, static_cast<int>(round), 8));
        const event gate = own().make_user_event();
        cl_event closed = gate.get();
        ASSERT_EQ(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, 8, words, next, 1, &closed, nullptr), CL_SUCCESS);
        ASSERT_EQ(clEnqueueFence(on.get(), 0, nullptr, nullptr), CL_SUCCESS);
        std::atomic<bool> is_over = false;
        std::jthread calling([&] {
            EXPECT_EQ(causeway_symmetric_atomic(CL_ATOMIC_SET, 8, words + 1, round, 0, next, nullptr), CL_SUCCESS);
            is_over = true;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_FALSE(is_over) << "it passed the fence";
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        calling.join();
        ASSERT_EQ(causeway_symmetric_wait(words + 1, 8, CL_COMPARE_GE, round), CL_SUCCESS);
        EXPECT_TRUE(same(contents(words, 8), pattern(before, static_cast<int>(round), 8)));
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    }
}

TEST_F(symmetric_words, are_changed_by_calls_of_many_threads) {
    auto* const words = allocate<std::uint64_t>(2);
    // Calls that do not ask the engine: more than until the next look at the others.
    const bool at_once = causeway_symmetric_pointer(words, me) != nullptr;
    const int threads = 4, rounds = at_once ? 3000 : 300;
    {
        std::vector<std::jthread> calling;
        for (int each = 0; each < threads; ++each)
            calling.emplace_back([&] {
                for (int round = 0; round < rounds; ++round) {
                    EXPECT_EQ(causeway_symmetric_atomic(CL_ATOMIC_INC, 4, words, 0, 0, 0, nullptr), CL_SUCCESS);
                    EXPECT_EQ(causeway_symmetric_signal(words + 1, 2, CL_SIGNAL_ADD, next), CL_SUCCESS);
                }
            });
    }
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    std::uint64_t seen = 0;
    ASSERT_EQ(causeway_symmetric_get(&seen, words, 8, 0), CL_SUCCESS);
    EXPECT_EQ(seen, static_cast<std::uint64_t>(threads * rounds * all));
    ASSERT_EQ(causeway_symmetric_wait(words + 1, 8, CL_COMPARE_EQ, static_cast<std::uint64_t>(2 * threads * rounds)),
              CL_SUCCESS);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_words, are_quiet_also_behind_a_put_that_never_began) {
    auto* const data = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::out_of_order);
    const buffer source = own().make_buffer(8, 1);
    const event broken = own().make_user_event();
    cl_event failing = broken.get();
    ASSERT_EQ(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, 8, data, next, 1, &failing, nullptr), CL_SUCCESS);
    event quiet;
    ASSERT_EQ(clEnqueueQuiet(on.get(), CL_FALSE, 0, nullptr, quiet.out()), CL_SUCCESS);
    ASSERT_EQ(clSetUserEventStatus(broken.get(), -5), CL_SUCCESS);
    EXPECT_TRUE(completes(quiet));
}

TEST_F(symmetric_words, tell_by_a_quiet_once_what_failed) {
    auto* const data = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::out_of_order);
    const buffer source = own().make_buffer(8, 1);
    const event gate = own().make_user_event();
    cl_event closed = gate.get();
    event held;
    ASSERT_EQ(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, 8, data, next, 1, &closed, nullptr), CL_SUCCESS);
    ASSERT_EQ(clEnqueueFence(on.get(), 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, 8, data, next, 0, nullptr, held.out()), CL_SUCCESS);
    while (status_of(held.get()) > CL_COMPLETE && transfer_info<cl_int>(held.get(), CL_TRANSFER_STATUS) != CL_RUNNING)
        std::this_thread::yield();
    ASSERT_EQ(clCancelTransfer(held.get()), CL_SUCCESS);
    EXPECT_TRUE(ends_with(held, CL_TRANSFER_CANCELLED));
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    EXPECT_EQ(clEnqueueQuiet(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_TRANSFER_CANCELLED);
    EXPECT_NE(std::string(causeway_error_last_message()).find("a one-sided command before the quiet failed"),
              std::string::npos);
    EXPECT_EQ(clEnqueueQuiet(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS);
}

TEST_F(symmetric_words, meet_in_barriers_of_commands_and_of_the_host) {
    auto* const count = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::in_order);
    for (std::uint64_t round = 1; round <= 20; ++round) {
        ASSERT_EQ(causeway_symmetric_signal(count, 1, CL_SIGNAL_ADD, 0), CL_SUCCESS) << causeway_error_last_message();
        const cl_int met = round % 2 == 0 ? clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr)
                                          : causeway_symmetric_barrier();
        ASSERT_EQ(met, CL_SUCCESS) << causeway_error_last_message();
        std::uint64_t sum = 0;
        ASSERT_EQ(causeway_symmetric_get(&sum, count, 8, 0), CL_SUCCESS);
        EXPECT_EQ(sum, round * static_cast<unsigned>(all));
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    }
}

TEST_F(symmetric_words, let_the_others_out_of_a_barrier_that_one_cannot_come_to) {
    const queue on = make_queue(order::out_of_order);
    const event broken = own().make_user_event();
    cl_event failing = broken.get();
    event barrier;
    ASSERT_EQ(
        clEnqueueSymmetricBarrier(on.get(), CL_FALSE, me == 0 ? 1 : 0, me == 0 ? &failing : nullptr, barrier.out()),
        CL_SUCCESS);
    ASSERT_EQ(clSetUserEventStatus(broken.get(), -5), CL_SUCCESS);
    EXPECT_TRUE(ends_with(barrier, me == 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_TRANSFER_PEER_FAILED));
    if (me != 0) {
        EXPECT_EQ(transfer_text(barrier.get(), CL_TRANSFER_ERROR_MESSAGE), "a barrier failed on PE 0");
    }
    // And the next one is as any.
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
}

TEST_F(symmetric_words, say_who_calls_another_collective) {
    NEEDS_RANKS(2);
    auto* const words = allocate<std::uint64_t>(8);
    const queue on = make_queue(order::out_of_order);
    event met;
    const cl_int enqueued = me == 0 ? clEnqueueSymmetricCollect(on.get(), CL_FALSE, words, words + 7, 8, 0, nullptr,
                                                                met.out())
                                    : clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, words, words + 7, 8, 0, 0,
                                                                  nullptr, met.out());
    ASSERT_EQ(enqueued, CL_SUCCESS) << causeway_error_last_message();
    EXPECT_TRUE(ends_with(met, CL_INVALID_OPERATION));
    EXPECT_NE(transfer_text(met.get(), CL_TRANSFER_ERROR_MESSAGE).find("make their collective calls in the same order"),
              std::string::npos);
    // Both meet twice, so the next one is as any.
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
}

TEST_F(symmetric_words, are_waited_for_also_when_more_are_kept_than_there_is_room_for) {
    auto* const one = allocate<std::uint64_t>(1);
    // Of the table that has the words of a device's own memory.
    const std::size_t room = causeway_symmetric_pointer(one, me) == nullptr ? 512 : 8;
    auto* const many = allocate<std::uint64_t>(room);
    for (std::size_t i = 0; i < room; ++i)
        ASSERT_EQ(causeway_symmetric_signal(many + i, i, CL_SIGNAL_SET, me), CL_SUCCESS);
    const queue on = make_queue(order::out_of_order);
    event waited;
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, one, CL_COMPARE_EQ, 3, 0, nullptr, waited.out()), CL_SUCCESS);
    ASSERT_EQ(causeway_symmetric_signal(one, 1, CL_SIGNAL_ADD, next), CL_SUCCESS);
    // Now there is room.
    ASSERT_EQ(causeway_symmetric_free(many), CL_SUCCESS);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(causeway_symmetric_signal(one, 1, CL_SIGNAL_ADD, next), CL_SUCCESS);
    EXPECT_TRUE(completes(waited));
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_words, are_waited_for_without_a_thread_for_each_wait) {
    const auto threads = [] {
        const std::filesystem::directory_iterator all_threads("/proc/self/task");
        return std::distance(begin(all_threads), end(all_threads));
    };
    constexpr std::size_t count = 300;
    auto* const words = allocate<std::uint64_t>(count + 1);
    const queue on = make_queue(order::out_of_order);
    const auto wait_for = [&](std::size_t which, std::uint64_t value, event& ended) {
        ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, words + which, CL_COMPARE_GE, value, 0, nullptr, ended.out()),
                  CL_SUCCESS)
            << causeway_error_last_message();
    };
    const auto signal = [&](std::size_t which) {
        ASSERT_EQ(causeway_symmetric_signal(words + which, 1, CL_SIGNAL_ADD, next), CL_SUCCESS)
            << causeway_error_last_message();
    };
    event first; // with what the library and the driver start for any wait
    wait_for(count, 1, first);
    signal(count);
    ASSERT_TRUE(completes(first));
    const auto before_waits = threads();
    std::vector<event> waits(2 * count); // two for each word
    for (std::size_t i = 0; i < waits.size(); ++i) wait_for(i % count, 1 + i / count, waits[i]);
    // A driver may start some more for its queues.
    EXPECT_LT(threads() - before_waits, 16);
    for (const auto& each : waits) EXPECT_GT(status_of(each.get()), CL_COMPLETE);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS); // nobody has signalled before
    for (int round = 0; round < 2; ++round)
        for (std::size_t which = 0; which < count; ++which) signal(which);
    for (const auto& each : waits) EXPECT_TRUE(completes(each));
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_words, end_waits_when_this_pe_leaves) {
    auto* const word = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::out_of_order);
    const event gate = own().make_user_event();
    cl_event opens = gate.get();
    event open, gated;
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, word, CL_COMPARE_EQ, 1, 0, nullptr, open.out()), CL_SUCCESS);
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, word, CL_COMPARE_EQ, 1, 1, &opens, gated.out()), CL_SUCCESS);
    ASSERT_EQ(clFlush(on.get()), CL_SUCCESS);
    ASSERT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_TRUE(ends_with(open, CL_TRANSFER_PEER_FAILED));
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    EXPECT_TRUE(ends_with(gated, CL_TRANSFER_PEER_FAILED));
}

TEST_F(symmetric_words, end_all_waits_when_one_gives_up) {
    NEEDS_RANKS(2);
    auto* const word = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::out_of_order);
    MPI_Barrier(MPI_COMM_WORLD); // one that is not yet through the allocation would find it failed
    if (me == 1) {
        EXPECT_EQ(causeway_symmetric_give_up(), CL_SUCCESS) << causeway_error_last_message();
        EXPECT_EQ(causeway_symmetric_give_up(), CL_INVALID_OPERATION);
        EXPECT_EQ(causeway_symmetric_pe(), -1);
        return;
    }
    // The others are still there, and might signal.
    event waited;
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, word, CL_COMPARE_EQ, 1, 0, nullptr, waited.out()), CL_SUCCESS);
    EXPECT_TRUE(ends_with(waited, CL_TRANSFER_PEER_FAILED));
    const auto said = transfer_text(waited.get(), CL_TRANSFER_ERROR_MESSAGE);
    EXPECT_NE(said.find("PE 1 has given up: its program failed"), std::string::npos) << said;
    EXPECT_EQ(causeway_symmetric_finalize(), CL_TRANSFER_PEER_FAILED);
}

TEST_F(symmetric_words, end_what_this_pe_has_under_way_when_it_gives_up) {
    NEEDS_RANKS(2);
    constexpr std::size_t large = 1000000;
    auto* const data = allocate<unsigned char>(large);
    const queue on = make_queue(order::out_of_order);
    const buffer source = own().make_buffer(bytes(large, 1)), target = own().make_buffer(bytes(large, 2));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me != 0) { // whose engines go on to serve
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT_NE(causeway_symmetric_finalize(), CL_SUCCESS); // that PE has left, perhaps behind its barrier
        return;
    }
    std::vector<event> all_moved(40);
    for (std::size_t i = 0; i < all_moved.size(); ++i) {
        const auto size = i % 4 == 3 ? large : std::size_t{8} << (4 * (i % 4));
        ASSERT_EQ(
            i % 2 == 0
                ? clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, size, data, next, 0, nullptr, all_moved[i].out())
                : clEnqueueGet(on.get(), target.get(), CL_FALSE, 0, size, data, next, 0, nullptr, all_moved[i].out()),
            CL_SUCCESS);
    }
    event barrier;
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_FALSE, 0, nullptr, barrier.out()), CL_SUCCESS);
    EXPECT_EQ(causeway_symmetric_give_up(), CL_SUCCESS) << causeway_error_last_message();
    for (const auto& each : all_moved) {
        const auto ended = wait(each.get());
        EXPECT_TRUE(ended == CL_COMPLETE || ended == CL_TRANSFER_PEER_FAILED)
            << ended << ": " << transfer_text(each.get(), CL_TRANSFER_ERROR_MESSAGE);
    }
    EXPECT_TRUE(ends_with(barrier, CL_TRANSFER_PEER_FAILED));
    MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(symmetric_words, let_the_others_go_when_one_leaves) {
    NEEDS_RANKS(2);
    auto* const word = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::out_of_order);
    if (me == 1) { // while the others are at a barrier
        EXPECT_EQ(causeway_symmetric_finalize(), CL_INVALID_OPERATION);
        EXPECT_EQ(causeway_symmetric_pe(), -1);
        return;
    }
    EXPECT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_INVALID_OPERATION);
    // What waits for PE 1 ends.
    event barrier;
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_FALSE, 0, nullptr, barrier.out()), CL_SUCCESS);
    EXPECT_TRUE(ends_with(barrier, CL_TRANSFER_PEER_FAILED));
    const auto said = transfer_text(barrier.get(), CL_TRANSFER_ERROR_MESSAGE);
    EXPECT_NE(said.find("a barrier: PE "), std::string::npos) << said; // 1, or another one that it has let go
    EXPECT_NE(said.find(" has left"), std::string::npos) << said;
    EXPECT_EQ(clEnqueueSymmetricReduce(on.get(), CL_TRUE, word, word, 1, CL_ELEMENT_ULONG, CL_REDUCE_SUM, 0, nullptr,
                                       nullptr),
              CL_TRANSFER_PEER_FAILED);
    EXPECT_EQ(causeway_symmetric_finalize(), CL_TRANSFER_PEER_FAILED);
}

} // namespace
