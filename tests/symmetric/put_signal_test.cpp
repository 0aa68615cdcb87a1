// SPDX-License-Identifier: Apache-2.0
// Puts, gets and signals between the heaps of all PEs.
#include "symmetric_fixture.hpp"

#include <array>
#include <cstdio>
#include <fstream>

#include <unistd.h>

using namespace symmetric_test;

namespace {

using put_signal = with_heap;

TEST_F(put_signal, brings_bytes_and_then_says_so) {
    const queue on = make_queue(order::in_order);
    for (const std::size_t size : {std::size_t{8}, std::size_t{1000}, std::size_t{65536}, (std::size_t{3} << 20) + 5}) {
        auto* const target = allocate<unsigned char>(size);
        auto* const signal = allocate<std::uint64_t>(1);
        const buffer source = own().make_buffer(pattern(me, 1, size));
        event put, waited;
        ASSERT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, size, target, signal, size, CL_SIGNAL_SET,
                                     next, 0, nullptr, put.out()),
                  CL_SUCCESS)
            << causeway_error_last_message();
        ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, signal, CL_COMPARE_EQ, size, 0, nullptr, waited.out()),
                  CL_SUCCESS)
            << causeway_error_last_message();
        EXPECT_TRUE(completes(waited));
        EXPECT_TRUE(completes(put));
        EXPECT_EQ(transfer_info<std::size_t>(put.get(), CL_TRANSFER_BYTES_MOVED), size);
        EXPECT_EQ(transfer_info<cl_command_type>(put.get(), CL_TRANSFER_COMMAND_TYPE),
                  cl_command_type{CL_COMMAND_PUT_SIGNAL});
        EXPECT_TRUE(same(contents(target, size), pattern(before, 1, size)));
        ASSERT_EQ(causeway_symmetric_free(signal), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_free(target), CL_SUCCESS);
    }
}

TEST_F(put_signal, takes_the_own_heap_as_the_side_of_the_caller) {
    for (const std::size_t size : {std::size_t{8}, std::size_t{1000}, (std::size_t{3} << 20) + 5}) {
        auto* const target = allocate<unsigned char>(size);
        auto* const here = allocate<unsigned char>(size);
        auto* const signal = allocate<std::uint64_t>(1);
        ASSERT_EQ(causeway_symmetric_put(here, pattern(me, 1, size).data(), size, me), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_put_signal(target, here, size, signal, 1, CL_SIGNAL_SET, next), CL_SUCCESS)
            << causeway_error_last_message();
        ASSERT_EQ(causeway_symmetric_wait(signal, 8, CL_COMPARE_EQ, 1), CL_SUCCESS);
        EXPECT_TRUE(same(contents(target, size), pattern(before, 1, size)));
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_get(here, target, size, next), CL_SUCCESS) << causeway_error_last_message();
        EXPECT_TRUE(same(contents(here, size), pattern(me, 1, size)));
        ASSERT_EQ(causeway_symmetric_free(signal), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_free(here), CL_SUCCESS);
        EXPECT_EQ(causeway_symmetric_put(target, here, size, me), CL_INVALID_VALUE);
        ASSERT_EQ(causeway_symmetric_free(target), CL_SUCCESS);
    }
}

TEST_F(put_signal, is_seen_by_a_kernel_behind_the_wait) {
    constexpr std::size_t size = 4096;
    auto* const target = allocate<unsigned char>(size);
    auto* const signal = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::in_order);
    const buffer source = own().make_buffer(size, 7);
    const kernel add = own().make_adding_kernel(3);
    std::size_t offset = 0;
    cl_mem heap = causeway_symmetric_buffer(target, &offset, nullptr);
    cl_buffer_region part{offset, size};
    cl_int code = CL_SUCCESS;
    const buffer own_part(clCreateSubBuffer(heap, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &part, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    cl_mem argument = own_part.get();
    ASSERT_EQ(clSetKernelArg(add.get(), 0, sizeof argument, &argument), CL_SUCCESS);

    ASSERT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, size, target, signal, 1, CL_SIGNAL_ADD, next, 0,
                                 nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, signal, CL_COMPARE_GE, 1, 0, nullptr, nullptr), CL_SUCCESS);
    event done;
    ASSERT_EQ(clEnqueueNDRangeKernel(on.get(), add.get(), 1, nullptr, &size, nullptr, 0, nullptr, done.out()),
              CL_SUCCESS);
    ASSERT_EQ(clFlush(on.get()), CL_SUCCESS);
    EXPECT_TRUE(completes(done));
    EXPECT_TRUE(same(contents(target, size), bytes(size, 10)));
}

TEST_F(put_signal, waits_for_its_list_and_fails_with_it) {
    auto* const words = allocate<std::uint64_t>(2);
    const queue on = make_queue(order::out_of_order);
    const buffer source = own().make_buffer(pattern(me, 1, 8));
    const event gate = own().make_user_event(), broken = own().make_user_event();
    cl_event first = gate.get(), second = broken.get();
    event put, failing;
    ASSERT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, 8, words, words + 1, 1, CL_SIGNAL_ADD, next, 1,
                                 &first, put.out()),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, 8, words, words + 1, 100, CL_SIGNAL_ADD, next, 1,
                                 &second, failing.out()),
              CL_SUCCESS);
    ASSERT_EQ(clSetUserEventStatus(broken.get(), -5), CL_SUCCESS);
    EXPECT_TRUE(ends_with(failing, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    EXPECT_GT(status_of(put.get()), CL_COMPLETE);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    event waited;
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, words + 1, CL_COMPARE_NE, 0, 0, nullptr, waited.out()),
              CL_SUCCESS);
    EXPECT_TRUE(completes(waited));
    EXPECT_TRUE(completes(put));
    EXPECT_TRUE(same(contents(words, 8), pattern(before, 1, 8)));
    std::uint64_t signalled = 0;
    EXPECT_EQ(causeway_symmetric_get(&signalled, words + 1, 8, me), CL_SUCCESS);
    EXPECT_EQ(signalled, 1u);
}

TEST_F(put_signal, goes_to_every_pe_and_comes_back_by_gets) {
    constexpr std::size_t size = 5000;
    auto* const target = allocate<unsigned char>(size * static_cast<std::size_t>(all));
    auto* const signal = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::out_of_order);
    const buffer source = own().make_buffer(pattern(me, 2, size));
    for (int pe = 0; pe < all; ++pe)
        ASSERT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, size,
                                     target + size * static_cast<std::size_t>(me), signal, 1, CL_SIGNAL_ADD, pe, 0,
                                     nullptr, nullptr),
                  CL_SUCCESS);
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_TRUE, signal, CL_COMPARE_GE, static_cast<std::uint64_t>(all), 0, nullptr,
                                  nullptr),
              CL_SUCCESS);
    for (int pe = 0; pe < all; ++pe)
        EXPECT_TRUE(same(contents(target + size * static_cast<std::size_t>(pe), size), pattern(pe, 2, size)));

    MPI_Barrier(MPI_COMM_WORLD);
    const buffer copy = own().make_buffer(size + 3, 0);
    for (int pe = 0; pe < all; ++pe) {
        ASSERT_EQ(clEnqueueGet(on.get(), copy.get(), CL_TRUE, 3, size, target + size * static_cast<std::size_t>(me), pe,
                               0, nullptr, nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
        EXPECT_TRUE(same(own().read(copy.get(), 3, size), pattern(me, 2, size)));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(put_signal, is_told_from_what_its_target_gets) {
    NEEDS_RANKS(2);
    constexpr std::size_t size = 64, count = 8;
    auto* const put_to = allocate<unsigned char>(size * count);
    auto* const got_from = allocate<unsigned char>(size * count);
    const queue on = make_queue(order::out_of_order);
    const buffer other = own().make_buffer(pattern(me, 1, size * count));
    const auto kept = pattern(me, 2, size * count);
    ASSERT_EQ(causeway_symmetric_put(got_from, kept.data(), kept.size(), me), CL_SUCCESS);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);

    // PE 1 puts while gets of PE 0 from there still wait for their list: what is sent to PE 0 is of the puts.
    const event gate = own().make_user_event();
    cl_event first = gate.get();
    std::vector<event> moved(me < 2 ? count : 0);
    for (std::size_t i = 0; me == 0 && i < count; ++i)
        ASSERT_EQ(clEnqueueGet(on.get(), other.get(), CL_FALSE, size * i, size, got_from + size * i, 1, 1, &first,
                               moved[i].out()),
                  CL_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t i = 0; me == 1 && i < count; ++i)
        ASSERT_EQ(clEnqueuePut(on.get(), other.get(), CL_FALSE, size * i, size, put_to + size * i, 0, 0, nullptr,
                               moved[i].out()),
                  CL_SUCCESS);
    if (me == 1) {
        for (const auto& each : moved) EXPECT_TRUE(completes(each));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    if (me == 0) {
        for (const auto& each : moved) EXPECT_TRUE(completes(each));
        EXPECT_TRUE(same(contents(put_to, size * count), pattern(1, 1, size * count)));
        EXPECT_TRUE(same(own().read(other.get(), 0, size * count), pattern(1, 2, size * count)));
    }
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(put_signal, may_come_from_the_heap_itself) {
    constexpr std::size_t size = 100000;
    auto* const two = allocate<unsigned char>(2 * size);
    auto* const signal = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::in_order);
    std::size_t offset = 0;
    cl_mem heap = causeway_symmetric_buffer(two, &offset, nullptr);
    const auto mine = pattern(me, 3, size);
    ASSERT_EQ(clEnqueueWriteBuffer(on.get(), heap, CL_FALSE, offset, size, mine.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueuePutSignal(on.get(), heap, CL_FALSE, offset, size, two + size, signal, 1, CL_SIGNAL_SET, next, 0,
                                 nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_TRUE, signal, CL_COMPARE_EQ, 1, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
    EXPECT_TRUE(same(contents(two + size, size), pattern(before, 3, size)));
    ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
}

TEST_F(put_signal, refuses_ranges_of_the_own_heap_that_overlap) {
    constexpr std::size_t size = 1000;
    auto* const memory = allocate<unsigned char>(2 * size);
    const queue on = make_queue(order::in_order);
    std::size_t offset = 0;
    cl_mem heap = causeway_symmetric_buffer(memory, &offset, nullptr);
    const auto put = [&](std::size_t to, int pe) {
        return clEnqueuePut(on.get(), heap, CL_TRUE, offset, size, memory + to, pe, 0, nullptr, nullptr);
    };
    const auto get = [&](std::size_t from, int pe) {
        return clEnqueueGet(on.get(), heap, CL_TRUE, offset, size, memory + from, pe, 0, nullptr, nullptr);
    };
    for (const std::size_t by : {std::size_t{1}, size - 1}) {
        EXPECT_EQ(put(by, me), CL_MEM_COPY_OVERLAP);
        EXPECT_NE(std::string(causeway_error_last_message()).find("overlap"), std::string::npos);
        EXPECT_EQ(get(by, me), CL_MEM_COPY_OVERLAP);
    }
    EXPECT_EQ(put(0, me), CL_SUCCESS) << "onto itself: " << causeway_error_last_message();
    EXPECT_EQ(put(size, me), CL_SUCCESS) << "beside it: " << causeway_error_last_message();
    EXPECT_EQ(get(size, me), CL_SUCCESS) << causeway_error_last_message();
    // Rows of 10 by 20, put between their like, and onto some of them.
    const auto put_rows = [&](std::size_t to) {
        return clEnqueuePutStrided(on.get(), heap, CL_TRUE, offset, 20, memory + to, 20, 10, 20, me, 0, nullptr,
                                   nullptr);
    };
    EXPECT_EQ(put_rows(10), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(put_rows(0), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(put_rows(11), CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(put_rows(20), CL_MEM_COPY_OVERLAP);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    if (next != me) {
        EXPECT_EQ(put(1, next), CL_SUCCESS) << causeway_error_last_message();
    }
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(put_signal, moves_like_memmove_within_the_own_heap_by_calls) {
    constexpr std::size_t size = (std::size_t{3} << 20) + 5, by = 100003;
    auto* const memory = allocate<unsigned char>(size + by);
    const auto sent = pattern(me, 4, size);
    for (const bool puts : {true, false})
        for (const bool up : {true, false}) {
            auto *const from = memory + (up ? 0 : by), *const to = memory + (up ? by : 0);
            ASSERT_EQ(causeway_symmetric_put(from, sent.data(), size, me), CL_SUCCESS);
            const auto code = puts ? causeway_symmetric_put(to, from, size, me)
                                   : causeway_symmetric_get(to, from, size, me);
            ASSERT_EQ(code, CL_SUCCESS) << causeway_error_last_message();
            EXPECT_TRUE(same(contents(to, size), sent));
        }
}

TEST_F(put_signal, moves_nothing_and_still_signals) {
    auto* const signal = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::in_order);
    const buffer source = own().make_buffer(8, 0);
    ASSERT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_TRUE, 0, 0, signal, signal, 4, CL_SIGNAL_ADD, next, 0,
                                 nullptr, nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    ASSERT_EQ(clEnqueueSignal(on.get(), CL_TRUE, signal, 5, CL_SIGNAL_ADD, next, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(clEnqueueSignalWait(on.get(), CL_TRUE, signal, CL_COMPARE_EQ, 9, 0, nullptr, nullptr), CL_SUCCESS);
}

TEST_F(put_signal, of_nothing_needs_no_target) {
    auto* const signal = allocate<std::uint64_t>(1);
    const queue on = make_queue(order::in_order);
    const buffer source = own().make_buffer(8, 0);
    event bare;
    ASSERT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, 0, nullptr, signal, 6, CL_SIGNAL_ADD, next, 0,
                                 nullptr, bare.out()),
              CL_SUCCESS)
        << causeway_error_last_message();
    EXPECT_TRUE(completes(bare));
    ASSERT_EQ(causeway_symmetric_put_signal(nullptr, nullptr, 0, signal, 7, CL_SIGNAL_ADD, next), CL_SUCCESS)
        << causeway_error_last_message();
    ASSERT_EQ(causeway_symmetric_wait(signal, 8, CL_COMPARE_EQ, 13), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, 0, nullptr, nullptr, 1, CL_SIGNAL_ADD, next, 0,
                                 nullptr, nullptr),
              CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, 0, nullptr, next, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
}

/// Where a rank waits for the others without a call of MPI.
class quiet_corner {
  public:
    quiet_corner() {
        std::array<char, 64> name{};
        if (world_rank() == 0) std::snprintf(name.data(), name.size(), "/tmp/quiet_corner.%d", ::getpid());
        MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
        m_name = name.data();
    }
    void come() const { std::ofstream(m_name + "." + std::to_string(world_rank())) << "here"; }
    void wait_for_others() const {
        for (int rank = 0; rank < world_size(); ++rank) {
            const auto name = m_name + "." + std::to_string(rank);
            if (rank == world_rank()) continue;
            while (::access(name.c_str(), F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            std::remove(name.c_str());
        }
    }

  private:
    std::string m_name;
};

TEST_F(put_signal, ends_although_a_pe_that_gave_up_takes_no_bytes) {
    NEEDS_RANKS(2);
    constexpr std::size_t sizes[] = {8, 4096, 16384, 65536, 1000000};
    auto* const data = allocate<unsigned char>(sizes[4]);
    const queue on = make_queue(order::out_of_order);
    const buffer source = own().make_buffer(bytes(sizes[4], 1));
    const quiet_corner corner;
    if (me == all - 1) {
        EXPECT_EQ(causeway_symmetric_give_up(), CL_SUCCESS);
        corner.wait_for_others();
        return;
    }
    while (causeway_symmetric_put(data, &me, sizeof me, all - 1) == CL_SUCCESS) {} // until it has given up
    for (const std::size_t size : sizes) {
        event put;
        ASSERT_EQ(clEnqueuePut(on.get(), source.get(), CL_FALSE, 0, size, data, all - 1, 0, nullptr, put.out()),
                  CL_SUCCESS);
        EXPECT_TRUE(ends_with(put, CL_TRANSFER_PEER_FAILED)) << size;
    }
    corner.come();
    EXPECT_EQ(causeway_symmetric_finalize(), CL_TRANSFER_PEER_FAILED);
}

} // namespace
