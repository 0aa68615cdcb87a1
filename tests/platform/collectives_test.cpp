// SPDX-License-Identifier: Apache-2.0
// The collective commands, over more parts than there are devices, against the same on the host.
#include "platform_fixture.hpp"

#include <CL/cl_cluster.h>

#include <algorithm>

using namespace support;

namespace {

constexpr cl_uint parts = 5;
constexpr std::size_t piece = 16; // elements
constexpr std::size_t piece_bytes = piece * sizeof(cl_uint);
constexpr std::size_t length = piece * parts;
using values = std::vector<cl_uint>;

/// Part i is on device i, round and round. Sources are written without waiting where collectives come after all that is
/// done to their buffers, in any queue; targets are full of nines.
class collectives : public platform_test {
  protected:
    void SetUp() override {
        platform_test::SetUp();
        for (cl_uint i = 0; i < parts; ++i) {
            m_queues.push_back(queue(i % devices().size()));
            m_expected_sources.emplace_back(length);
            for (std::size_t k = 0; k < length; ++k) m_expected_sources[i][k] = static_cast<cl_uint>(1000 * i + k);
            m_sources.push_back(new_buffer(length * 4));
            m_targets.push_back(new_buffer(length * 4));
            source_list.push_back(m_sources[i].get());
            target_list.push_back(m_targets[i].get());
            ASSERT_EQ(clEnqueueWriteBuffer(m_queues[i], source_list[i], CL_FALSE, 0, length * 4,
                                           m_expected_sources[i].data(), 0, nullptr, nullptr),
                      CL_SUCCESS);
            const cl_uint nine = 9;
            ASSERT_EQ(clEnqueueFillBuffer(m_queues[i], target_list[i], &nine, 4, 0, length * 4, 0, nullptr, nullptr),
                      CL_SUCCESS);
        }
        if (spans()) return;
        for (auto* const each : m_queues) ASSERT_EQ(clFinish(each), CL_SUCCESS);
    }
    /// Commands may still read what the test has in host memory.
    void TearDown() override {
        for (auto* const each : m_queues) EXPECT_EQ(clFinish(each), CL_SUCCESS);
    }
    [[nodiscard]] cl_uint source(cl_uint of, std::size_t element) const { return m_expected_sources[of][element]; }
    [[nodiscard]] cl_command_queue* queue_list() { return m_queues.data(); }
    [[nodiscard]] cl_event* event_list() { return m_events; }

    /// Every event is over and of the right type; target i holds what expected(i, element) says.
    template <class Expected> void check(cl_command_type type, cl_uint count, Expected expected) {
        for (cl_uint i = 0; i < count; ++i) {
            const event_handle event(m_events[i]);
            ASSERT_EQ(clWaitForEvents(1, &m_events[i]), CL_SUCCESS);
            cl_command_type found = 0;
            ASSERT_EQ(clGetEventInfo(event.get(), CL_EVENT_COMMAND_TYPE, sizeof found, &found, nullptr), CL_SUCCESS);
            EXPECT_EQ(found, type);
        }
        for (cl_uint i = 0; i < count; ++i) {
            values wanted(length);
            for (std::size_t k = 0; k < length; ++k) wanted[k] = expected(i, k);
            EXPECT_EQ(read(m_queues[i], m_targets[i], length), wanted) << "target " << i;
        }
    }

    std::vector<cl_mem> source_list, target_list;

  private:
    std::vector<cl_command_queue> m_queues;
    std::vector<buffer_handle> m_sources, m_targets;
    std::vector<values> m_expected_sources;
    cl_event m_events[parts] = {};
};

TEST_F(collectives, broadcast) {
    std::size_t to[parts] = {0, 4, 8, 12, 16};
    ASSERT_EQ(clEnqueueBroadcastBuffer(queue_list(), source_list[1], parts, target_list.data(), 8, to, piece_bytes, 0,
                                       nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_BROADCAST_BUFFER, parts,
          [&](cl_uint i, std::size_t k) { return k >= i && k < i + piece ? source(1, k - i + 2) : 9U; });
}

TEST_F(collectives, scatter) {
    ASSERT_EQ(clEnqueueScatterBuffer(queue_list(), source_list[2], parts, target_list.data(), 0, nullptr, piece_bytes,
                                     0, nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_SCATTER_BUFFER, parts,
          [&](cl_uint i, std::size_t k) { return k < piece ? source(2, i * piece + k) : 9U; });
}

TEST_F(collectives, gather) {
    std::size_t from[parts] = {0, 4, 8, 12, 16};
    ASSERT_EQ(clEnqueueGatherBuffer(queue_list()[0], parts, source_list.data(), target_list[0], from, 0, piece_bytes, 0,
                                    nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_GATHER_BUFFER, 1,
          [&](cl_uint, std::size_t k) { return source(static_cast<cl_uint>(k / piece), k / piece + k % piece); });
}

TEST_F(collectives, all_gather) {
    ASSERT_EQ(clEnqueueAllGatherBuffer(queue_list(), parts, source_list.data(), target_list.data(), nullptr, nullptr,
                                       piece_bytes, 0, nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_ALL_GATHER_BUFFER, parts,
          [&](cl_uint, std::size_t k) { return source(static_cast<cl_uint>(k / piece), k % piece); });
}

TEST_F(collectives, all_to_all) {
    ASSERT_EQ(clEnqueueAlltoAllBuffer(queue_list(), parts, source_list.data(), target_list.data(), nullptr, nullptr,
                                      piece_bytes, 0, nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_ALL_TO_ALL_BUFFER, parts,
          [&](cl_uint i, std::size_t k) { return source(static_cast<cl_uint>(k / piece), i * piece + k % piece); });
}

TEST_F(collectives, reduce) {
    ASSERT_EQ(clEnqueueReduceBuffer(queue_list()[0], parts, source_list.data(), target_list[0], nullptr, 0, piece_bytes,
                                    CL_UNSIGNED_INT32, 0, nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_REDUCE_BUFFER, 1, [&](cl_uint, std::size_t k) {
        return k < piece ? static_cast<cl_uint>(10000 + parts * k) : 9U; // 0 + 1000 + ... + 4000
    });
}

TEST_F(collectives, all_reduce) {
    ASSERT_EQ(clEnqueueAllReduceBuffer(queue_list(), parts, source_list.data(), target_list.data(), nullptr, nullptr,
                                       piece_bytes, CL_SIGNED_INT32, 0, nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_ALL_REDUCE_BUFFER, parts,
          [&](cl_uint, std::size_t k) { return k < piece ? static_cast<cl_uint>(10000 + parts * k) : 9U; });
}

TEST_F(collectives, reduce_scatter) {
    ASSERT_EQ(clEnqueueReduceScatterBuffer(queue_list(), parts, source_list.data(), target_list.data(), nullptr,
                                           nullptr, piece_bytes, CL_UNSIGNED_INT32, 0, nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_REDUCE_SCATTER_BUFFER, parts, [&](cl_uint i, std::size_t k) {
        return k < piece ? static_cast<cl_uint>(10000 + parts * (i * piece + k)) : 9U;
    });
}

TEST_F(collectives, scan) {
    ASSERT_EQ(clEnqueueScanBuffer(queue_list(), parts, source_list.data(), target_list.data(), nullptr, nullptr,
                                  piece_bytes, CL_UNSIGNED_INT32, 0, nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_SCAN_BUFFER, parts, [&](cl_uint i, std::size_t k) {
        return k < piece ? static_cast<cl_uint>(1000 * (i * (i + 1) / 2) + (i + 1) * k) : 9U;
    });
}

TEST_F(collectives, combine_by_other_operators) {
    const auto fold = [&](std::size_t k, auto combine) {
        cl_uint all = source(0, k);
        for (cl_uint of = 1; of < parts; ++of) all = combine(all, source(of, k));
        return all;
    };
    const auto expect = [&](cl_reduction_op op, auto combine) {
        ASSERT_EQ(clEnqueueAllReduceBufferWithOp(queue_list(), parts, source_list.data(), target_list.data(), nullptr,
                                                 nullptr, piece_bytes, CL_UNSIGNED_INT32, op, nullptr, 0, nullptr,
                                                 event_list()),
                  CL_SUCCESS);
        check(CL_COMMAND_ALL_REDUCE_BUFFER, parts,
              [&](cl_uint, std::size_t k) { return k < piece ? fold(k, combine) : 9U; });
    };
    expect(CL_REDUCTION_PRODUCT, [](cl_uint a, cl_uint b) { return a * b; });
    expect(CL_REDUCTION_MIN, [](cl_uint a, cl_uint b) { return std::min(a, b); });
    expect(CL_REDUCTION_AND, [](cl_uint a, cl_uint b) { return a & b; });
    expect(CL_REDUCTION_XOR, [](cl_uint a, cl_uint b) { return a ^ b; });
}

TEST_F(collectives, combine_floats_of_every_size) {
    const auto expect = [&](cl_channel_type type, auto zero, std::size_t bytes) {
        using element = decltype(zero);
        const std::vector<element> given(piece, static_cast<element>(type == CL_HALF_FLOAT ? 0x3C00 : 1)); // each is
                                                                                                           // one
        const element largest = static_cast<element>(type == CL_HALF_FLOAT ? 0x4000 : 2); // or two
        for (cl_uint i = 0; i < parts; ++i) {
            auto own = given;
            own[i] = largest;
            ASSERT_EQ(clEnqueueWriteBuffer(queue_list()[i], source_list[i], CL_TRUE, 0, piece * bytes, own.data(), 0,
                                           nullptr, nullptr),
                      CL_SUCCESS);
        }
        ASSERT_EQ(clEnqueueReduceBufferWithOp(queue_list()[0], parts, source_list.data(), target_list[0], nullptr, 0,
                                              piece * bytes, type, CL_REDUCTION_MAX, nullptr, 0, nullptr, nullptr),
                  CL_SUCCESS);
        std::vector<element> back(piece);
        ASSERT_EQ(clEnqueueReadBuffer(queue_list()[0], target_list[0], CL_TRUE, 0, piece * bytes, back.data(), 0,
                                      nullptr, nullptr),
                  CL_SUCCESS);
        for (std::size_t k = 0; k < piece; ++k)
            EXPECT_EQ(back[k], k < parts ? largest : given[k]) << type << ", element " << k;
    };
    expect(CL_FLOAT, cl_float{}, 4);
    expect(CL_HALF_FLOAT, cl_half{}, 2);
    const bool all_have_doubles = std::all_of(devices().begin(), devices().end(), [](cl_device_id device) {
        cl_device_fp_config has = 0;
        EXPECT_EQ(clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof has, &has, nullptr), CL_SUCCESS);
        return has != 0;
    });
    if (all_have_doubles) expect(CL_DOUBLE, cl_double{}, 8);
}

TEST_F(collectives, combine_by_a_kernel_of_the_programs_own) {
    // The larger of two by its lower bits.
    const auto program = build(
        "__kernel void pick(__global const uint* a, __global const uint* b, __global uint* to) {"
        "    size_t i = get_global_id(0);"
        "    to[i] = a[i] % 7 > b[i] % 7 || (a[i] % 7 == b[i] % 7 && a[i] > b[i]) ? a[i] : b[i]; }"
        "__kernel void odd(__global uint* a) { a[0] = 1; }"
        "__kernel void by_value(__global const uint* a, __global uint* to, uint value) {"
        "    to[get_global_id(0)] = a[get_global_id(0)] + value; }");
    const auto pick = kernel_of(program, "pick");
    const auto odd = kernel_of(program, "odd");
    const auto by_value = kernel_of(program, "by_value");
    const auto better = [](cl_uint a, cl_uint b) { return a % 7 > b % 7 || (a % 7 == b % 7 && a > b) ? a : b; };
    ASSERT_EQ(clEnqueueScanBufferWithOp(queue_list(), parts, source_list.data(), target_list.data(), nullptr, nullptr,
                                        piece_bytes, CL_UNSIGNED_INT32, CL_REDUCTION_KERNEL, pick.get(), 0, nullptr,
                                        event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_SCAN_BUFFER, parts, [&](cl_uint i, std::size_t k) {
        if (k >= piece) return 9U;
        cl_uint best = source(0, k);
        for (cl_uint of = 1; of <= i; ++of) best = better(best, source(of, k));
        return best;
    });
    ASSERT_EQ(clEnqueueReduceScatterBufferWithOp(queue_list(), parts, source_list.data(), target_list.data(), nullptr,
                                                 nullptr, piece_bytes, CL_UNSIGNED_INT32, CL_REDUCTION_KERNEL,
                                                 pick.get(), 0, nullptr, event_list()),
              CL_SUCCESS);
    check(CL_COMMAND_REDUCE_SCATTER_BUFFER, parts, [&](cl_uint i, std::size_t k) {
        if (k >= piece) return 9U;
        cl_uint best = source(0, i * piece + k);
        for (cl_uint of = 1; of < parts; ++of) best = better(best, source(of, i * piece + k));
        return best;
    });
    const auto reduce = [&](cl_channel_type type, cl_reduction_op op, cl_kernel kernel) {
        return clEnqueueReduceBufferWithOp(queue_list()[0], parts, source_list.data(), target_list[0], nullptr, 0,
                                           piece_bytes, type, op, kernel, 0, nullptr, nullptr);
    };
    EXPECT_EQ(reduce(CL_UNSIGNED_INT32, CL_REDUCTION_KERNEL, nullptr), CL_INVALID_KERNEL);
    EXPECT_EQ(reduce(CL_UNSIGNED_INT32, CL_REDUCTION_MIN, pick.get()), CL_INVALID_KERNEL);
    EXPECT_EQ(reduce(CL_UNSIGNED_INT32, CL_REDUCTION_KERNEL, odd.get()), CL_INVALID_KERNEL_ARGS);
    EXPECT_EQ(reduce(CL_UNSIGNED_INT32, CL_REDUCTION_KERNEL, by_value.get()), CL_INVALID_KERNEL_ARGS);
    EXPECT_EQ(reduce(CL_FLOAT, CL_REDUCTION_XOR, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(reduce(CL_UNSIGNED_INT32, 99, nullptr), CL_INVALID_VALUE);
}

TEST_F(collectives, whose_step_fails_deliver_nothing_and_the_next_finish_says_so) {
    const auto program = build("__kernel __attribute__((reqd_work_group_size(3, 1, 1)))"
                               "void threes(__global const uint* a, __global const uint* b, __global uint* to) {"
                               "    to[get_global_id(0)] = a[get_global_id(0)]; }");
    // No driver takes it for sixteen elements.
    const auto threes = kernel_of(program, "threes");
    const auto code = clEnqueueAllReduceBufferWithOp(queue_list(), parts, source_list.data(), target_list.data(),
                                                     nullptr, nullptr, piece_bytes, CL_UNSIGNED_INT32,
                                                     CL_REDUCTION_KERNEL, threes.get(), 0, nullptr, event_list());
    if (!spans()) {
        EXPECT_EQ(code, CL_INVALID_WORK_GROUP_SIZE);
    } else if (code != CL_INVALID_WORK_GROUP_SIZE) { // the step had to wait, or is another rank's
        ASSERT_EQ(code, CL_SUCCESS);
        for (cl_uint i = 0; i < parts; ++i) {
            const event_handle event(event_list()[i]);
            EXPECT_EQ(clWaitForEvents(1, &event_list()[i]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        }
        // With more devices than parts the others' queues have no part in it.
        for (std::size_t i = 0; i < std::min<std::size_t>(parts, devices().size()); ++i)
            EXPECT_EQ(clFinish(queue(i)), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) << "queue " << i;
    }
    for (cl_uint i = 0; i < parts; ++i) {
        values seen(length);
        ASSERT_EQ(clEnqueueReadBuffer(queue_list()[i], target_list[i], CL_TRUE, 0, length * 4, seen.data(), 0, nullptr,
                                      nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(seen, values(length, 9)) << "target " << i;
    }
}

TEST_F(collectives, a_failed_wait_list_leaves_the_targets_and_fails_every_event) {
    const auto gate = new_user_event();
    const std::vector waits{gate.get()};
    ASSERT_EQ(clEnqueueAllReduceBuffer(queue_list(), parts, source_list.data(), target_list.data(), nullptr, nullptr,
                                       piece_bytes, CL_UNSIGNED_INT32, 1, waits.data(), event_list()),
              CL_SUCCESS);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), -5), CL_SUCCESS);
    for (cl_uint i = 0; i < parts; ++i) {
        const event_handle event(event_list()[i]);
        EXPECT_EQ(clWaitForEvents(1, &event_list()[i]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        ASSERT_EQ(clRetainMemObject(target_list[i]), CL_SUCCESS);
        const buffer_handle target(target_list[i]);
        EXPECT_EQ(read(queue_list()[i], target, length), values(length, 9));
    }
}

TEST_F(collectives, refuse_targets_that_are_sources_before_anything_moves) {
    auto* const all = source_list.data();
    const auto expect_refused = [](cl_int code) { EXPECT_EQ(code, CL_MEM_COPY_OVERLAP); };
    const std::size_t inside = piece_bytes / 2;
    expect_refused(
        clEnqueueBroadcastBuffer(queue_list(), all[4], parts, all, inside, nullptr, piece_bytes, 0, nullptr, nullptr));
    expect_refused(
        clEnqueueScatterBuffer(queue_list(), all[4], parts, all, 0, nullptr, piece_bytes, 0, nullptr, nullptr));
    expect_refused(
        clEnqueueGatherBuffer(queue_list()[0], parts, all, all[4], nullptr, 0, piece_bytes, 0, nullptr, nullptr));
    expect_refused(
        clEnqueueAllGatherBuffer(queue_list(), parts, all, all, nullptr, nullptr, piece_bytes, 0, nullptr, nullptr));
    expect_refused(
        clEnqueueAlltoAllBuffer(queue_list(), parts, all, all, nullptr, nullptr, piece_bytes, 0, nullptr, nullptr));
    expect_refused(clEnqueueReduceScatterBuffer(queue_list(), parts, all, all, nullptr, nullptr, piece_bytes,
                                                CL_UNSIGNED_INT32, 0, nullptr, nullptr));
    for (cl_uint i = 0; i < parts; ++i) {
        values seen(length);
        ASSERT_EQ(
            clEnqueueReadBuffer(queue_list()[i], all[i], CL_TRUE, 0, length * 4, seen.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
        for (std::size_t k = 0; k < length; ++k)
            ASSERT_EQ(seen[k], source(i, k)) << "source " << i << ", element " << k;
    }
    // Sums go where their sources are.
    ASSERT_EQ(clEnqueueAllReduceBuffer(queue_list(), parts, all, all, nullptr, nullptr, piece_bytes, CL_UNSIGNED_INT32,
                                       0, nullptr, event_list()),
              CL_SUCCESS);
    for (cl_uint i = 0; i < parts; ++i) {
        const event_handle over(event_list()[i]);
        values seen(piece);
        ASSERT_EQ(clEnqueueReadBuffer(queue_list()[i], all[i], CL_TRUE, 0, piece_bytes, seen.data(), 1,
                                      &event_list()[i], nullptr),
                  CL_SUCCESS);
        for (std::size_t k = 0; k < piece; ++k) {
            cl_uint sum = 0;
            for (cl_uint of = 0; of < parts; ++of) sum += source(of, k);
            ASSERT_EQ(seen[k], sum) << "sum " << i << ", element " << k;
        }
    }
}

TEST_F(collectives, refuse_what_does_not_fit) {
    auto* const queues = queue_list();
    auto* const from = source_list.data();
    auto* const to = target_list.data();
    EXPECT_EQ(clEnqueueBroadcastBuffer(queues, from[0], 0, to, 0, nullptr, 4, 0, nullptr, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueueBroadcastBuffer(queues, nullptr, parts, to, 0, nullptr, 4, 0, nullptr, nullptr),
              CL_INVALID_MEM_OBJECT);
    EXPECT_EQ(clEnqueueBroadcastBuffer(queues, from[0], parts, to, 0, nullptr, 0, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueueScatterBuffer(queues, from[0], parts, to, 4, nullptr, piece_bytes, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    EXPECT_EQ(
        clEnqueueReduceBuffer(queues[0], parts, from, to[0], nullptr, 0, 6, CL_UNSIGNED_INT32, 0, nullptr, nullptr),
        CL_INVALID_VALUE);
    EXPECT_EQ(
        clEnqueueReduceBuffer(queues[0], parts, from, to[0], nullptr, 0, 8, CL_UNORM_INT_101010, 0, nullptr, nullptr),
        CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueueGatherBuffer(nullptr, parts, from, to[0], nullptr, 0, 4, 0, nullptr, nullptr),
              CL_INVALID_OPERATION);
}

} // namespace
