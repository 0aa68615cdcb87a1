// SPDX-License-Identifier: Apache-2.0
// Broadcast, collect, all-to-all and reductions.
#include "symmetric_fixture.hpp"

#include <functional>

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

template <class Value> struct reduced {
    cl_reduction operation;
    std::function<Value(Value, Value)> combine;
};

/// What PE `pe` brings: small, so that products and sums of floating-point numbers are exact.
template <class Value> Value brought(int pe, std::size_t i) {
    return static_cast<Value>(1 + (static_cast<std::size_t>(pe) * 5 + i * 3) % 7);
}

template <class Value> void reduces(cl_command_queue on, cl_element_type type, const reduced<Value>& how,
                                    std::size_t count, bool in_place) {
    const int me = causeway_symmetric_pe(), all = causeway_symmetric_pes();
    auto* const source = static_cast<Value*>(causeway_symmetric_malloc(count * sizeof(Value)));
    auto* const target = in_place ? source : static_cast<Value*>(causeway_symmetric_malloc(count * sizeof(Value)));
    ASSERT_NE(source, nullptr);
    ASSERT_NE(target, nullptr);
    std::vector<Value> values(count), expected(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = brought<Value>(me, i);
        expected[i] = brought<Value>(0, i);
        for (int pe = 1; pe < all; ++pe) expected[i] = how.combine(expected[i], brought<Value>(pe, i));
    }
    ASSERT_EQ(causeway_symmetric_put(source, values.data(), count * sizeof(Value), me), CL_SUCCESS);
    event done;
    ASSERT_EQ(clEnqueueSymmetricReduce(on, CL_TRUE, target, source, count, type, how.operation, 0, nullptr, done.out()),
              CL_SUCCESS)
        << causeway_error_last_message();
    EXPECT_EQ(transfer_info<std::size_t>(done.get(), CL_TRANSFER_BYTES_MOVED), count * sizeof(Value));
    std::vector<Value> seen(count);
    ASSERT_EQ(causeway_symmetric_get(seen.data(), target, count * sizeof(Value), me), CL_SUCCESS);
    EXPECT_EQ(seen, expected) << "type " << type << ", operation " << how.operation << ", " << count << " elements";
    if (!in_place) {
        ASSERT_EQ(causeway_symmetric_free(target), CL_SUCCESS);
    }
    ASSERT_EQ(causeway_symmetric_free(source), CL_SUCCESS);
}

template <class Value> void reduces_by_all(cl_command_queue on, cl_element_type type) {
    std::vector<reduced<Value>> operations{{CL_REDUCE_SUM, [](Value a, Value b) { return static_cast<Value>(a + b); }},
                                           {CL_REDUCE_PROD, [](Value a, Value b) { return static_cast<Value>(a * b); }},
                                           {CL_REDUCE_MIN, [](Value a, Value b) { return std::min(a, b); }},
                                           {CL_REDUCE_MAX, [](Value a, Value b) { return std::max(a, b); }}};
    if constexpr (std::is_integral_v<Value>) {
        operations.push_back({CL_REDUCE_AND, [](Value a, Value b) { return static_cast<Value>(a & b); }});
        operations.push_back({CL_REDUCE_OR, [](Value a, Value b) { return static_cast<Value>(a | b); }});
        operations.push_back({CL_REDUCE_XOR, [](Value a, Value b) { return static_cast<Value>(a ^ b); }});
    }
    for (const auto& each : operations) reduces<Value>(on, type, each, 77, each.operation % 2 == 0);
}

TEST_F(symmetric_collectives, reduce_elements_of_every_type) {
    const queue on = make_queue(order::in_order);
    reduces_by_all<std::int8_t>(on.get(), CL_ELEMENT_CHAR);
    reduces_by_all<std::uint8_t>(on.get(), CL_ELEMENT_UCHAR);
    reduces_by_all<std::int16_t>(on.get(), CL_ELEMENT_SHORT);
    reduces_by_all<std::uint16_t>(on.get(), CL_ELEMENT_USHORT);
    reduces_by_all<std::int32_t>(on.get(), CL_ELEMENT_INT);
    reduces_by_all<std::uint32_t>(on.get(), CL_ELEMENT_UINT);
    reduces_by_all<std::int64_t>(on.get(), CL_ELEMENT_LONG);
    reduces_by_all<std::uint64_t>(on.get(), CL_ELEMENT_ULONG);
    reduces_by_all<float>(on.get(), CL_ELEMENT_FLOAT);
    reduces_by_all<double>(on.get(), CL_ELEMENT_DOUBLE);
}

TEST_F(symmetric_collectives, reduce_any_number_of_elements) {
    const queue on = make_queue(order::out_of_order);
    const reduced<std::int64_t> sum{CL_REDUCE_SUM, std::plus<std::int64_t>()};
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{1000}, std::size_t{700001}})
        for (const bool in_place : {false, true})
            reduces<std::int64_t>(on.get(), CL_ELEMENT_LONG, sum, count, in_place);
}

TEST_F(symmetric_collectives, compare_signed_numbers_as_such) {
    auto* const words = allocate<std::int32_t>(2);
    const queue on = make_queue(order::in_order);
    const std::int32_t mine = me == 0 ? -5 : me;
    ASSERT_EQ(causeway_symmetric_put(words, &mine, 4, me), CL_SUCCESS);
    for (const cl_element_type type : {cl_element_type{CL_ELEMENT_INT}, cl_element_type{CL_ELEMENT_UINT}}) {
        ASSERT_EQ(
            clEnqueueSymmetricReduce(on.get(), CL_TRUE, words + 1, words, 1, type, CL_REDUCE_MIN, 0, nullptr, nullptr),
            CL_SUCCESS)
            << causeway_error_last_message();
        std::int32_t seen = 0;
        ASSERT_EQ(causeway_symmetric_get(&seen, words + 1, 4, me), CL_SUCCESS);
        EXPECT_EQ(seen, type == CL_ELEMENT_INT || all == 1 ? -5 : 1);
    }
}

TEST_F(symmetric_collectives, refuse_reductions_that_make_no_sense) {
    auto* const memory = allocate<double>(16);
    const queue on = make_queue(order::out_of_order);
    const auto refused = [&](void* target, const void* source, std::size_t count, cl_element_type type,
                             cl_reduction operation) {
        return clEnqueueSymmetricReduce(on.get(), CL_FALSE, target, source, count, type, operation, 0, nullptr,
                                        nullptr);
    };
    EXPECT_EQ(refused(memory, memory, 8, CL_ELEMENT_DOUBLE, CL_REDUCE_AND), CL_INVALID_VALUE);
    EXPECT_EQ(std::string(causeway_error_last_message()), "a reduction by bits of double, which is no integer");
    EXPECT_EQ(refused(memory, memory, 8, 10, CL_REDUCE_SUM), CL_INVALID_VALUE);
    EXPECT_EQ(refused(memory, memory, 8, CL_ELEMENT_DOUBLE, 7), CL_INVALID_VALUE);
    EXPECT_EQ(refused(memory, memory + 4, 8, CL_ELEMENT_DOUBLE, CL_REDUCE_SUM), CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(refused(reinterpret_cast<char*>(memory) + 4, memory, 1, CL_ELEMENT_DOUBLE, CL_REDUCE_SUM),
              CL_INVALID_VALUE);
    EXPECT_EQ(refused(memory, memory, std::size_t{1} << 62, CL_ELEMENT_DOUBLE, CL_REDUCE_SUM), CL_INVALID_VALUE);
    NEEDS_RANKS(2);
    EXPECT_EQ(clEnqueueSymmetricReduce(on.get(), CL_TRUE, memory, memory, me == 0 ? 4 : 8, CL_ELEMENT_DOUBLE,
                                       CL_REDUCE_SUM, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
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

TEST_F(symmetric_collectives, that_one_pe_refuses_fail_on_all_and_the_next_are_whole) {
    NEEDS_RANKS(2);
    const auto part = std::size_t{64}, whole = part * static_cast<std::size_t>(all);
    auto *const source = allocate<unsigned char>(whole), *const target = allocate<unsigned char>(whole);
    auto* const freed = allocate<unsigned char>(whole);
    ASSERT_EQ(causeway_symmetric_free(freed), CL_SUCCESS);
    const queue on = make_queue(order::in_order);
    const bool refuses = me == all - 1;
    const auto expect_refused = [&](auto enqueue, const std::string& name, const std::string& reason, cl_int code) {
        event met;
        if (refuses) {
            EXPECT_EQ(enqueue(met.out()), code) << name;
        } else {
            ASSERT_EQ(enqueue(met.out()), CL_SUCCESS) << causeway_error_last_message();
            EXPECT_TRUE(ends_with(met, CL_TRANSFER_PEER_FAILED));
            const auto said = transfer_text(met.get(), CL_TRANSFER_ERROR_MESSAGE);
            EXPECT_EQ(said.find(name + ": PE " + std::to_string(all - 1) + ": "), 0u) << said;
            EXPECT_NE(said.find(reason), std::string::npos) << said;
        }
        // Each PE's next call meets the others' next one.
        const auto mark = static_cast<int>(name.size());
        fill(source, pattern(me, mark, part));
        ASSERT_EQ(clEnqueueSymmetricBroadcast(on.get(), CL_TRUE, target, source, part, 0, 0, nullptr, nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
        EXPECT_TRUE(same(contents(target, part), pattern(0, mark, part))) << name;
    };
    auto* const from = refuses ? freed : source;
    expect_refused(
        [&](cl_event* met) {
            return clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, target, from, part, 0, 0, nullptr, met);
        },
        "a broadcast", "the source", CL_INVALID_VALUE);
    expect_refused(
        [&](cl_event* met) {
            return clEnqueueSymmetricCollect(on.get(), CL_FALSE, target, from, part, 0, nullptr, met);
        },
        "a collect", "the source", CL_INVALID_VALUE);
    expect_refused(
        [&](cl_event* met) {
            return clEnqueueSymmetricAllToAll(on.get(), CL_FALSE, target, refuses ? target : source, part, 0, nullptr,
                                              met);
        },
        "an all-to-all", "overlap", CL_MEM_COPY_OVERLAP);
    expect_refused(
        [&](cl_event* met) {
            return clEnqueueSymmetricReduce(on.get(), CL_FALSE, target, from, part / 4, CL_ELEMENT_UINT, CL_REDUCE_SUM,
                                            0, nullptr, met);
        },
        "a reduction", "the source", CL_INVALID_VALUE);
    expect_refused(
        [&](cl_event* met) { return clEnqueueSymmetricBarrier(on.get(), CL_FALSE, refuses ? 1 : 0, nullptr, met); },
        "a barrier", "", CL_INVALID_EVENT_WAIT_LIST);
}

TEST_F(symmetric_collectives, say_which_argument_differs) {
    NEEDS_RANKS(2);
    auto* const memory = allocate<unsigned char>(128);
    const queue on = make_queue(order::in_order);
    EXPECT_EQ(
        clEnqueueSymmetricBroadcast(on.get(), CL_TRUE, memory, memory + 64, 64, me == 0 ? 0 : 1, 0, nullptr, nullptr),
        CL_INVALID_VALUE);
    EXPECT_EQ(std::string(causeway_error_last_message()).find("a broadcast: the root is another one on PE "), 0u)
        << causeway_error_last_message();
    EXPECT_EQ(clEnqueueSymmetricReduce(on.get(), CL_TRUE, memory, memory + 64, 8,
                                       me == 0 ? CL_ELEMENT_INT : CL_ELEMENT_FLOAT, CL_REDUCE_SUM, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    EXPECT_EQ(std::string(causeway_error_last_message())
                  .find("a reduction: the element type or the operation is another one on PE "),
              0u)
        << causeway_error_last_message();
    EXPECT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
}

TEST_F(symmetric_collectives, that_meet_differently_often_end_those_behind_them) {
    NEEDS_RANKS(2);
    auto* const memory = allocate<unsigned char>(64);
    const queue on = make_queue(order::in_order);
    const auto broadcast = [&] {
        return clEnqueueSymmetricBroadcast(on.get(), CL_TRUE, memory, memory, 64, 0, 0, nullptr, nullptr);
    };
    const auto first = me == 0 ? clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr) : broadcast();
    EXPECT_EQ(first, CL_INVALID_OPERATION);
    for (int again = 0; again < 3; ++again) {
        EXPECT_EQ(broadcast(), CL_INVALID_OPERATION);
        EXPECT_NE(std::string(causeway_error_last_message()).find("make their collective calls in the same order"),
                  std::string::npos)
            << causeway_error_last_message();
    }
    EXPECT_EQ(causeway_symmetric_finalize(), CL_INVALID_OPERATION);
    MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(symmetric_collectives, refuse_addresses_that_are_not_the_same_everywhere) {
    NEEDS_RANKS(2);
    const auto part = std::size_t{64}, whole = part * static_cast<std::size_t>(all);
    auto *const source = allocate<unsigned char>(whole + part), *const target = allocate<unsigned char>(whole + part);
    const auto before_all = contents(target, whole + part);
    const queue on = make_queue(order::out_of_order);
    const auto expect_refused = [&](auto enqueue, const std::string& name) {
        for (const std::string what : {"target", "source"}) {
            auto* const to = target + (what == "target" && me == all - 1 ? 16 : 0);
            auto* const from = source + (what == "source" && me == all - 1 ? 16 : 0);
            event met;
            ASSERT_EQ(enqueue(to, from, met.out()), CL_SUCCESS) << causeway_error_last_message();
            EXPECT_TRUE(ends_with(met, CL_INVALID_VALUE));
            const auto said = transfer_text(met.get(), CL_TRANSFER_ERROR_MESSAGE);
            EXPECT_EQ(said.find(name + ": the " + what + " is at "), 0u) << said;
        }
    };
    expect_refused(
        [&](void* to, void* from, cl_event* event) {
            return clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, to, from, part, 0, 0, nullptr, event);
        },
        "a broadcast");
    expect_refused(
        [&](void* to, void* from, cl_event* event) {
            return clEnqueueSymmetricCollect(on.get(), CL_FALSE, to, from, part, 0, nullptr, event);
        },
        "a collect");
    expect_refused(
        [&](void* to, void* from, cl_event* event) {
            return clEnqueueSymmetricAllToAll(on.get(), CL_FALSE, to, from, part, 0, nullptr, event);
        },
        "an all-to-all");
    expect_refused(
        [&](void* to, void* from, cl_event* event) {
            return clEnqueueSymmetricReduce(on.get(), CL_FALSE, to, from, part / 4, CL_ELEMENT_UINT, CL_REDUCE_SUM, 0,
                                            nullptr, event);
        },
        "a reduction");
    EXPECT_TRUE(same(contents(target, whole + part), before_all));
    ASSERT_EQ(clEnqueueSymmetricBarrier(on.get(), CL_TRUE, 0, nullptr, nullptr), CL_SUCCESS)
        << causeway_error_last_message();
}

} // namespace
