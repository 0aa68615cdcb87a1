// SPDX-License-Identifier: Apache-2.0
// The worker threads: how many come for how many jobs, and that none is forgotten.
#include "transfer/workers.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace causeway;
using namespace std::chrono_literals;

namespace {

/// Takes the part of the engine: hands out jobs, and counts those that come back.
class handed_jobs final : public transfer::step_owner {
  public:
    explicit handed_jobs(unsigned io_threads, std::chrono::nanoseconds patience = {})
        : m_workers(transfer::make_worker_threads(m_inbox, io_threads, patience)) {}

    void run(transfer::worker_pool::work job, const transfer::job_origin& from = {}) {
        m_workers->run(from, std::move(job), next_step());
    }
    void expect() { m_workers->expect_job(); }
    void run_waiting(transfer::worker_pool::work job) { m_workers->run_waiting(std::move(job), next_step()); }
    void run_shared(transfer::worker_pool::work job, transfer::worker_pool::attempt here,
                    const transfer::job_origin& from = {}) {
        m_workers->run_shared(from, std::move(job), std::move(here), next_step());
    }
    /// A hundred other threads come and go meanwhile, each after it was woken.
    static void pass_time() {
        for (int i = 0; i < 100; ++i) std::thread([] {}).join();
    }
    /// Whether the engine had something to do.
    bool do_share() {
        auto& share = *m_workers->share_of_engine();
        return share.busy() && share.poll({});
    }
    [[nodiscard]] std::size_t finished() const { return m_finished; }

    /// False if one of them moved nothing, or they take longer than any of these tests may. Does the engine's share,
    /// too.
    [[nodiscard]] bool all_finish() {
        const auto until = std::chrono::steady_clock::now() + 20s;
        std::vector<transfer::mailbox::message> mail;
        while (m_finished < m_steps.size()) {
            if (std::chrono::steady_clock::now() > until) return false;
            if (!do_share()) m_inbox->wait(1ms);
            m_inbox->take(mail);
            for (auto& each : mail) {
                auto& done = std::get<transfer::mailbox::finished_step>(each);
                done.which->finish(std::move(done.result));
            }
            mail.clear();
        }
        const bool all_moved = std::ranges::all_of(m_steps, [](const auto& each) { return each->take().bytes > 0; });
        m_steps.clear();
        m_finished = 0;
        return all_moved;
    }

  private:
    void step_finished() override { ++m_finished; }
    transfer::step& next_step() {
        m_steps.push_back(std::make_unique<transfer::step>(*this));
        m_steps.back()->begin();
        return *m_steps.back();
    }

    std::vector<std::unique_ptr<transfer::step>> m_steps;
    std::size_t m_finished = 0;
    std::shared_ptr<transfer::mailbox> m_inbox = std::make_shared<transfer::mailbox>();
    std::unique_ptr<transfer::worker_pool> m_workers; // last: its threads use the others
};

/// Lets its callers go on when so many of them are there.
class meeting {
  public:
    explicit meeting(unsigned people) : m_missing(people) {}
    /// False if the others do not come.
    bool attend() {
        std::unique_lock lock(m_mutex);
        if (--m_missing == 0) m_complete.notify_all();
        return m_complete.wait_for(lock, 10s, [this] { return m_missing == 0; });
    }

  private:
    std::mutex m_mutex; // guards m_missing
    std::condition_variable m_complete;
    unsigned m_missing;
};

/// Who has worked.
class attendance {
  public:
    void sign() {
        const std::lock_guard lock(m_mutex);
        m_threads.insert(std::this_thread::get_id());
    }
    [[nodiscard]] std::size_t count() const { return m_threads.size(); }

  private:
    std::mutex m_mutex; // guards m_threads
    std::set<std::thread::id> m_threads;
};

constexpr unsigned io_threads = 16;

} // namespace

TEST(workers, one_is_enough_for_jobs_that_follow_one_another) {
    handed_jobs jobs(io_threads, 50us);
    attendance who;
    for (int i = 0; i < 50; ++i) {
        jobs.run([&] {
            who.sign();
            return transfer::outcome{1, {}};
        });
        ASSERT_TRUE(jobs.all_finish());
    }
    EXPECT_EQ(who.count(), 1u) << "who is done with a job looks for the next before another is called";
}

TEST(workers, as_many_work_at_once_as_there_are_jobs_and_io_threads) {
    for (const auto patience : {0us, 50us}) {
        handed_jobs jobs(io_threads, patience);
        // Numbers of jobs that leave some asleep, some coming, and some not made yet.
        for (int round = 0; round < 300; ++round) {
            const unsigned count = 1 + static_cast<unsigned>(round * 7 + round / 5) % io_threads;
            meeting all(count);
            for (unsigned i = 0; i < count; ++i)
                jobs.run([&] { return transfer::outcome{all.attend() ? std::size_t{1} : 0, {}}; });
            ASSERT_TRUE(jobs.all_finish()) << count << " jobs";
        }
    }
}

TEST(workers, more_jobs_than_io_threads_wait_for_those_before_them) {
    handed_jobs jobs(io_threads);
    attendance who;
    for (int round = 0; round < 20; ++round) {
        for (unsigned i = 0; i < 10 * io_threads; ++i)
            jobs.run([&] {
                who.sign();
                return transfer::outcome{1, {}};
            });
        ASSERT_TRUE(jobs.all_finish());
    }
    EXPECT_LE(who.count(), io_threads);
}

TEST(workers, each_waiting_job_has_one_of_its_own) {
    handed_jobs jobs(1);
    for (unsigned round = 0; round < 60; ++round) {
        const unsigned count = 1 + round * 5 % 40;
        meeting all(count);
        for (unsigned i = 0; i < count; ++i)
            jobs.run_waiting([&] { return transfer::outcome{all.attend() ? std::size_t{1} : 0, {}}; });
        ASSERT_TRUE(jobs.all_finish()) << count << " jobs";
    }
}

TEST(workers, a_device_that_is_slow_does_not_hold_another) {
    handed_jobs jobs(2);
    std::binary_semaphore answered(0); // the other device's job is done
    std::atomic<int> at_work{0};
    std::atomic<bool> too_many{false};
    for (int i = 0; i < 5; ++i)
        jobs.run(
            [&] {
                if (++at_work > 2) too_many = true;
                const bool in_time = answered.try_acquire_for(10s);
                answered.release();
                --at_work;
                return transfer::outcome{in_time ? std::size_t{1} : 0, {}};
            },
            {&jobs, 1});
    jobs.run(
        [&] {
            answered.release();
            return transfer::outcome{1, {}};
        },
        {&jobs, 2});
    EXPECT_TRUE(jobs.all_finish());
    EXPECT_FALSE(too_many) << "a device has no more than there are I/O threads";
}

TEST(workers, a_transfer_has_no_more_of_them_than_it_wants_and_others_are_served_beside_it) {
    handed_jobs jobs(io_threads);
    const int writing = 0;
    std::atomic<int> at_work{0};
    std::atomic<bool> too_many{false};
    for (int i = 0; i < 20; ++i)
        jobs.run(
            [&] {
                if (++at_work > 2) too_many = true;
                std::this_thread::yield();
                --at_work;
                return transfer::outcome{1, {}};
            },
            {.transfer = &writing, .at_once = 2});
    meeting others(io_threads - 2);
    for (unsigned i = 0; i < io_threads - 2; ++i)
        jobs.run([&] { return transfer::outcome{others.attend() ? std::size_t{1} : 0, {}}; });
    EXPECT_TRUE(jobs.all_finish());
    EXPECT_FALSE(too_many);
}

TEST(workers, transfers_take_turns) {
    handed_jobs jobs(1);
    std::binary_semaphore all_there(0);
    std::vector<char> order; // written by the only worker
    const int transfers[3] = {};
    const auto job = [&](char name) {
        return [&order, name] {
            order.push_back(name);
            return transfer::outcome{1, {}};
        };
    };
    jobs.run([&] { return transfer::outcome{all_there.try_acquire_for(10s) ? std::size_t{1} : 0, {}}; },
             {&transfers[0]});
    for (const auto name : {'a', 'a', 'a'}) jobs.run(job(name), {&transfers[1]});
    for (const auto name : {'b', 'b'}) jobs.run(job(name), {&transfers[2]});
    all_there.release();
    ASSERT_TRUE(jobs.all_finish());
    EXPECT_EQ(std::string(order.begin(), order.end()), "ababa");
}

TEST(workers, nobody_is_called_for_one_shared_job) {
    handed_jobs jobs(io_threads);
    const auto self = std::this_thread::get_id();
    for (int round = 0; round < 20; ++round) {
        std::thread::id by;
        jobs.run_shared([]() -> transfer::outcome { return {}; }, // moves nothing
                        [&] {
                            by = std::this_thread::get_id();
                            return transfer::outcome{1, {}};
                        });
        jobs.pass_time(); // for whoever was called
        EXPECT_TRUE(jobs.do_share());
        EXPECT_EQ(jobs.finished(), 1u);
        EXPECT_EQ(by, self);
        ASSERT_TRUE(jobs.all_finish());
    }
}

TEST(workers, and_the_engine_share_jobs_and_each_is_done_once) {
    handed_jobs jobs(io_threads, 50us);
    constexpr std::size_t count = 200;
    for (int round = 0; round < 20; ++round) {
        std::vector<std::atomic<int>> done(count);
        for (std::size_t i = 0; i < count; ++i)
            jobs.run_shared(
                [&, i] {
                    ++done[i];
                    return transfer::outcome{1, {}};
                },
                [&, i] {
                    ++done[i];
                    return transfer::outcome{1, {}};
                });
        ASSERT_TRUE(jobs.all_finish());
        EXPECT_TRUE(std::ranges::all_of(done, [](const auto& each) { return each == 1; }));
        EXPECT_FALSE(jobs.do_share());
    }
}

TEST(workers, do_what_the_engine_would_have_to_wait_for) {
    handed_jobs jobs(io_threads);
    const auto self = std::this_thread::get_id();
    for (unsigned count = 1; count < 40; ++count) {
        std::atomic<int> tried{0};
        for (unsigned i = 0; i < count; ++i)
            jobs.run_shared([&] { return transfer::outcome{std::this_thread::get_id() == self ? 0u : 1u, {}}; },
                            [&]() -> std::optional<transfer::outcome> {
                                ++tried;
                                return {};
                            });
        ASSERT_TRUE(jobs.all_finish()) << count << " jobs";
        EXPECT_LE(tried, static_cast<int>(count));
    }
}

TEST(workers, a_shared_job_of_the_engine_counts_as_one_of_its_transfer) {
    handed_jobs jobs(io_threads);
    const int transfer_of_two = 0;
    const transfer::job_origin two{&transfer_of_two, 0, 2};
    std::atomic<int> at_once{0}, most{0};
    const auto work = [&] {
        most = std::max(most.load(), ++at_once);
        std::this_thread::yield();
        --at_once;
        return transfer::outcome{1, {}};
    };
    for (int i = 0; i < 500; ++i) jobs.run_shared(work, work, two);
    ASSERT_TRUE(jobs.all_finish());
    EXPECT_LE(most, 2);
}

TEST(workers, a_shared_job_that_fails_here_has_failed) {
    handed_jobs jobs(io_threads);
    int other = 0;
    jobs.run_shared([&] { return transfer::outcome{static_cast<std::size_t>(++other), {}}; },
                    []() -> std::optional<transfer::outcome> { throw std::runtime_error("no"); });
    EXPECT_TRUE(jobs.do_share());
    EXPECT_EQ(jobs.finished(), 1u);
    EXPECT_FALSE(jobs.all_finish()) << "it moved nothing";
    EXPECT_EQ(other, 0);
}

TEST(workers, of_another_device_do_not_wait_for_the_engine_where_all_io_threads_are_taken) {
    handed_jobs jobs(2);
    const int slow = 0, shared = 0, fast = 0;
    std::counting_semaphore<8> slow_goes_on(0);
    std::atomic<int> slow_ones{0};
    for (int i = 0; i < 2; ++i)
        jobs.run(
            [&] {
                ++slow_ones;
                slow_goes_on.acquire();
                return transfer::outcome{1, {}};
            },
            {&slow, 1, 2});
    while (slow_ones < 2) std::this_thread::yield();
    jobs.run_shared([] { return transfer::outcome{1, {}}; }, [] { return transfer::outcome{1, {}}; }, {&shared, 1, 2});
    EXPECT_FALSE(jobs.do_share()) << "the device has its I/O threads taken";
    std::atomic<bool> done{false};
    jobs.run(
        [&] {
            done = true;
            return transfer::outcome{1, {}};
        },
        {&fast, 2, 2});
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!done && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_TRUE(done);
    slow_goes_on.release(2);
    ASSERT_TRUE(jobs.all_finish());
}

TEST(workers, run_where_the_pool_was_made_whoever_starts_them) {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "there is one processor";
    handed_jobs jobs(2);
    cpu_set_t found;
    std::thread bound([&] {
        CPU_ZERO(&one);
        for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
            if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        jobs.run([&] { return transfer::outcome{sched_getaffinity(0, sizeof found, &found) == 0 ? 1u : 0u, {}}; });
    });
    bound.join();
    ASSERT_TRUE(jobs.all_finish());
    EXPECT_TRUE(CPU_EQUAL(&found, &all));
}

TEST(workers, that_are_called_for_a_job_to_come_do_it_whenever_it_comes) {
    constexpr auto patience = 200us; // and twice that for one who is called early
    handed_jobs jobs(2, patience);
    jobs.expect(); // nobody is there yet
    for (int round = 0; round < 300; ++round) {
        jobs.run([] { return transfer::outcome{1, {}}; });
        ASSERT_TRUE(jobs.all_finish()) << round;
        std::this_thread::sleep_for(round % 3 * patience); // awake, falling asleep, asleep
        jobs.expect();
        if (round % 2 == 0) jobs.expect();
        std::this_thread::sleep_for(round % 5 * patience); // before it wakes, while it looks, when it has given up
    }
}
