// SPDX-License-Identifier: Apache-2.0
// When a thread is kept off the processor of its caller.
#include "transfer/apart.hpp"

#include <gtest/gtest.h>

using namespace causeway;
using namespace causeway::transfer;
using namespace std::chrono_literals;

namespace {

cpu_set_t allowed() {
    cpu_set_t all;
    CPU_ZERO(&all);
    EXPECT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    return all;
}

bool may_run_on(int processor) {
    const auto all = allowed();
    return CPU_ISSET(static_cast<std::size_t>(processor), &all);
}

/// The test's own thread is called, and calls: it need not be where it is said to be.
class apart : public testing::Test {
  protected:
    void SetUp() override {
        CPU_ZERO(&m_before);
        if (sched_getaffinity(0, sizeof m_before, &m_before) != 0 || CPU_COUNT(&m_before) < 2)
            GTEST_SKIP() << "wants two processors, and no more than a set can name";
        for (int each = 0; each < CPU_SETSIZE; ++each)
            if (CPU_ISSET(static_cast<std::size_t>(each), &m_before)) (m_one < 0 ? m_one : m_other) = each;
        m_thread.begin();
    }
    ~apart() override { (void)sched_setaffinity(0, sizeof m_before, &m_before); }

    void meet_the_caller_at(int processor) {
        EXPECT_FALSE(m_thread.is_called_from(processor, m_now));
        m_thread.woke(processor);
    }
    void keep_off(int processor) {
        meet_the_caller_at(processor);
        ASSERT_TRUE(m_thread.is_called_from(processor, m_now));
        m_thread.keep_off();
        ASSERT_FALSE(may_run_on(processor));
    }

    cpu_set_t m_before{};
    int m_one = -1, m_other = -1; // processors
    time_point m_now{1h};
    thread_apart m_thread;
};

} // namespace

TEST_F(apart, a_thread_that_never_meets_its_caller_runs_where_it_likes) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(m_thread.is_called_from(m_one, m_now));
        m_thread.woke(m_other);
    }
}

TEST_F(apart, a_thread_whose_caller_waits_may_meet_it) {
    EXPECT_FALSE(m_thread.is_called_from(-1, m_now));
    m_thread.woke(m_one);
    EXPECT_FALSE(m_thread.is_called_from(m_one, m_now));
}

TEST_F(apart, a_thread_that_met_its_caller_is_kept_off_that_processor_for_a_second) {
    keep_off(m_one);
    EXPECT_FALSE(m_thread.is_called_from(m_one, m_now + 999ms)) << "once is enough";
    m_thread.look_at_time(m_now + 999ms);
    EXPECT_FALSE(may_run_on(m_one));
    m_thread.look_at_time(m_now + 1s);
    const auto all = allowed();
    EXPECT_TRUE(CPU_EQUAL(&m_before, &all));
    EXPECT_FALSE(m_thread.is_called_from(m_one, m_now + 1s)) << "it has not met it again";
}

TEST_F(apart, a_caller_that_comes_to_another_processor_is_made_way_for) {
    keep_off(m_one);
    ASSERT_TRUE(m_thread.is_called_from(m_other, m_now + 500ms));
    m_thread.keep_off();
    EXPECT_TRUE(may_run_on(m_one));
    EXPECT_FALSE(may_run_on(m_other));
    m_thread.look_at_time(m_now + 1s);
    EXPECT_TRUE(may_run_on(m_other)) << "a second from the first time";
}

TEST_F(apart, a_thread_with_one_processor_is_left_there_and_asked_about_once_a_second) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(m_one), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    meet_the_caller_at(m_one);
    ASSERT_TRUE(m_thread.is_called_from(m_one, m_now));
    m_thread.keep_off();
    EXPECT_TRUE(may_run_on(m_one));
    m_thread.woke(m_one);
    EXPECT_FALSE(m_thread.is_called_from(m_one, m_now + 999ms));
    EXPECT_TRUE(m_thread.is_called_from(m_one, m_now + 1s));
}

TEST_F(apart, processors_that_others_give_the_thread_meanwhile_stay) {
    keep_off(m_one);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(m_one), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    m_thread.look_at_time(m_now + 1s);
    const auto all = allowed();
    EXPECT_TRUE(CPU_EQUAL(&one, &all));
}
