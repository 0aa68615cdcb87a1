// SPDX-License-Identifier: Apache-2.0
// The engine's thread, and threads of the program that drive the engine while they wait.
#include "transfer/engine_thread.hpp"
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

using namespace unit;
using namespace std::chrono_literals;

namespace {

using inline_driver = engine_thread::inline_driver;

/// Does everything at once, in the thread that drives the engine.
class quick_endpoint final : public endpoint {
  public:
    explicit quick_endpoint(std::function<void()> at_open = {}) : m_at_open(std::move(at_open)) {}
    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::host}; }
    [[nodiscard]] std::string name() const override { return "quick"; }
    void open(const open_request& request, step& done) override {
        if (m_at_open) m_at_open();
        done.finish({request.bytes, {}});
    }
    void read(std::size_t, block_reference block, step& done) override { done.finish({block.size(), {}}); }
    void write(std::size_t, block_reference block, step& done) override { done.finish({block.size(), {}}); }
    void close(std::size_t, const failure&, step& done) override { done.finish({}); }

  private:
    std::function<void()> m_at_open;
};

class noted_thread final : public completion_listener {
  public:
    void completed(const failure&) override { which = std::this_thread::get_id(); }
    std::atomic<std::thread::id> which;
};

/// An engine in the thread of its own.
struct running {
    monotonic_clock clock;
    options settings;
    engine machine{settings, clock, 2};
    engine_thread thread{machine};

    std::shared_ptr<command> make(std::function<void()> at_open = {}, std::vector<std::unique_ptr<gate>> gates = {}) {
        return bench::make(std::make_unique<quick_endpoint>(std::move(at_open)), std::make_unique<quick_endpoint>(), 8,
                           told, std::move(gates));
    }
    /// Once the thread sleeps.
    void take_over(std::optional<inline_driver>& by) {
        while (!by || !by->drives()) {
            std::this_thread::yield();
            by.emplace(thread);
        }
    }
    std::shared_ptr<noted_thread> told = std::make_shared<noted_thread>();
};

/// Opens when the test says so, in any thread.
struct shared_gate_state {
    std::atomic<bool> is_open{false};
    std::atomic<int> looks{0};
};
class shared_gate final : public gate {
  public:
    explicit shared_gate(shared_gate_state& of) : m_of(of) {}
    [[nodiscard]] state look() override {
        ++m_of.looks;
        return m_of.is_open ? state::open : state::closed;
    }
    void arm(const std::shared_ptr<waker>&, std::uint64_t) override {}

  private:
    shared_gate_state& m_of;
};
std::vector<std::unique_ptr<gate>> behind(shared_gate_state& which) {
    std::vector<std::unique_ptr<gate>> gates;
    gates.push_back(std::make_unique<shared_gate>(which));
    return gates;
}

} // namespace

TEST(engine_thread, stops_in_time_or_is_left_behind) {
    bench quick;
    engine_thread ends(*quick.machine);
    EXPECT_TRUE(ends.stop_within(10s));
    // Its thread may still look at all of this when the test is over.
    struct stuck_engine {
        bench on;
        engine_thread thread{*on.machine};
        std::atomic<bool> is_stuck{true};
    };
    static auto& stuck = *new stuck_engine;
    stuck.on.machine->call([] {
        while (stuck.is_stuck) std::this_thread::yield();
    });
    EXPECT_FALSE(stuck.thread.stop_within(20ms));
    EXPECT_TRUE(stuck.thread.stop_within(20ms)) << "there is no thread any more";
    stuck.is_stuck = false;
}

TEST(inline_driver, ends_a_command_in_the_thread_that_waits_for_it) {
    running on;
    std::optional<inline_driver> self;
    on.take_over(self);
    EXPECT_TRUE(on.thread.is_current());
    const auto work = on.make();
    on.machine.submit(work);
    self->advance(*work);
    EXPECT_TRUE(work->is_told());
    EXPECT_EQ(on.told->which.load(), std::this_thread::get_id());
    self.reset();
    EXPECT_FALSE(on.thread.is_current());
}

TEST(inline_driver, is_one_at_a_time) {
    running on;
    std::optional<inline_driver> self;
    on.take_over(self);
    std::thread([&] { EXPECT_FALSE(inline_driver(on.thread).drives()); }).join();
}

TEST(inline_driver, takes_no_part_while_the_engines_thread_is_awake) {
    running on;
    std::atomic<bool> is_there{false}, may_go{false};
    on.machine.call([&] {
        is_there = true;
        while (!may_go) std::this_thread::yield();
    });
    while (!is_there) std::this_thread::yield();
    inline_driver self(on.thread);
    EXPECT_FALSE(self.drives());
    const auto work = on.make();
    on.machine.submit(work);
    self.advance(*work); // does nothing
    may_go = true;
    EXPECT_FALSE(work->wait());
    EXPECT_NE(on.told->which.load(), std::this_thread::get_id());
}

TEST(inline_driver, leaves_to_the_engines_thread_what_is_not_over) {
    running on;
    shared_gate_state entry;
    std::optional<inline_driver> self;
    on.take_over(self);
    const auto gated = on.make({}, behind(entry)), work = on.make();
    on.machine.submit(gated);
    on.machine.submit(work);
    self->advance(*work);
    EXPECT_TRUE(work->is_told());
    self.reset();
    EXPECT_FALSE(gated->is_told());
    entry.is_open = true;
    EXPECT_FALSE(gated->wait());
    EXPECT_NE(on.told->which.load(), std::this_thread::get_id());
}

TEST(inline_driver, leaves_mail_to_the_engines_thread) {
    running on;
    std::optional<inline_driver> self;
    on.take_over(self);
    const auto work = on.make();
    on.machine.submit(work);
    self.reset();
    EXPECT_FALSE(work->wait());
    EXPECT_NE(on.told->which.load(), std::this_thread::get_id());
}

TEST(inline_driver, does_not_go_without_signals_for_long) {
    running on;
    shared_gate_state entry;
    std::optional<inline_driver> self;
    on.take_over(self);
    const auto work = on.make({}, behind(entry));
    on.machine.submit(work);
    const auto begun = std::chrono::steady_clock::now();
    self->advance(*work); // comes back though the gate is closed
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 10ms);
    EXPECT_FALSE(work->is_told());
    self.reset();
    entry.is_open = true;
    EXPECT_FALSE(work->wait());
}

TEST(inline_driver, hears_what_arrives_while_it_sleeps) {
    running on;
    std::optional<inline_driver> self;
    on.take_over(self);
    shared_gate_state entry;
    const auto gated = on.make({}, behind(entry));
    on.machine.submit(gated);
    std::atomic<int> heard{0};
    std::thread other([&] {
        while (entry.looks < 3) std::this_thread::yield();
        for (int i = 0; i < 1000; ++i) on.machine.call([&] { ++heard; });
        entry.is_open = true;
    });
    while (!gated->is_told()) self->advance(*gated);
    other.join();
    self.reset();
    while (heard < 1000) std::this_thread::yield();
}

TEST(inline_driver, survives_what_a_step_raises) {
    running on;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    std::optional<inline_driver> self;
    on.take_over(self);
    ssize_t written = 0;
    const auto work = on.make([&] { written = ::write(ends[1], "x", 1); });
    on.machine.submit(work);
    self->advance(*work);
    self.reset();
    EXPECT_EQ(written, -1);
    sigset_t raised;
    sigpending(&raised);
    EXPECT_EQ(sigismember(&raised, SIGPIPE), 0);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
    ::close(ends[1]);
}

namespace {
std::atomic<engine_thread*> handled_beside{nullptr};
std::atomic<int> handled{0};
} // namespace

TEST(inline_driver, has_left_when_a_signal_comes_in) {
    running on;
    handled_beside = &on.thread;
    handled = 0;
    struct sigaction made{}, before{};
    made.sa_handler = [](int) { handled += handled_beside.load()->is_current() ? 100 : 1; };
    ASSERT_EQ(sigaction(SIGUSR1, &made, &before), 0);
    std::optional<inline_driver> self;
    on.take_over(self);
    const auto work = on.make([] { pthread_kill(pthread_self(), SIGUSR1); });
    on.machine.submit(work);
    self->advance(*work);
    EXPECT_TRUE(work->is_told());
    EXPECT_EQ(handled, 0) << "not while it drives";
    self.reset();
    EXPECT_EQ(handled, 1);
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(inline_driver, takes_nothing_over_where_the_thread_may_be_kept_waiting) {
    running on;
    {
        std::optional<inline_driver> self;
        on.take_over(self); // the thread sleeps
    }
    std::thread([&] {
        const sched_param none{};
        ASSERT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
        EXPECT_FALSE(inline_driver(on.thread).drives());
    }).join();
}

TEST(inline_driver, holds_up_no_end_of_the_engines_thread) {
    running on;
    std::optional<inline_driver> self;
    on.take_over(self);
    shared_gate_state entry;
    const auto work = on.make({}, behind(entry));
    on.machine.submit(work);
    std::thread ending([&] { EXPECT_TRUE(on.thread.stop_within(10s)); });
    while (entry.looks < 1) self->advance(*work);
    self->advance(*work);
    self.reset();
    ending.join();
}

TEST(inline_driver, comes_and_goes_beside_threads_that_enqueue) {
    running on;
    constexpr int rounds = 2000;
    const auto enqueue = [&] {
        for (int i = 0; i < rounds; ++i) {
            inline_driver self(on.thread);
            const auto work = on.make();
            on.machine.submit(work);
            if (i % 3 != 0) self.advance(*work);
            if (i % 7 != 0) continue;
            std::this_thread::yield();
        }
    };
    std::thread one(enqueue), other(enqueue);
    one.join();
    other.join();
    EXPECT_TRUE(on.thread.wait_idle(60s));
}

TEST(mailbox, wakes_who_slept_for_a_time_when_a_inline_driver_leaves) {
    // Woken while the inline_driver was there, it sleeps until that leaves, whatever its time was.
    for (int round = 0; round < 50; ++round) {
        mailbox box;
        std::atomic<bool> is_awake{false};
        std::thread sleeper([&] {
            box.wait(std::chrono::milliseconds(5));
            is_awake = true;
        });
        bool drives = false;
        while (!is_awake && !(drives = box.take_over())) std::this_thread::yield();
        if (!drives) { // its time was over before this thread had a processor
            sleeper.join();
            continue;
        }
        box.post(mailbox::wake_up{0});
        std::vector<mailbox::message> mail;
        box.take(mail);
        const auto until = std::chrono::steady_clock::now() + 6ms;
        while (round % 2 == 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
        EXPECT_FALSE(is_awake);
        box.hand_back(std::chrono::milliseconds(10)); // later than its own time
        const auto longest = std::chrono::steady_clock::now() + 20s;
        while (!is_awake && std::chrono::steady_clock::now() < longest) std::this_thread::yield();
        EXPECT_TRUE(is_awake);
        if (!is_awake) box.post(mailbox::wake_up{0});
        sleeper.join();
    }
}

TEST(mailbox, whose_sleeper_was_woken_beside_a_inline_driver_is_told_when_to_wake) {
    for (int round = 0; round < 200; ++round) {
        mailbox box;
        std::atomic<bool> is_awake{false};
        std::thread sleeper([&] {
            box.wait(std::chrono::milliseconds(3));
            is_awake = true;
        });
        while (!box.can_take_over() && !is_awake) std::this_thread::yield();
        box.post(mailbox::wake_up{0}); // wakes it, but the inline_driver is faster, or not
        std::vector<mailbox::message> mail;
        if (box.take_over()) {
            box.take(mail);
            std::this_thread::yield();
            box.hand_back(std::chrono::milliseconds(4));
        }
        const auto longest = std::chrono::steady_clock::now() + 5s;
        while (!is_awake && std::chrono::steady_clock::now() < longest) std::this_thread::yield();
        const bool was_told = is_awake;
        if (!was_told) box.post(mailbox::wake_up{0});
        sleeper.join();
        ASSERT_TRUE(was_told) << "round " << round;
    }
}
