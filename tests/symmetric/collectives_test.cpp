// SPDX-License-Identifier: Apache-2.0
// Broadcast, collect and all-to-all.
#include "symmetric_fixture.hpp"

using namespace symmetric_test;

namespace {

using symmetric_collectives = with_heap;

constexpr std::size_t sizes[] = {1, 8, 1000, 300000};

void fill(void* address, const bytes& with) {
    ASSERT_EQ(causeway_symmetric_put(address, with.data(), with.size(), causeway_symmetric_pe()), CL_SUCCESS);
}

bytes part_of(const bytes& whole, std::size_t first, std::size_t size) {
    return {whole.begin() + static_cast<std::ptrdiff_t>(first),
            whole.begin() + static_cast<std::ptrdiff_t>(first + size)};
}

TEST_F(symmetric_collectives, broadcast_from_every_root) {
    const queue on = make_queue(order::in_order);
    for (const std::size_t size : sizes)
        for (int root = 0; root < all; ++root) {
            auto *const source = allocate<unsigned char>(size), *const target = allocate<unsigned char>(size);
            fill(source, pattern(me, 1, size));
            event done;
            ASSERT_EQ(
                clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, target, source, size, root, 0, nullptr, done.out()),
                CL_SUCCESS)
                << causeway_error_last_message();
            ASSERT_EQ(clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, source, source, size, root, 0, nullptr, nullptr),
                      CL_SUCCESS);
            ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
            EXPECT_TRUE(completes(done));
            EXPECT_EQ(transfer_info<std::size_t>(done.get(), CL_TRANSFER_BYTES_MOVED), size);
            EXPECT_TRUE(same(contents(target, size), pattern(root, 1, size)));
            EXPECT_TRUE(same(contents(source, size), pattern(root, 1, size)));
            ASSERT_EQ(causeway_symmetric_free(target), CL_SUCCESS);
            ASSERT_EQ(causeway_symmetric_free(source), CL_SUCCESS);
        }
}

TEST_F(symmetric_collectives, collect_what_each_has) {
    const queue on = make_queue(order::out_of_order);
    for (const std::size_t size : sizes) {
        const auto count = static_cast<std::size_t>(all);
        auto *const source = allocate<unsigned char>(size), *const target = allocate<unsigned char>(size * count);
        fill(source, pattern(me, 2, size));
        ASSERT_EQ(clEnqueueSymmetricCollect(on.get(), CL_TRUE, target, source, size, 0, nullptr, nullptr), CL_SUCCESS)
            << causeway_error_last_message();
        for (int pe = 0; pe < all; ++pe)
            EXPECT_TRUE(same(contents(target + static_cast<std::size_t>(pe) * size, size), pattern(pe, 2, size)));
    }
}

TEST_F(symmetric_collectives, give_all_to_all) {
    const queue on = make_queue(order::out_of_order);
    for (const std::size_t size : sizes) {
        const auto count = static_cast<std::size_t>(all), mine = static_cast<std::size_t>(me);
        auto *const source = allocate<unsigned char>(size * count), *const target = allocate<unsigned char>(size *
                                                                                                            count);
        fill(source, pattern(me, 3, size * count));
        ASSERT_EQ(clEnqueueSymmetricAllToAll(on.get(), CL_TRUE, target, source, size, 0, nullptr, nullptr), CL_SUCCESS)
            << causeway_error_last_message();
        for (int pe = 0; pe < all; ++pe)
            EXPECT_TRUE(same(contents(target + static_cast<std::size_t>(pe) * size, size),
                             part_of(pattern(pe, 3, size * count), mine * size, size)));
    }
}

TEST_F(symmetric_collectives, keep_the_order_of_enqueue_in_any_queue) {
    auto* const words = allocate<std::uint64_t>(2);
    const queue one = make_queue(order::out_of_order), other = make_queue(order::out_of_order);
    for (int round = 0; round < 30; ++round) {
        const auto root = round % all;
        fill(words, pattern(me, round, 8));
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        ASSERT_EQ(clEnqueueSymmetricBroadcast((round % 2 == 0 ? one : other).get(), CL_FALSE, words + 1, words, 8, root,
                                              0, nullptr, nullptr),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueSymmetricBarrier((round % 3 == 0 ? one : other).get(), CL_TRUE, 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_TRUE(same(contents(words + 1, 8), pattern(root, round, 8)));
    }
}

TEST_F(symmetric_collectives, refuse_what_overlaps_or_differs) {
    auto* const memory = allocate<unsigned char>(64 * static_cast<std::size_t>(all) + 64);
    const queue on = make_queue(order::out_of_order);
    EXPECT_EQ(clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, memory, memory + 8, 16, 0, 0, nullptr, nullptr),
              CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(clEnqueueSymmetricCollect(on.get(), CL_FALSE, memory, memory, 16, 0, nullptr, nullptr),
              CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(clEnqueueSymmetricAllToAll(on.get(), CL_FALSE, memory, memory, 16, 0, nullptr, nullptr),
              CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, memory, memory, 16, all, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    NEEDS_RANKS(2);
    event met;
    ASSERT_EQ(
        clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, memory, memory, me == 0 ? 8 : 16, 0, 0, nullptr, met.out()),
        CL_SUCCESS);
    EXPECT_TRUE(ends_with(met, CL_INVALID_VALUE));
    EXPECT_NE(transfer_text(met.get(), CL_TRANSFER_ERROR_MESSAGE).find("a broadcast: the number of bytes is"),
              std::string::npos);
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
}

} // namespace
