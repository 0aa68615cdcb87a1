// SPDX-License-Identifier: Apache-2.0
// Memory of the heap where any buffer may stand: transfers to files and ranks, sub-buffers, stream graphs.
#include "symmetric_fixture.hpp"

#include <CL/cl_data_transfer_mpi.h>
#include <causeway/graph.h>

#include <cstdio>
#include <memory>
#include <numeric>

using namespace symmetric_test;

namespace {

class symmetric_memory_elsewhere : public with_heap {
  protected:
    /// In the heap's buffer, with this PE's bytes.
    struct range {
        unsigned char* address;
        cl_mem buffer;
        std::size_t offset;
    };
    [[nodiscard]] range filled(std::size_t size, int message) const {
        range made{allocate<unsigned char>(size), nullptr, 0};
        made.buffer = causeway_symmetric_buffer(made.address, &made.offset, nullptr);
        const auto own_bytes = pattern(me, message, size);
        EXPECT_EQ(causeway_symmetric_put(made.address, own_bytes.data(), size, me), CL_SUCCESS)
            << causeway_error_last_message();
        return made;
    }
};

TEST_F(symmetric_memory_elsewhere, goes_to_a_file_and_comes_from_there) {
    constexpr std::size_t size = 300001;
    const auto here = filled(size, 1), back = filled(size, 2);
    const queue on = make_queue(order::in_order);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    ASSERT_NE(file, nullptr);
    const int descriptor = fileno(file.get());
    ASSERT_EQ(clEnqueueReadBufferToFile(on.get(), here.buffer, CL_TRUE, here.offset, size, descriptor, 5, 0, nullptr,
                                        nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    ASSERT_EQ(clEnqueueWriteBufferFromFile(on.get(), back.buffer, CL_TRUE, back.offset, size, descriptor, 5, 0, nullptr,
                                           nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    // Behind the commands, others get what the file had.
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    bytes got(size);
    ASSERT_EQ(causeway_symmetric_get(got.data(), back.address, size, next), CL_SUCCESS);
    EXPECT_TRUE(same(got, pattern(next, 1, size)));
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_memory_elsewhere, goes_to_a_rank_and_comes_from_there) {
    for (const std::size_t size : {std::size_t{1000}, (std::size_t{2} << 20) + 3}) {
        const auto here = filled(size, 3), back = filled(size, 4);
        const queue sending = make_queue(order::in_order), receiving = make_queue(order::in_order);
        event sent, received;
        ASSERT_EQ(clEnqueueRecvBuffer(receiving.get(), back.buffer, CL_FALSE, back.offset, size, before, 7,
                                      MPI_COMM_WORLD, 0, nullptr, received.out()),
                  CL_SUCCESS)
            << causeway_error_last_message();
        ASSERT_EQ(clEnqueueSendBuffer(sending.get(), here.buffer, CL_FALSE, here.offset, size, next, 7, MPI_COMM_WORLD,
                                      0, nullptr, sent.out()),
                  CL_SUCCESS)
            << causeway_error_last_message();
        EXPECT_TRUE(completes(sent));
        EXPECT_TRUE(completes(received));
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        bytes got(size);
        ASSERT_EQ(causeway_symmetric_get(got.data(), back.address, size, next), CL_SUCCESS);
        EXPECT_TRUE(same(got, pattern(me, 3, size)));
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_free(back.address), CL_SUCCESS);
        ASSERT_EQ(causeway_symmetric_free(here.address), CL_SUCCESS);
    }
}

TEST_F(symmetric_memory_elsewhere, is_put_and_got_by_its_sub_buffers) {
    constexpr std::size_t size = 8192, first = 4096, part_size = 2048;
    auto* const two = static_cast<unsigned char*>(causeway_symmetric_align(4096, 2 * size));
    ASSERT_NE(two, nullptr) << causeway_error_last_message();
    std::size_t offset = 0;
    cl_mem heap = causeway_symmetric_buffer(two, &offset, nullptr);
    cl_buffer_region part{offset + first, part_size};
    cl_int code = CL_SUCCESS;
    const buffer sub(clCreateSubBuffer(heap, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &part, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const auto mine = pattern(me, 5, part_size);
    const queue on = make_queue(order::in_order);
    ASSERT_EQ(clEnqueueWriteBuffer(on.get(), sub.get(), CL_TRUE, 0, part_size, mine.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueuePut(on.get(), sub.get(), CL_TRUE, 10, part_size - 10, two + size, next, 0, nullptr, nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    const auto theirs = pattern(before, 5, part_size);
    EXPECT_TRUE(same(contents(two + size, part_size - 10), bytes(theirs.begin() + 10, theirs.end())));
    ASSERT_EQ(clEnqueueGet(on.get(), sub.get(), CL_TRUE, 0, part_size - 10, two + size, next, 0, nullptr, nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    EXPECT_TRUE(same(contents(two + first, part_size - 10), bytes(mine.begin() + 10, mine.end())));
    EXPECT_EQ(clEnqueuePut(on.get(), sub.get(), CL_TRUE, 1, part_size, two, next, 0, nullptr, nullptr),
              CL_INVALID_VALUE)
        << "beyond the sub-buffer";
    // The sub-buffer is that part of the heap.
    EXPECT_EQ(clEnqueuePut(on.get(), sub.get(), CL_TRUE, 0, 100, two + first + 50, me, 0, nullptr, nullptr),
              CL_MEM_COPY_OVERLAP);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_memory_elsewhere, is_an_argument_in_a_stream_graph) {
    constexpr std::size_t count = 4096, token = 1024; // integers
    auto* const table = static_cast<cl_int*>(causeway_symmetric_align(4096, token * sizeof(cl_int)));
    ASSERT_NE(table, nullptr) << causeway_error_last_message();
    // The table is what the PE before puts there.
    std::vector<cl_int> amounts(token), in(count), out(count);
    std::iota(amounts.begin(), amounts.end(), 1000 * me);
    std::iota(in.begin(), in.end(), 7);
    ASSERT_EQ(causeway_symmetric_put(table, amounts.data(), token * sizeof(cl_int), next), CL_SUCCESS);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    std::size_t offset = 0;
    cl_mem heap = causeway_symmetric_buffer(table, &offset, nullptr);
    cl_buffer_region part{offset, token * sizeof(cl_int)};
    cl_int code = CL_SUCCESS;
    const buffer sub(clCreateSubBuffer(heap, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &part, &code));
    ASSERT_EQ(code, CL_SUCCESS);

    causeway_graph* raw = nullptr;
    ASSERT_EQ(causeway_graph_create(own().context(), own().device(), &raw), CL_SUCCESS);
    const std::unique_ptr<causeway_graph, void (*)(causeway_graph*)> graph(raw, causeway_graph_release);
    causeway_kernel add{};
    add.source = "kernel void add(global const int* table, global const int* in, global int* out) {"
                 "    const size_t i = get_global_id(0);"
                 "    out[i] = in[i] + table[i];"
                 "}";
    add.function = "add";
    add.item_size = sizeof(cl_int);
    const auto token_bytes = token * sizeof(cl_int);
    ASSERT_EQ(causeway_graph_add_kernel(raw, "add", &add), CL_SUCCESS) << causeway_error_last_message();
    cl_mem argument = sub.get();
    ASSERT_EQ(causeway_graph_set_argument(raw, "add", 0, sizeof argument, &argument), CL_SUCCESS)
        << causeway_error_last_message();
    ASSERT_EQ(causeway_graph_add_input_stream(raw, "in", in.data(), count * sizeof(cl_int), token_bytes), CL_SUCCESS);
    ASSERT_EQ(causeway_graph_add_output_stream(raw, "out", out.data(), count * sizeof(cl_int), token_bytes),
              CL_SUCCESS);
    ASSERT_EQ(causeway_graph_connect(raw, "in", 0, "add", 0, token_bytes), CL_SUCCESS) << causeway_error_last_message();
    ASSERT_EQ(causeway_graph_connect(raw, "add", 0, "out", 0, token_bytes), CL_SUCCESS)
        << causeway_error_last_message();
    ASSERT_EQ(causeway_graph_initialize(raw), CL_SUCCESS) << causeway_error_last_message();
    ASSERT_EQ(causeway_graph_execute(raw), CL_SUCCESS) << causeway_error_last_message();
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(out[i], static_cast<cl_int>(7 + i + 1000 * static_cast<std::size_t>(before) + i % token)) << i;
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

} // namespace
