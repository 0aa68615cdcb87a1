// SPDX-License-Identifier: Apache-2.0
// What docs/memory-model.md says is never seen, tried many times between PEs at once.
#include "symmetric_fixture.hpp"

using namespace symmetric_test;

namespace {

using litmus = with_heap;

constexpr std::uint64_t rounds = 150;

std::uint64_t word_of(const bytes& eight) {
    std::uint64_t word = 0;
    std::memcpy(&word, eight.data(), 8);
    return word;
}

buffer make_word(std::uint64_t value) {
    bytes eight(8);
    std::memcpy(eight.data(), &value, 8);
    return own().make_buffer(eight);
}

TEST_F(litmus, message_passing_in_an_in_order_queue) {
    auto *const x = allocate<std::uint64_t>(16), *const y = x + 8;
    const queue on = make_queue(order::in_order);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        const buffer value = make_word(round);
        ASSERT_EQ(clEnqueuePut(on.get(), value.get(), CL_FALSE, 0, 8, x, next, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clEnqueueSignal(on.get(), CL_FALSE, y, round, CL_SIGNAL_SET, next, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_TRUE, y, CL_COMPARE_GE, round, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_GE(word_of(contents(x, 8)), round);
    }
}

TEST_F(litmus, message_passing_with_a_fence_between_queues) {
    auto *const x = allocate<std::uint64_t>(16), *const y = x + 8;
    const queue one = make_queue(order::out_of_order), other = make_queue(order::out_of_order);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        const buffer value = make_word(round);
        ASSERT_EQ(clEnqueuePut(one.get(), value.get(), CL_FALSE, 0, 8, x, next, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clEnqueueFence(one.get(), 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clEnqueueSignal(other.get(), CL_FALSE, y, round, CL_SIGNAL_SET, next, 0, nullptr, nullptr),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueSignalWait(other.get(), CL_TRUE, y, CL_COMPARE_GE, round, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_GE(word_of(contents(x, 8)), round);
        ASSERT_EQ(clEnqueueQuiet(other.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS); // puts of two rounds do not
                                                                                          // meet
    }
}

TEST_F(litmus, causality_over_a_third_pe) {
    NEEDS_RANKS(3);
    auto *const x = allocate<std::uint64_t>(24), *const y = x + 8, *const back = x + 16;
    const queue on = make_queue(order::in_order);
    const auto signal = [&](std::uint64_t* word, std::uint64_t round, int pe) {
        ASSERT_EQ(clEnqueueSignal(on.get(), CL_FALSE, word, round, CL_SIGNAL_SET, pe, 0, nullptr, nullptr), CL_SUCCESS);
    };
    const auto wait = [&](std::uint64_t* word, std::uint64_t round) {
        ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_TRUE, word, CL_COMPARE_GE, round, 0, nullptr, nullptr), CL_SUCCESS);
    };
    const auto* const mine = static_cast<const std::uint64_t*>(causeway_symmetric_pointer(x, me));
    for (std::uint64_t round = 1; me < 3 && round <= rounds; ++round) {
        const buffer value = make_word(round);
        if (me == 0) {
            ASSERT_EQ(clEnqueuePut(on.get(), value.get(), CL_FALSE, 0, 8, x, 2, 0, nullptr, nullptr), CL_SUCCESS);
            signal(y, round, 1);
            wait(back, round);
        } else if (me == 1) {
            wait(y, round);
            signal(y, round, 2);
        } else {
            wait(y, round);
            if (mine != nullptr) { // the memory itself
                ASSERT_EQ(*mine, round);
            }
            ASSERT_EQ(word_of(contents(x, 8)), round);
            signal(back, round, 0);
        }
    }
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(litmus, a_signal_comes_behind_all_bytes_of_its_put) {
    constexpr std::size_t size = std::size_t{256} << 10;
    auto* const data = allocate<unsigned char>(size);
    auto* const y = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::out_of_order);
    for (std::uint64_t round = 1; round <= 30; ++round) {
        const buffer source = own().make_buffer(size, static_cast<unsigned char>(round));
        event put;
        ASSERT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, size, data, y, 1, CL_SIGNAL_ADD, next, 0,
                                     nullptr, put.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_TRUE, y, CL_COMPARE_GE, round, 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_TRUE(same(contents(data, size), bytes(size, static_cast<unsigned char>(round))));
        EXPECT_TRUE(completes(put));
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    }
}

TEST_F(litmus, store_buffering) {
    NEEDS_RANKS(2);
    auto* const words = allocate<std::uint64_t>(2 * static_cast<std::size_t>(all));
    const int partner = me ^ 1;
    const bool plays = partner < all;
    const queue on = make_queue(order::out_of_order);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        std::uint64_t mine = round;
        if (plays) {
            // words[0] of each: what the partner has put there. Each puts, is quiet, and reads what it has got itself.
            const buffer value = make_word(round);
            ASSERT_EQ(clEnqueuePut(on.get(), value.get(), CL_FALSE, 0, 8, words, partner, 0, nullptr, nullptr),
                      CL_SUCCESS);
            ASSERT_EQ(clEnqueueQuiet(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS);
            mine = word_of(contents(words, 8));
        }
        std::vector<std::uint64_t> seen(static_cast<std::size_t>(all));
        MPI_Allgather(&mine, 1, MPI_UINT64_T, seen.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
        for (std::size_t pe = 0; pe + 1 < seen.size(); pe += 2)
            ASSERT_TRUE(seen[pe] >= round || seen[pe + 1] >= round)
                << "both of PEs " << pe << " and " << pe + 1 << " saw none of round " << round;
    }
}

TEST_F(litmus, one_word_never_goes_back) {
    auto* const x = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::in_order);
    for (std::uint64_t round = 1; round <= rounds; ++round)
        ASSERT_EQ(clEnqueueSymmetricAtomic(on.get(), CL_FALSE, CL_ATOMIC_SET, 8, x, round, 0, next, nullptr, 0, 0,
                                           nullptr, nullptr),
                  CL_SUCCESS);
    std::uint64_t last = 0;
    while (last < rounds) {
        std::uint64_t seen = 0;
        ASSERT_EQ(causeway_symmetric_atomic(CL_ATOMIC_FETCH, 8, x, 0, 0, me, &seen), CL_SUCCESS);
        ASSERT_GE(seen, last);
        last = seen;
    }
    ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
}

TEST_F(litmus, a_barrier_shows_what_was_put_before) {
    auto* const words = allocate<std::uint64_t>(static_cast<std::size_t>(all));
    const queue on = make_queue(order::out_of_order);
    for (std::uint64_t round = 1; round <= 50; ++round) {
        const buffer value = make_word(round);
        for (int pe = 0; pe < all; ++pe)
            ASSERT_EQ(clEnqueuePut(on.get(), value.get(), CL_FALSE, 0, 8, words + me, pe, 0, nullptr, nullptr),
                      CL_SUCCESS);
        ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS);
        for (int pe = 0; pe < all; ++pe) ASSERT_EQ(word_of(contents(words + pe, 8)), round);
        ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS);
    }
}

} // namespace
