// SPDX-License-Identifier: Apache-2.0
// What commands end with whose wait lists fail, or are refused.
#include "symmetric_fixture.hpp"

#include <functional>
#include <utility>
#include <vector>

using namespace symmetric_test;

namespace {

class symmetric_failures : public with_heap {
  protected:
    /// Enqueues a command behind `list`.
    using enqueue = std::function<cl_int(cl_uint count, const cl_event* list, cl_event* event)>;
    struct named {
        const char* name;
        enqueue command;
    };

    void SetUp() override {
        with_heap::SetUp();
        words = allocate<std::uint64_t>(1024);
        other = allocate<std::uint64_t>(1024);
        on = make_queue(order::out_of_order);
        here = own().make_buffer(bytes(64, 1));
    }

    /// Of which the other PEs take no part.
    [[nodiscard]] std::vector<named> one_sided() {
        return {{"put",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueuePut(on.get(), here.get(), CL_FALSE, 0, 8, words, next, count, list, event);
                 }},
                {"get",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueGet(on.get(), here.get(), CL_FALSE, 0, 8, words, next, count, list, event);
                 }},
                {"put with signal",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueuePutSignal(on.get(), here.get(), CL_FALSE, 0, 8, words, words + 1, 1, CL_SIGNAL_ADD,
                                               next, count, list, event);
                 }},
                {"put of nothing, with signal",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueuePutSignal(on.get(), here.get(), CL_FALSE, 0, 0, nullptr, words + 1, 1,
                                               CL_SIGNAL_ADD, next, count, list, event);
                 }},
                {"signal",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueSignal(on.get(), CL_FALSE, words + 1, 1, CL_SIGNAL_ADD, next, count, list, event);
                 }},
                {"wait for a signal",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueSignalWait(on.get(), CL_FALSE, words, CL_COMPARE_EQ, 0, count, list, event);
                 }},
                {"wait for a word",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueWordWait(on.get(), CL_FALSE, words, 4, CL_COMPARE_EQ, 0, count, list, event);
                 }},
                {"strided put",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueuePutStrided(on.get(), here.get(), CL_FALSE, 0, 8, words, 16, 8, 2, next, count,
                                                list, event);
                 }},
                {"strided get",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueGetStrided(on.get(), here.get(), CL_FALSE, 0, 8, words, 16, 8, 2, next, count,
                                                list, event);
                 }},
                {"atomic",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueSymmetricAtomic(on.get(), CL_FALSE, CL_ATOMIC_INC, 8, words + 1, 0, 0, next,
                                                     here.get(), 0, count, list, event);
                 }},
                {"fence",
                 [this](auto count, auto* list, auto* event) { return clEnqueueFence(on.get(), count, list, event); }},
                {"quiet", [this](auto count, auto* list, auto* event) {
                     return clEnqueueQuiet(on.get(), CL_FALSE, count, list, event);
                 }}};
    }
    [[nodiscard]] std::vector<named> collective() {
        return {{"barrier",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueSymmetricBarrier(on.get(), CL_FALSE, count, list, event);
                 }},
                {"broadcast",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueSymmetricBroadcast(on.get(), CL_FALSE, words, other, 8, 0, count, list, event);
                 }},
                {"collect",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueSymmetricCollect(on.get(), CL_FALSE, words, other, 8, count, list, event);
                 }},
                {"all-to-all",
                 [this](auto count, auto* list, auto* event) {
                     return clEnqueueSymmetricAllToAll(on.get(), CL_FALSE, words, other, 8, count, list, event);
                 }},
                {"reduction", [this](auto count, auto* list, auto* event) {
                     return clEnqueueSymmetricReduce(on.get(), CL_FALSE, words, other, 8, CL_ELEMENT_ULONG,
                                                     CL_REDUCE_SUM, count, list, event);
                 }}};
    }

    std::uint64_t *words = nullptr, *other = nullptr;
    queue on;
    buffer here;
};

TEST_F(symmetric_failures, of_a_wait_list_end_each_command_by_opencls_code) {
    for (const auto fails_before : {false, true})
        for (const auto& [name, command] : one_sided()) {
            SCOPED_TRACE(std::string(name) + (fails_before ? ", failed before" : ""));
            const event broken = own().make_user_event();
            cl_event list = broken.get();
            if (fails_before) {
                ASSERT_EQ(clSetUserEventStatus(broken.get(), -5), CL_SUCCESS);
            }
            event done;
            ASSERT_EQ(command(1, &list, done.out()), CL_SUCCESS) << causeway_error_last_message();
            if (!fails_before) {
                ASSERT_EQ(clSetUserEventStatus(broken.get(), -5), CL_SUCCESS);
            }
            EXPECT_TRUE(ends_with(done, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
            // So does what waits for it.
            cl_event failed = done.get();
            event behind;
            ASSERT_EQ(command(1, &failed, behind.out()), CL_SUCCESS) << causeway_error_last_message();
            EXPECT_TRUE(ends_with(behind, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
        }
    ASSERT_EQ(causeway_symmetric_quiet(), CL_SUCCESS) << causeway_error_last_message();
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS) << causeway_error_last_message();
    std::uint64_t signalled = 7;
    ASSERT_EQ(causeway_symmetric_get(&signalled, words + 1, 8, me), CL_SUCCESS);
    EXPECT_EQ(signalled, 0u);
}

TEST_F(symmetric_failures, of_one_wait_list_fail_the_collective_on_all_pes) {
    for (const auto& [name, command] : collective()) {
        SCOPED_TRACE(name);
        const event broken = own().make_user_event();
        cl_event list = broken.get();
        event done;
        ASSERT_EQ(command(me == 0 ? 1 : 0, me == 0 ? &list : nullptr, done.out()), CL_SUCCESS)
            << causeway_error_last_message();
        ASSERT_EQ(clSetUserEventStatus(broken.get(), -5), CL_SUCCESS);
        EXPECT_TRUE(ends_with(done, me == 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_TRANSFER_PEER_FAILED));
        if (me != 0) {
            const auto said = transfer_text(done.get(), CL_TRANSFER_ERROR_MESSAGE);
            EXPECT_NE(said.find("failed on PE 0"), std::string::npos) << said;
        }
    }
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS) << causeway_error_last_message();
}

TEST_F(symmetric_failures, refuse_events_of_other_contexts_and_make_none) {
    const context foreign = own().make_context();
    cl_int code = CL_SUCCESS;
    const event stranger(clCreateUserEvent(foreign.get(), &code));
    ASSERT_EQ(code, CL_SUCCESS);
    cl_event list = stranger.get();
    auto all_commands = one_sided();
    for (auto& each : collective()) all_commands.push_back(std::move(each));
    for (const auto& [name, command] : all_commands) {
        SCOPED_TRACE(name);
        event done;
        EXPECT_EQ(command(1, &list, done.out()), CL_INVALID_CONTEXT);
        EXPECT_EQ(std::string(causeway_error_last_message()), "event 0 of the wait list belongs to another context");
        EXPECT_EQ(done.get(), nullptr);
        EXPECT_EQ(command(1, nullptr, done.out()), CL_INVALID_EVENT_WAIT_LIST);
        EXPECT_EQ(command(0, &list, done.out()), CL_INVALID_EVENT_WAIT_LIST);
        EXPECT_EQ(done.get(), nullptr);
    }
    // None of them holds anything back.
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS) << causeway_error_last_message();
}

} // namespace
