// SPDX-License-Identifier: Apache-2.0
// Which processors threads are bound to that met their callers. Wants two processors for all but the first tests.
#include "transfer/apart.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <vector>

using namespace causeway;
using namespace causeway::transfer;
using namespace std::chrono_literals;

namespace {

cpu_set_t set_of(std::initializer_list<int> processors) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (const int each : processors) CPU_SET(static_cast<std::size_t>(each), &all);
    return all;
}

cpu_set_t now_allowed() {
    cpu_set_t all;
    CPU_ZERO(&all);
    EXPECT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    return all;
}

/// The calling thread, which is called and calls itself; its processors are as before at the end.
class apart : public testing::Test {
  protected:
    apart() { m_thread.begin(); }
    ~apart() override { (void)sched_setaffinity(0, sizeof m_before, &m_before); }
    void SetUp() override {
        if (CPU_COUNT(&m_before) < 2) GTEST_SKIP() << "one processor";
    }

    /// The thread stays where it is, so that it meets a caller from there.
    int stay() {
        const int here = sched_getcpu();
        const auto one = set_of({here});
        EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        return here;
    }
    void leave() { EXPECT_EQ(sched_setaffinity(0, sizeof m_before, &m_before), 0); }
    /// It is called from its own processor once, and may run on all when it finds that out.
    int meet_the_caller() {
        const int here = stay();
        EXPECT_FALSE(m_thread.is_called_from(here, m_taken, m_now));
        leave();
        while (sched_getcpu() != here) stay(), leave();
        m_thread.woke();
        return here;
    }
    [[nodiscard]] std::vector<int> allowed() const {
        const auto set = now_allowed();
        std::vector<int> all;
        for (int each = 0; each < CPU_SETSIZE; ++each)
            if (CPU_ISSET(static_cast<std::size_t>(each), &set)) all.push_back(each);
        return all;
    }

    const cpu_set_t m_before = now_allowed();
    taken_processors m_taken;
    time_point m_now{};
    thread_apart m_thread;
};

} // namespace

TEST(taken_processors, are_given_in_turn_behind_the_caller_and_once) {
    taken_processors taken;
    const auto allowed = set_of({0, 2, 5});
    EXPECT_EQ(taken.take_after(2, allowed), 5);
    EXPECT_EQ(taken.take_after(2, allowed), 0);
    EXPECT_EQ(taken.take_after(2, allowed), -1) << "not the caller's own";
    taken.give_back(5);
    EXPECT_FALSE(taken.take(0));
    EXPECT_TRUE(taken.take(5));
}

TEST_F(apart, a_thread_that_never_meets_its_caller_is_not_bound) {
    const int here = stay();
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(m_thread.is_called_from(here + 1, m_taken, m_now));
        m_thread.woke();
        EXPECT_FALSE(m_thread.ends_stay(m_taken, m_now));
    }
}

TEST_F(apart, a_thread_whose_caller_waits_may_meet_it) {
    const int here = stay();
    leave();
    EXPECT_FALSE(m_thread.is_called_from(-1, m_taken, m_now));
    m_thread.woke();
    EXPECT_FALSE(m_thread.is_called_from(here, m_taken, m_now));
}

TEST_F(apart, a_thread_that_met_its_caller_is_bound_to_another_processor_for_a_second) {
    const int here = meet_the_caller();
    ASSERT_TRUE(m_thread.is_called_from(here, m_taken, m_now));
    m_thread.bind();
    const auto bound = allowed();
    ASSERT_EQ(bound.size(), 1U);
    EXPECT_NE(bound.front(), here);
    m_thread.woke();
    EXPECT_FALSE(m_thread.ends_stay(m_taken, m_now + 999ms));
    EXPECT_FALSE(m_thread.is_called_from(here, m_taken, m_now + 999ms)) << "it is elsewhere already";
    m_thread.woke();
    ASSERT_TRUE(m_thread.ends_stay(m_taken, m_now + 1s));
    m_thread.unbind();
    EXPECT_TRUE(CPU_EQUAL(&m_before, std::vector{now_allowed()}.data()));
    EXPECT_FALSE(m_thread.is_called_from(here, m_taken, m_now + 1s)) << "it has not met it again";
}

TEST_F(apart, a_bound_thread_makes_way_for_a_caller_that_comes_to_its_processor) {
    const int here = meet_the_caller();
    ASSERT_TRUE(m_thread.is_called_from(here, m_taken, m_now));
    m_thread.bind();
    const int own = allowed().front();
    EXPECT_FALSE(m_thread.ends_stay(m_taken, m_now));
    ASSERT_TRUE(m_thread.is_called_from(own, m_taken, m_now));
    m_thread.bind();
    EXPECT_EQ(allowed().size(), 1U);
    EXPECT_NE(allowed().front(), own);
}

TEST_F(apart, a_bound_thread_whose_processor_another_one_has_gets_the_next_or_all) {
    const int here = meet_the_caller();
    ASSERT_TRUE(m_thread.is_called_from(here, m_taken, m_now));
    m_thread.bind();
    const int own = allowed().front();
    EXPECT_FALSE(m_thread.ends_stay(m_taken, m_now));
    ASSERT_TRUE(m_taken.take(own));
    ASSERT_TRUE(m_thread.is_called_from(here, m_taken, m_now));
    m_thread.bind();
    if (CPU_COUNT(&m_before) == 2) {
        EXPECT_EQ(allowed().size(), 2U) << "none is left for it";
        EXPECT_FALSE(m_thread.ends_stay(m_taken, m_now));
    } else {
        EXPECT_EQ(allowed().size(), 1U);
        EXPECT_NE(allowed().front(), own);
    }
    EXPECT_FALSE(m_taken.take(own)) << "the other one's still";
}

TEST_F(apart, who_is_called_by_one_that_waits_leaves_the_processors_of_others_to_them) {
    const int here = meet_the_caller();
    ASSERT_TRUE(m_thread.is_called_from(here, m_taken, m_now));
    m_thread.bind();
    const int own = allowed().front();
    EXPECT_FALSE(m_thread.ends_stay(m_taken, m_now));
    ASSERT_TRUE(m_taken.take(own));
    EXPECT_FALSE(m_thread.is_called_from(-1, m_taken, m_now));
    EXPECT_TRUE(m_thread.ends_stay(m_taken, m_now + 2s));
    EXPECT_FALSE(m_taken.take(own));
}
