// SPDX-License-Identifier: Apache-2.0
// Allocation, addresses, and what is refused.
#include "symmetric_fixture.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace symmetric_test;

namespace {

using symmetric_heap = with_heap;

::testing::AssertionResult refused(cl_int code, cl_int expected, const std::string& part) {
    const std::string message = causeway_error_last_message();
    if (code == expected && message.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << code << " instead of " << expected << ": " << message;
}

TEST_F(symmetric_heap, has_devices_of_two_vendors_where_the_run_is_for_that) {
    if (std::getenv("CAUSEWAY_TEST_VENDORS") == nullptr) GTEST_SKIP() << "CAUSEWAY_TEST_VENDORS is not set";
    std::array<char, 256> own_vendor{};
    ASSERT_EQ(clGetDeviceInfo(own().device(), CL_DEVICE_VENDOR, own_vendor.size(), own_vendor.data(), nullptr),
              CL_SUCCESS);
    std::array<char, 256> own_version{}; // vendors of one processor's drivers may have one name
    ASSERT_EQ(clGetDeviceInfo(own().device(), CL_DRIVER_VERSION, own_version.size(), own_version.data(), nullptr),
              CL_SUCCESS);
    const auto mine = static_cast<std::uint64_t>(
        std::hash<std::string>()(std::string(own_vendor.data()) + own_version.data()));
    std::uint64_t most = 0, least = 0;
    MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_NE(most, least) << "all have " << own_vendor.data() << ", " << own_version.data();
}

TEST_F(symmetric_heap, gives_the_same_offsets_everywhere) {
    std::vector<std::uint64_t> offsets;
    std::vector<void*> taken;
    for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20, std::size_t{64}}) {
        taken.push_back(causeway_symmetric_malloc(size));
        ASSERT_NE(taken.back(), nullptr) << causeway_error_last_message();
        std::size_t offset = 1;
        EXPECT_NE(causeway_symmetric_buffer(taken.back(), &offset, nullptr), nullptr);
        EXPECT_EQ(offset % 64, 0u);
        offsets.push_back(offset);
    }
    auto most = offsets, least = offsets;
    MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_EQ(most, least);
    for (void* each : taken) EXPECT_EQ(causeway_symmetric_free(each), CL_SUCCESS);
    void* const aligned = causeway_symmetric_align(4096, 10);
    std::size_t offset = 1;
    EXPECT_NE(causeway_symmetric_buffer(aligned, &offset, nullptr), nullptr);
    EXPECT_EQ(offset % 4096, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 4096, 0u);
    // The heaps of the PEs begin at any page, so that no offset would fit them all.
    EXPECT_EQ(causeway_symmetric_align(8192, 10), nullptr);
}

TEST_F(symmetric_heap, finds_addresses_in_the_middle_and_in_sub_buffers) {
    auto* const memory = allocate<unsigned char>(8192);
    std::size_t offset = 0, middle = 0;
    cl_mem heap = causeway_symmetric_buffer(memory, &offset, nullptr);
    EXPECT_EQ(causeway_symmetric_buffer(memory + 4321, &middle, nullptr), heap);
    EXPECT_EQ(middle, offset + 4321);
    EXPECT_EQ(causeway_symmetric_address(heap, middle), memory + 4321);
    cl_buffer_region part{4096, 4096};
    cl_int code = CL_SUCCESS;
    const buffer sub(clCreateSubBuffer(heap, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(causeway_symmetric_address(sub.get(), 5), causeway_symmetric_address(heap, 4101));
    EXPECT_EQ(causeway_symmetric_address(sub.get(), 4096), nullptr);
    const buffer other = own().make_buffer(8, 0);
    EXPECT_EQ(causeway_symmetric_address(other.get(), 0), nullptr);
}

TEST_F(symmetric_heap, points_into_the_heaps_of_others_where_loads_reach_them) {
    auto* const numbers = allocate<int>(4);
    if (causeway_symmetric_pointer(numbers, me) == nullptr)
        GTEST_SKIP() << "no load or store reaches this device's memory";
    EXPECT_EQ(causeway_symmetric_pointer(numbers + 2, me), numbers + 2);
    // Tests on pretended nodes set it.
    const char* const on_node = std::getenv("PROCESSES_PER_NODE");
    const auto node_of = [&](int pe) { return on_node != nullptr ? pe / std::atoi(on_node) : 0; };
    auto* const theirs = static_cast<int*>(causeway_symmetric_pointer(numbers + 1, next));
    ASSERT_EQ(theirs != nullptr, node_of(next) == node_of(me));
    if (theirs != nullptr) __atomic_store_n(theirs, 10 + me, __ATOMIC_RELEASE);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    int seen = 0;
    ASSERT_EQ(causeway_symmetric_get(&seen, numbers + 1, sizeof seen, me), CL_SUCCESS);
    EXPECT_EQ(seen, node_of(before) == node_of(me) ? 10 + before : 0);
    EXPECT_EQ(causeway_symmetric_pointer(numbers, all), nullptr);
    EXPECT_EQ(causeway_symmetric_pointer(&me, me), nullptr);
}

TEST_F(symmetric_heap, says_that_it_has_no_room) {
    EXPECT_EQ(causeway_symmetric_malloc(heap_bytes + 1), nullptr);
    EXPECT_TRUE(refused(0, 0, "no room"));
    void* const most = causeway_symmetric_malloc(heap_bytes);
    EXPECT_NE(most, nullptr);
    EXPECT_EQ(causeway_symmetric_malloc(1), nullptr);
    EXPECT_EQ(causeway_symmetric_free(most), CL_SUCCESS);
    void* const again = causeway_symmetric_malloc(heap_bytes);
    EXPECT_EQ(again, most);
}

TEST_F(symmetric_heap, refuses_allocations_that_differ) {
    NEEDS_RANKS(2);
    EXPECT_EQ(causeway_symmetric_malloc(me == 0 ? 64 : 128), nullptr);
    EXPECT_TRUE(refused(0, 0, "the number of bytes is"));
    EXPECT_NE(causeway_symmetric_malloc(64), nullptr) << causeway_error_last_message();
}

TEST_F(symmetric_heap, gives_nothing_where_one_pe_wants_zeros) {
    NEEDS_RANKS(2);
    EXPECT_EQ(me == 0 ? causeway_symmetric_calloc(64, 1) : causeway_symmetric_malloc(64), nullptr);
    EXPECT_NE(std::string(causeway_error_last_message()).find("make their collective calls in the same order"),
              std::string::npos)
        << causeway_error_last_message();
    auto* const next_one = static_cast<unsigned char*>(causeway_symmetric_malloc(64));
    std::size_t offset = 0;
    cl_int code = CL_SUCCESS;
    ASSERT_NE(causeway_symmetric_buffer(next_one, &offset, &code), nullptr) << causeway_error_last_message();
    std::size_t least = 0;
    MPI_Allreduce(&offset, &least, 1, MPI_UNSIGNED_LONG, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_EQ(offset, least);
}

TEST_F(symmetric_heap, tells_calls_apart_that_have_like_arguments) {
    NEEDS_RANKS(2);
    auto* const first = allocate<unsigned char>(64);
    auto* const second = allocate<unsigned char>(64 * static_cast<std::size_t>(all));
    ASSERT_EQ(second - first, 64);
    if (me == 0) {
        EXPECT_EQ(causeway_symmetric_malloc(64), nullptr) << "met a free of offset 64";
    } else {
        EXPECT_EQ(causeway_symmetric_free(second), CL_INVALID_OPERATION) << "met an allocation of 64 bytes";
    }
    EXPECT_EQ(causeway_symmetric_align(me == 0 ? 64 : 128, 64), nullptr) << "alignments differ";
    // Nobody has allocated or freed anything.
    EXPECT_NE(causeway_symmetric_malloc(64), nullptr) << causeway_error_last_message();
    EXPECT_EQ(causeway_symmetric_free(second), CL_SUCCESS) << causeway_error_last_message();
}

/// The others have come to the call by then: they must not wait for one whose arguments are refused.
TEST_F(symmetric_heap, refuses_calls_on_every_pe_if_on_one) {
    const int odd = all - 1;
    const auto who = "PE " + std::to_string(odd) + ": ";
    auto* const memory = allocate<unsigned char>(64);
    EXPECT_EQ(causeway_symmetric_align(me == odd ? 3 : 64, 10), nullptr);
    EXPECT_TRUE(refused(0, 0, who + "an alignment of 3, which is no power of two"));
    EXPECT_EQ(causeway_symmetric_align(me == odd ? 8192 : 64, 10), nullptr);
    EXPECT_TRUE(refused(0, 0, who + "an alignment of 8192, above 4096"));
    EXPECT_EQ(causeway_symmetric_calloc(me == odd ? ~std::size_t{0} : 1, 10), nullptr);
    EXPECT_TRUE(refused(0, 0, who + "count times bytes is too large"));
    EXPECT_TRUE(refused(causeway_symmetric_free(me == odd ? memory + 1 : memory), CL_INVALID_VALUE,
                        who + "the address is in the middle of an allocation"));
    int foreign = 0;
    EXPECT_TRUE(refused(causeway_symmetric_free(me == odd ? static_cast<void*>(&foreign) : memory), CL_INVALID_VALUE,
                        who + "the address, 0x"));
    // Nobody has allocated or freed anything.
    EXPECT_EQ(causeway_symmetric_free(memory), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(causeway_symmetric_malloc(64), memory) << causeway_error_last_message();
}

TEST_F(symmetric_heap, refuses_by_name) {
    auto* const words = allocate<std::uint64_t>(16); // 128 bytes
    auto* const freed = allocate<std::uint64_t>(16);
    ASSERT_EQ(causeway_symmetric_free(freed), CL_SUCCESS);
    const queue on = make_queue(order::in_order);
    const buffer source = own().make_buffer(256, 0);
    const auto put = [&](void* target, std::size_t size, int pe, std::uint64_t* signal,
                         cl_signal_operation operation = CL_SIGNAL_SET) {
        return clEnqueuePutSignal(on.get(), source.get(), CL_FALSE, 0, size, target, signal, 1, operation, pe, 0,
                                  nullptr, nullptr);
    };
    std::uint64_t elsewhere = 0;
    EXPECT_TRUE(refused(put(nullptr, 8, next, words), CL_INVALID_VALUE, "the target, (nil), is null"));
    EXPECT_TRUE(refused(put(&elsewhere, 8, next, words), CL_INVALID_VALUE, "is not in the symmetric heap"));
    EXPECT_TRUE(refused(put(freed, 8, next, words), CL_INVALID_VALUE, "not allocated, or freed"));
    EXPECT_TRUE(refused(put(words + 8, 65, next, words), CL_INVALID_VALUE, "has 64 B of its allocation behind it"));
    EXPECT_TRUE(refused(put(words, 257, next, words), CL_INVALID_VALUE, "reach beyond the buffer"));
    EXPECT_TRUE(refused(put(words, 8, all, words), CL_INVALID_VALUE, "there is no PE"));
    EXPECT_TRUE(refused(put(words, 8, -1, words), CL_INVALID_VALUE, "there is no PE"));
    EXPECT_TRUE(refused(put(words, 8, next, words, 7), CL_INVALID_VALUE, "there is no signal operation 7"));
    auto* const crooked = reinterpret_cast<std::uint64_t*>(reinterpret_cast<unsigned char*>(words) + 4);
    EXPECT_TRUE(refused(put(words, 8, next, crooked), CL_INVALID_VALUE, "the signal is misaligned"));
    EXPECT_TRUE(refused(clEnqueueSignalWait(on.get(), CL_FALSE, words, 17, 0, 0, nullptr, nullptr), CL_INVALID_VALUE,
                        "no comparison 17"));
    EXPECT_TRUE(refused(clEnqueueSignalWait(nullptr, CL_FALSE, words, CL_COMPARE_EQ, 0, 0, nullptr, nullptr),
                        CL_INVALID_COMMAND_QUEUE, ""));
    EXPECT_TRUE(refused(clEnqueueSignalWait(on.get(), CL_FALSE, words, CL_COMPARE_EQ, 0, 1, nullptr, nullptr),
                        CL_INVALID_EVENT_WAIT_LIST, ""));
    EXPECT_TRUE(refused(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, 4096),
                        CL_INVALID_OPERATION, "a PE already"));
    const context other = own().make_context();
    cl_int code = CL_SUCCESS;
    const queue foreign(clCreateCommandQueue(other.get(), own().device(), 0, &code));
    EXPECT_TRUE(refused(clEnqueueSignalWait(foreign.get(), CL_FALSE, words, CL_COMPARE_EQ, 0, 0, nullptr, nullptr),
                        CL_INVALID_CONTEXT, ""));
}

TEST_F(symmetric_heap, refuses_the_bytes_behind_an_allocation_of_any_size) {
    auto* const memory = allocate<unsigned char>(100);
    auto* const behind = reinterpret_cast<std::uint64_t*>(memory + 96);
    const queue on = make_queue(order::in_order);
    const buffer other = own().make_buffer(256, 0);
    bytes here(101);
    const char* const said = "has 100 B of its allocation behind it, not 101 B";
    EXPECT_TRUE(refused(causeway_symmetric_put(memory, here.data(), 101, next), CL_INVALID_VALUE, said));
    EXPECT_TRUE(refused(causeway_symmetric_get(here.data(), memory, 101, next), CL_INVALID_VALUE, said));
    EXPECT_TRUE(refused(clEnqueuePut(on.get(), other.get(), CL_FALSE, 0, 101, memory, next, 0, nullptr, nullptr),
                        CL_INVALID_VALUE, said));
    EXPECT_TRUE(refused(clEnqueueGet(on.get(), other.get(), CL_FALSE, 0, 101, memory, next, 0, nullptr, nullptr),
                        CL_INVALID_VALUE, said));
    EXPECT_TRUE(refused(
        clEnqueuePutStrided(on.get(), other.get(), CL_FALSE, 0, 10, memory, 11, 10, 10, next, 0, nullptr, nullptr),
        CL_INVALID_VALUE, "beyond the allocation in the symmetric heap of 100 B"));
    const char* const of_a_word = "has 4 B of its allocation behind it, not 8 B";
    EXPECT_TRUE(
        refused(causeway_symmetric_atomic(CL_ATOMIC_INC, 8, behind, 0, 0, next, nullptr), CL_INVALID_VALUE, of_a_word));
    EXPECT_TRUE(refused(causeway_symmetric_wait(behind, 8, CL_COMPARE_EQ, 0), CL_INVALID_VALUE, of_a_word));
    EXPECT_TRUE(refused(causeway_symmetric_signal(behind, 1, CL_SIGNAL_SET, next), CL_INVALID_VALUE, of_a_word));
    EXPECT_TRUE(refused(causeway_symmetric_put(memory + 100, here.data(), 1, next), CL_INVALID_VALUE,
                        "not allocated, or freed"));
    std::size_t offset = 0;
    cl_int code = CL_SUCCESS;
    EXPECT_EQ(causeway_symmetric_buffer(memory + 100, &offset, &code), nullptr);
    EXPECT_TRUE(refused(code, CL_INVALID_VALUE, "not allocated, or freed"));
    // Its end has no bytes, and none may be moved there.
    EXPECT_EQ(causeway_symmetric_put(memory + 100, here.data(), 0, next), CL_SUCCESS);
    // What there is can be used, to the last byte.
    EXPECT_EQ(causeway_symmetric_atomic(CL_ATOMIC_INC, 4, behind, 0, 0, next, nullptr), CL_SUCCESS);
    EXPECT_EQ(clEnqueueGetStrided(on.get(), other.get(), CL_TRUE, 0, 10, memory, 10, 10, 10, next, 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_heap, refuses_what_was_freed_after_it_was_used) {
    bytes here(100);
    const auto put = [&](void* to, std::size_t size) { return causeway_symmetric_put(to, here.data(), size, next); };
    void* const first = causeway_symmetric_malloc(100);
    ASSERT_EQ(put(first, 100), CL_SUCCESS) << causeway_error_last_message();
    ASSERT_EQ(causeway_symmetric_free(first), CL_SUCCESS);
    EXPECT_TRUE(refused(put(first, 100), CL_INVALID_VALUE, "not allocated, or freed"));
    ASSERT_EQ(causeway_symmetric_malloc(50), first) << "the test needs the same address again";
    // Also where it lies right behind another allocation.
    auto* const before = static_cast<unsigned char*>(causeway_symmetric_malloc(64));
    void* const behind = causeway_symmetric_malloc(64);
    ASSERT_EQ(behind, before + 64) << "the test needs neighbours";
    ASSERT_EQ(causeway_symmetric_free(behind), CL_SUCCESS);
    cl_int code = CL_SUCCESS;
    EXPECT_EQ(causeway_symmetric_buffer(behind, nullptr, &code), nullptr);
    EXPECT_TRUE(refused(code, CL_INVALID_VALUE, "not allocated, or freed"));
    EXPECT_EQ(causeway_symmetric_pointer(behind, me), nullptr);
    EXPECT_TRUE(refused(causeway_symmetric_free(behind), CL_INVALID_VALUE, "not allocated, or freed"));
    EXPECT_TRUE(refused(put(first, 100), CL_INVALID_VALUE, "has 50 B of its allocation behind it, not 100 B"));
    EXPECT_EQ(put(first, 50), CL_SUCCESS) << causeway_error_last_message();
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_heap, finds_addresses_while_another_thread_allocates_and_frees) {
    auto* const words = allocate<std::uint64_t>(1);
    std::atomic<std::uint64_t> calls = 0;
    std::atomic<bool> ended = false;
    {
        std::vector<std::jthread> calling;
        for (int each = 0; each < 2; ++each)
            calling.emplace_back([&] {
                do {
                    EXPECT_EQ(causeway_symmetric_atomic(CL_ATOMIC_INC, 8, words, 0, 0, me, nullptr), CL_SUCCESS);
                    ++calls;
                } while (!ended);
            });
        for (int round = 0; round < 50; ++round) {
            void* const other = causeway_symmetric_malloc(100);
            EXPECT_NE(other, nullptr) << causeway_error_last_message();
            EXPECT_EQ(causeway_symmetric_put(other, &round, sizeof round, me), CL_SUCCESS);
            EXPECT_EQ(causeway_symmetric_free(other), CL_SUCCESS) << causeway_error_last_message();
        }
        ended = true;
    }
    std::uint64_t seen = 0;
    ASSERT_EQ(causeway_symmetric_get(&seen, words, 8, me), CL_SUCCESS);
    EXPECT_EQ(seen, calls);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_heap, tells_who_touches_memory_that_the_host_does_not_reach) {
    if (own().is_host_memory()) GTEST_SKIP() << "the host reaches it";
    auto* const memory = allocate<unsigned char>(64);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        *static_cast<volatile unsigned char*>(memory) = 1;
        _exit(0);
    }
    close(ends[1]);
    std::string said(1000, ' ');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], said.data(), said.size()))));
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    EXPECT_NE(said.find("an address of the symmetric heap"), std::string::npos) << said;
}

TEST_F(symmetric_heap, is_closed_to_others_when_its_pe_has_left) {
    NEEDS_RANKS(2);
    const int last = all - 1;
    auto* const words = allocate<std::uint64_t>(16);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    const queue on = make_queue(order::out_of_order);
    const buffer other = own().make_buffer(128, 0);
    if (me == last) {
        EXPECT_TRUE(refused(causeway_symmetric_finalize(), CL_INVALID_OPERATION, "to another one"));
    } else {
        EXPECT_EQ(causeway_symmetric_malloc(8), nullptr) << "met the end of the last one";
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last) return;
    const auto said = "PE " + std::to_string(last) + " has left";
    std::uint64_t word = 1;
    EXPECT_TRUE(refused(causeway_symmetric_put(words, &word, 8, last), CL_TRANSFER_PEER_FAILED, said));
    EXPECT_TRUE(refused(causeway_symmetric_get(&word, words, 8, last), CL_TRANSFER_PEER_FAILED, said));
    EXPECT_TRUE(refused(causeway_symmetric_signal(words, 1, CL_SIGNAL_ADD, last), CL_TRANSFER_PEER_FAILED, said));
    EXPECT_TRUE(refused(causeway_symmetric_atomic(CL_ATOMIC_INC, 8, words, 0, 0, last, nullptr),
                        CL_TRANSFER_PEER_FAILED, said));
    event put, got, changed, signalled;
    ASSERT_EQ(clEnqueuePut(on.get(), other.get(), CL_FALSE, 0, 128, words, last, 0, nullptr, put.out()), CL_SUCCESS);
    ASSERT_EQ(clEnqueueGet(on.get(), other.get(), CL_FALSE, 0, 128, words, last, 0, nullptr, got.out()), CL_SUCCESS);
    ASSERT_EQ(clEnqueueSymmetricAtomic(on.get(), CL_FALSE, CL_ATOMIC_INC, 8, words, 0, 0, last, nullptr, 0, 0, nullptr,
                                       changed.out()),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueSignal(on.get(), CL_FALSE, words, 1, CL_SIGNAL_SET, last, 0, nullptr, signalled.out()),
              CL_SUCCESS);
    for (const auto* each : {&put, &got, &changed, &signalled}) {
        EXPECT_TRUE(ends_with(*each, CL_TRANSFER_PEER_FAILED));
        EXPECT_NE(transfer_text(each->get(), CL_TRANSFER_ERROR_MESSAGE).find(said), std::string::npos);
    }
    // The others' heaps can be used.
    EXPECT_EQ(causeway_symmetric_put(words, &word, 8, me), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_TRUE(refused(causeway_symmetric_finalize(), CL_TRANSFER_PEER_FAILED, said));
}

TEST(no_symmetric_heap, gets_messages_of_an_earlier_one) {
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, 4096), CL_SUCCESS)
            << causeway_error_last_message();
        EXPECT_NE(causeway_symmetric_malloc(64), nullptr) << causeway_error_last_message();
        ASSERT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
        // MPI gives the number of a communicator that was freed to the next one. Open MPI numbers messages, too: a late
        // one appears there among others.
        MPI_Comm next = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &next);
        std::vector<int> sent(static_cast<std::size_t>(world_size())), got(sent.size());
        for (int message = 0; message < 20; ++message)
            MPI_Alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, next);
        int has_message = 0;
        MPI_Status what;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, next, &has_message, &what);
        EXPECT_EQ(has_message, 0) << "tag " << what.MPI_TAG << " of rank " << what.MPI_SOURCE;
        MPI_Comm_free(&next);
    }
}

/// What the others say last comes while the heap is given up: it must not be written to memory that is free by then.
TEST(no_symmetric_heap, takes_nothing_from_one_that_was_given_up) {
    NEEDS_RANKS(2);
    for (int round = 0; round < 40; ++round) {
        ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, 4096), CL_SUCCESS)
            << causeway_error_last_message();
        if (world_rank() == round % world_size()) {
            EXPECT_TRUE(refused(causeway_symmetric_finalize(), CL_INVALID_OPERATION, "to another one"));
        } else {
            EXPECT_EQ(causeway_symmetric_malloc(8), nullptr);
            EXPECT_NE(causeway_symmetric_finalize(), CL_SUCCESS);
        }
        ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, 4096), CL_SUCCESS)
            << causeway_error_last_message();
        EXPECT_NE(causeway_symmetric_malloc(64), nullptr) << causeway_error_last_message();
        ASSERT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
    }
}

TEST(no_symmetric_heap, is_needed_by_commands_that_still_use_its_buffer) {
    ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, 8192), CL_SUCCESS)
        << causeway_error_last_message();
    std::size_t offset = 0;
    cl_mem heap = causeway_symmetric_buffer(causeway_symmetric_malloc(4096), &offset, nullptr);
    ASSERT_NE(heap, nullptr) << causeway_error_last_message();
    const queue on = make_queue(order::in_order);
    const event gate = own().make_user_event();
    cl_event first = gate.get();
    const bytes written(4096, 5);
    bytes seen(4096, 0);
    ASSERT_EQ(clEnqueueWriteBuffer(on.get(), heap, CL_FALSE, offset, 4096, written.data(), 1, &first, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueReadBuffer(on.get(), heap, CL_FALSE, offset, 4096, seen.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
    EXPECT_TRUE(same(seen, written));
}

TEST(no_symmetric_heap, has_bytes_that_cannot_be_allocated) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{4097}}) {
        ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, size), CL_SUCCESS)
            << causeway_error_last_message();
        auto* const memory = static_cast<unsigned char*>(causeway_symmetric_malloc(size));
        ASSERT_NE(memory, nullptr) << causeway_error_last_message();
        const unsigned char sent = 7;
        unsigned char got = 0;
        const int next = (world_rank() + 1) % world_size();
        EXPECT_EQ(causeway_symmetric_put(memory + size - 1, &sent, 1, next), CL_SUCCESS);
        EXPECT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        EXPECT_EQ(causeway_symmetric_get(&got, memory + size - 1, 1, next), CL_SUCCESS);
        EXPECT_EQ(got, sent);
        EXPECT_EQ(causeway_symmetric_malloc(1), nullptr);
        EXPECT_EQ(causeway_symmetric_free(memory), CL_SUCCESS);
        EXPECT_EQ(causeway_symmetric_malloc(size), memory);
        ASSERT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
    }
}

TEST(no_symmetric_heap, that_links_reach_has_a_context_of_more_devices) {
    cl_platform_id platform = nullptr;
    ASSERT_EQ(clGetDeviceInfo(own().device(), CL_DEVICE_PLATFORM, sizeof(platform), &platform, nullptr), CL_SUCCESS);
    std::vector<cl_device_id> devices(2);
    cl_uint count = 0;
    ASSERT_EQ(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices.data(), &count), CL_SUCCESS);
    if (count < 2) GTEST_SKIP() << "takes two devices of a platform";
    cl_int code = CL_SUCCESS;
    const context both(clCreateContext(nullptr, 2, devices.data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    char links[200] = "";
    (void)causeway_direct_links(devices[0], links, sizeof links);
    const char* const bridge = std::getenv("CAUSEWAY_BRIDGE"); // tests of links set it to "host"
    const bool may_be_linked = !own().is_host_memory() || (bridge != nullptr && std::string(bridge) == "host");
    const cl_int begun = causeway_symmetric_init(both.get(), devices[0], MPI_COMM_WORLD, 4096);
    if (may_be_linked && !std::string(links).starts_with("none")) {
        EXPECT_TRUE(
            refused(begun, CL_INVALID_OPERATION, "needs a context of that device alone; this one has 2 devices"));
        return;
    }
    ASSERT_EQ(begun, CL_SUCCESS) << causeway_error_last_message() << "; links: " << links;
    // The other device works on it.
    auto* const memory = static_cast<unsigned char*>(causeway_symmetric_malloc(4096));
    std::size_t offset = 0;
    cl_mem buffer = causeway_symmetric_buffer(memory, &offset, &code);
    ASSERT_EQ(code, CL_SUCCESS) << causeway_error_last_message();
    const queue other(clCreateCommandQueue(both.get(), devices[1], 0, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const unsigned char written = 7;
    ASSERT_EQ(clEnqueueFillBuffer(other.get(), buffer, &written, 1, offset, 4096, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(clFinish(other.get()), CL_SUCCESS);
    unsigned char got = 0;
    EXPECT_EQ(causeway_symmetric_get(&got, memory + 4095, 1, causeway_symmetric_pe()), CL_SUCCESS);
    EXPECT_EQ(got, written);
    EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS);
}

TEST(no_symmetric_heap, is_refused_by_every_pe_if_by_one) {
    const auto init = [](std::size_t size) {
        return causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, size);
    };
    EXPECT_TRUE(refused(init(0), CL_INVALID_VALUE, "PE 0: a symmetric heap of 0 bytes"));
    EXPECT_TRUE(refused(init(std::size_t{1} << 60), CL_INVALID_BUFFER_SIZE, "above the largest buffer"));
    if (world_size() > 1) {
        EXPECT_TRUE(refused(init(world_rank() == 1 ? 0 : 4096), CL_INVALID_VALUE, "PE 1: a symmetric heap of 0 bytes"));
        EXPECT_TRUE(refused(init(world_rank() == 1 ? 8192 : 4096), CL_INVALID_VALUE, "4 KiB on PE 0, 8 KiB on PE 1"));
    }
    EXPECT_EQ(causeway_symmetric_pe(), -1);
    // One has a heap of its own when the others begin theirs.
    const int odd = world_size() - 1;
    if (world_rank() == odd) {
        ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_SELF, 4096), CL_SUCCESS);
    }
    EXPECT_TRUE(
        refused(init(4096), CL_INVALID_OPERATION, "PE " + std::to_string(odd) + ": this process is a PE already"));
    EXPECT_EQ(causeway_symmetric_pe(), world_rank() == odd ? 0 : -1);
    if (world_rank() == odd) {
        EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
    }
    EXPECT_EQ(init(4096), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(causeway_symmetric_malloc(8), nullptr);
    EXPECT_TRUE(refused(causeway_symmetric_finalize(), CL_INVALID_OPERATION, "causeway_symmetric_init comes first"));
}

} // namespace
