// SPDX-License-Identifier: Apache-2.0
// Words that a driver fails to read or write once: what needed them fails, and nothing else. With a driver that is told
// to fail.
#include "symmetric_fixture.hpp"

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

using namespace symmetric_test;

namespace {

class symmetric_words_of_a_failing_driver : public with_heap {
  protected:
    void SetUp() override {
        m_reads = static_cast<std::atomic<int>*>(dlsym(RTLD_DEFAULT, "reads_to_fail"));
        m_writes = static_cast<std::atomic<int>*>(dlsym(RTLD_DEFAULT, "writes_to_fail"));
        if (m_reads == nullptr || m_writes == nullptr) GTEST_SKIP() << "no driver is told to fail";
        with_heap::SetUp();
        word = allocate<std::uint64_t>(2);
    }

    void fail_next_read() { *m_reads = 1; }
    void fail_next_write() { *m_writes = 1; }
    /// Whether the failure was met.
    [[nodiscard]] bool has_failed() const { return *m_reads == 0 && *m_writes == 0; }

    [[nodiscard]] event wait_for(std::uint64_t value, const wait_list& after = {}) {
        event made;
        EXPECT_EQ(clEnqueueSignalWait(on.get(), CL_FALSE, word, CL_COMPARE_EQ, value,
                                      static_cast<cl_uint>(after.size()), data_of(after), made.out()),
                  CL_SUCCESS)
            << causeway_error_last_message();
        return made;
    }
    /// From now on the word is kept beside the device's memory.
    void signal(std::uint64_t value) {
        ASSERT_EQ(causeway_symmetric_signal(word, value, CL_SIGNAL_ADD, me), CL_SUCCESS);
    }
    /// Where it is.
    void add(std::uint64_t value) {
        ASSERT_EQ(causeway_symmetric_atomic(CL_ATOMIC_ADD, 8, word, value, 0, me, nullptr), CL_SUCCESS);
    }

    const queue on = make_queue(order::out_of_order);
    std::uint64_t* word = nullptr;

  private:
    std::atomic<int>*m_reads = nullptr, *m_writes = nullptr;
};

TEST_F(symmetric_words_of_a_failing_driver, fail_one_wait_and_end_the_other) {
    const event gate = own().make_user_event();
    const event one = wait_for(3, {gate.get()}), other = wait_for(3, {gate.get()});
    fail_next_read();
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    // Nobody says which of them the driver begins first.
    const auto limit = std::chrono::steady_clock::now() + patience();
    while (status_of(one.get()) >= 0 && status_of(other.get()) >= 0 && std::chrono::steady_clock::now() < limit)
        std::this_thread::yield();
    const bool first_failed = status_of(one.get()) < 0;
    EXPECT_TRUE(fails(first_failed ? one : other));
    EXPECT_TRUE(has_failed());
    add(3);
    EXPECT_TRUE(completes(first_failed ? other : one));
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_words_of_a_failing_driver, are_waited_for_also_when_a_put_could_not_read_them_again) {
    signal(1);
    const event waited = wait_for(5);
    const std::uint64_t two = 2;
    fail_next_read();
    EXPECT_EQ(causeway_symmetric_put(word, &two, sizeof two, me), CL_OUT_OF_RESOURCES);
    EXPECT_TRUE(has_failed());
    add(3);
    EXPECT_TRUE(completes(waited));
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_words_of_a_failing_driver, are_not_got_as_they_were_before) {
    signal(1);
    signal(1); // the device's memory still has what it was before
    std::uint64_t seen = 77;
    fail_next_write();
    EXPECT_EQ(causeway_symmetric_get(&seen, word, sizeof seen, me), CL_OUT_OF_RESOURCES) << seen;
    EXPECT_TRUE(has_failed());
    EXPECT_EQ(causeway_symmetric_get(&seen, word, sizeof seen, me), CL_SUCCESS);
    EXPECT_EQ(seen, 2U);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

} // namespace
