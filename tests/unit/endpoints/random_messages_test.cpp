// SPDX-License-Identifier: Apache-2.0
// Gated receives and messages at random: they match in order, and whatever happens, all ends and nothing is lost.
#include "support/cases.hpp"
#include "unit/endpoints/two_ranks.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace unit;

namespace {

const auto seeds = static_cast<unsigned>(support::cases(4000));

/// A command with its memory and a gate that it may have.
struct one_command {
    int with_tag = endpoints::any_tag;
    fake_gate_state entry;
    std::vector<std::byte> memory;
    std::shared_ptr<command> work;

    std::vector<std::unique_ptr<gate>> gates() {
        std::vector<std::unique_ptr<gate>> all;
        all.push_back(std::make_unique<fake_gate>(entry));
        return all;
    }
};
using commands = std::vector<std::unique_ptr<one_command>>;

class random_messages : public by_strategy {
  protected:
    void begin(unsigned seed) {
        m_random.seed(seed);
        both = std::make_unique<two_ranks>();
        both->a.settings.set("eager", pick(2) != 0 ? "0" : pick(2) != 0 ? "4" : "64");
        both->a.settings.set("block", pick(3) != 0 ? "4" : "2");
        if (pick(4) == 0) both->b.settings.set("staging", "8M"); // nothing is ever taken early
        receives.clear();
        sends.clear();
    }
    [[nodiscard]] int pick(int below) { return static_cast<int>(m_random() % static_cast<unsigned>(below)); }
    [[nodiscard]] one_command& any_of(commands& all) { return *all[static_cast<std::size_t>(pick(int(all.size())))]; }

    void receive(commands& to, std::size_t bytes, int source, int with_tag, bool gated, int failing = -1) {
        auto made = std::make_unique<one_command>();
        made->with_tag = with_tag;
        made->memory.resize(bytes);
        made->work = both->b.receive(made->memory, source, with_tag, failing,
                                     gated ? made->gates() : std::vector<std::unique_ptr<gate>>{});
        to.push_back(std::move(made));
    }
    void send(std::size_t number, bool gated, int failing = -1) {
        static constexpr std::size_t sizes[] = {0, 1, 4, 4, 10};
        auto made = std::make_unique<one_command>();
        made->with_tag = 1 + pick(2);
        made->memory = bench::pattern(sizes[pick(5)], static_cast<unsigned>(number + 1));
        made->work = both->a.send(made->memory, 1, made->with_tag, failing,
                                  gated ? made->gates() : std::vector<std::unique_ptr<gate>>{});
        sends.push_back(std::move(made));
    }
    void deliver() {
        if (both->network.deliverable() > 0)
            both->network.deliver(static_cast<std::size_t>(pick(static_cast<int>(both->network.deliverable()))));
    }
    void turn_gate(one_command& of) {
        if (of.entry.value == gate::state::closed)
            of.entry.value = pick(2) != 0 ? gate::state::open : gate::state::failed;
        both->b.clock.advance(std::chrono::seconds(pick(3)));
        both->a.clock.advance(std::chrono::milliseconds(20));
    }
    void step() {
        if (pick(3) == 0) return;
        pick(2) != 0 ? both->a.machine.step() : both->b.machine.step();
        if (pick(3) == 0) both->settle();
    }
    void open_all_gates() {
        for (auto* const all : {&receives, &sends})
            for (auto& each : *all)
                if (each->entry.value == gate::state::closed) each->entry.value = gate::state::open;
        both->run_on(m_first);
    }
    void run_on() { both->run_on(m_first); }
    void cancel(one_command& which, one_rank& at) {
        at.machine.cancel(which.work, {status::cancelled, 0, 0, "by the test"});
    }

    std::unique_ptr<two_ranks> both;
    commands receives, sends;

  private:
    std::mt19937 m_random;
    chooser m_first;
};

} // namespace

TEST_P(random_messages, match_as_if_receives_that_never_start_had_not_been_there) {
    for (unsigned seed = 0; seed < seeds && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        begin(seed);
        for (int left = 2 + pick(4); left > 0; --left) {
            const int with_tag = pick(3);
            receive(receives, 12, pick(2) != 0 ? 0 : endpoints::any_source,
                    with_tag == 0 ? endpoints::any_tag : with_tag, pick(4) != 0);
        }
        both->settle();
        for (std::size_t number = 0, count = 1 + static_cast<std::size_t>(pick(4)); number < count; ++number)
            send(number, false);
        for (int steps = 0; steps < 60; ++steps) {
            const int what = pick(10);
            auto& one = any_of(receives);
            if (what < 6)
                deliver();
            else if (what < 8)
                turn_gate(one);
            else if (status_of(one.work) == status::submitted && pick(3) == 0)
                cancel(one, both->b);
            step();
        }
        open_all_gates();
        commands line = std::move(receives);
        std::erase_if(line, [](const auto& each) {
            const int ended = status_of(each->work);
            return ended == status::cancelled || ended == status::wait_list_failed;
        });
        for (std::size_t i = 0; i < sends.size(); ++i) receive(line, 12, 0, endpoints::any_tag, false);
        run_on();

        // The model: each message, in order, goes to the first receive left that it fits.
        std::vector<bool> used(line.size());
        for (const auto& each : sends) {
            ASSERT_EQ(status_of(each->work), status::complete);
            for (std::size_t i = 0; i < line.size(); ++i) {
                if (used[i] || (line[i]->with_tag != endpoints::any_tag && line[i]->with_tag != each->with_tag))
                    continue;
                used[i] = true;
                ASSERT_EQ(status_of(line[i]->work), status::complete);
                ASSERT_EQ(line[i]->work->report().bytes_moved[0], each->memory.size());
                ASSERT_TRUE(std::equal(each->memory.begin(), each->memory.end(), line[i]->memory.begin()));
                break;
            }
        }
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (used[i]) continue;
            ASSERT_EQ(status_of(line[i]->work), status::running);
            cancel(*line[i], both->b);
        }
        run_on();
        both->expect_quiet();
    }
}

TEST_P(random_messages, end_and_keep_their_bytes_whatever_fails) {
    for (unsigned seed = 0; seed < seeds && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        begin(seed);
        for (int left = 1 + pick(4); left > 0; --left) {
            const int with_tag = pick(3);
            receive(receives, pick(4) != 0 ? 12 : 3, pick(2) != 0 ? 0 : endpoints::any_source,
                    with_tag != 0 ? with_tag : endpoints::any_tag, pick(4) != 0, pick(6) != 0 ? -1 : pick(2));
        }
        both->settle();
        if (pick(5) == 0) both->network.refuse_sends(pick(2), pick(4), pick(8));
        if (pick(5) == 0) both->network.refuse_receives(1, 4 + pick(3), 4 + pick(8));
        for (std::size_t number = 0, count = 1 + static_cast<std::size_t>(pick(4)); number < count; ++number)
            send(number, pick(4) == 0, pick(6) != 0 ? -1 : pick(2));
        for (int steps = 0; steps < 80; ++steps) {
            const int what = pick(10);
            const bool of_sends = pick(3) == 0;
            auto& one = any_of(of_sends ? sends : receives);
            if (what < 5)
                deliver();
            else if (what < 8)
                turn_gate(one);
            else if (pick(3) == 0)
                cancel(one, of_sends ? both->a : both->b);
            step();
        }
        for (const int rank : {0, 1}) both->network.refuse_sends(rank, 0, 0);
        both->network.refuse_receives(1, 0, 0);
        open_all_gates();
        commands spare;
        for (std::size_t i = 0; i <= sends.size(); ++i) receive(spare, 12, 0, endpoints::any_tag, false);
        run_on();
        for (const auto& each : sends) ASSERT_LE(status_of(each->work), status::complete) << "a send hangs";
        for (auto* const all : {&receives, &spare})
            for (auto& each : *all)
                if (status_of(each->work) > status::complete) cancel(*each, both->b);
        run_on();

        std::vector<bool> seen(sends.size());
        for (auto* const all : {&receives, &spare}) {
            for (auto& each : *all) {
                ASSERT_LE(status_of(each->work), status::complete) << "a receive hangs";
                const auto bytes = each->work->report().bytes_moved[0];
                if (status_of(each->work) != status::complete || bytes == 0) continue;
                bool found = false;
                for (std::size_t i = 0; i < sends.size() && !found; ++i) {
                    const auto& sent = sends[i]->memory;
                    if (seen[i] || sent.size() != bytes || !std::equal(sent.begin(), sent.end(), each->memory.begin()))
                        continue;
                    found = seen[i] = true;
                }
                ASSERT_TRUE(found) << "bytes of no message, or of one that another receive has";
            }
        }
    }
}

CAUSEWAY_BY_STRATEGY(random_messages);
