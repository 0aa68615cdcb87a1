// SPDX-License-Identifier: Apache-2.0
// What the engine tells a recorder.
#include "unit/transfer/fake_recorder.hpp"
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

using namespace unit;
using namespace std::chrono_literals;

namespace {

struct recorded_bench : bench {
    recorded_bench() {
        machine->record(heard);
        settings.set("block", "100");
        settings.set("depth", "2");
        settings.set("strategy", "pipelined");
    }
    std::shared_ptr<command> submit(fault_plan* faults = nullptr, std::vector<std::unique_ptr<gate>> gates = {},
                                    std::vector<std::shared_ptr<command>> after = {}) {
        auto made = make(std::make_unique<fake_endpoint>(
                             steps, from, endpoint_traits{.kind = medium::file, .resource = "disk"}, source, faults),
                         std::make_unique<fake_endpoint>(
                             steps, to, endpoint_traits{.kind = medium::device, .resource = "device"}, target),
                         250, listener(), std::move(gates), std::move(after));
        machine->submit(made);
        return made;
    }
    /// Every step takes a millisecond.
    void run() {
        settle();
        while (steps.count() > 0) {
            clock.advance(1ms);
            steps.finish(0);
            settle();
        }
    }
    fake_recorder heard{clock};
    std::vector<std::byte> from = pattern(250), to = std::vector<std::byte>(250);
    fake_endpoint::life source, target;
};

/// Opens, and says what it was.
class told_gate final : public gate {
  public:
    explicit told_gate(gate::state& state) : m_state(state) {}
    [[nodiscard]] state look() override { return m_state; }
    void arm(const std::shared_ptr<waker>&, std::uint64_t) override {}
    [[nodiscard]] std::optional<command_span> waited_for(time_point) override { return command_span{.number = 77}; }

  private:
    gate::state& m_state;
};

/// A message whose blocks come in memory that both processes have mapped, or do not.
class incoming_message final : public endpoint, message_end {
  public:
    explicit incoming_message(bool is_shared) : m_is_shared(is_shared) {}
    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::rank, .resource = "node"}; }
    [[nodiscard]] std::string name() const override { return "rank 1"; }
    [[nodiscard]] abilities offers() override { return {.message = this}; }
    [[nodiscard]] message_identity message_moved() const override { return {}; }
    [[nodiscard]] bool shares_memory() const override { return m_is_shared; }

  private:
    bool m_is_shared;
};

} // namespace

TEST(recording, tells_of_each_block_at_each_end) {
    recorded_bench on;
    const auto work = on.submit();
    on.run();
    ASSERT_EQ(on.heard.blocks.size(), 6u);
    std::size_t read = 0, copied = 0;
    for (const auto& each : on.heard.blocks) {
        EXPECT_EQ(each.transfer, work->number());
        EXPECT_LT(each.begin, each.end);
        EXPECT_FALSE(each.failed);
        (each.what == activity::read ? read : copied) += each.bytes;
        EXPECT_TRUE(each.what == activity::read || each.what == activity::copy_in);
    }
    EXPECT_EQ(read, 250u);
    EXPECT_EQ(copied, 250u);
}

TEST(recording, tells_of_a_transfer_what_its_owner_may_ask) {
    recorded_bench on;
    const auto work = on.submit();
    on.run();
    ASSERT_EQ(on.heard.transfers.size(), 1u);
    const auto& told = on.heard.transfers.front();
    const auto known = work->report();
    EXPECT_EQ(told.moved, 250u);
    EXPECT_EQ(told.chosen.strategy, "pipelined");
    EXPECT_EQ(told.chosen.block_bytes, 100u);
    EXPECT_EQ(told.started, known.started);
    EXPECT_EQ(told.ended, known.ended);
    EXPECT_FALSE(told.error);
    EXPECT_FALSE(told.limit_seconds) << "nothing is known of the stages";
}

TEST(recording, tells_of_a_transfer_what_its_slowest_stage_would_take) {
    recorded_bench on;
    auto& figures = on.machine->figures();
    figures.measured("disk", operation::read, stage_model::line(1e-3, 1e6, 1e5));
    figures.measured("device", operation::copy_in, stage_model::line(1e-6, 1e9, 1e9));
    on.settings.set("tuner", "fixed");
    (void)on.submit();
    on.run();
    ASSERT_EQ(on.heard.transfers.size(), 1u);
    EXPECT_NEAR(on.heard.transfers.front().limit_seconds.value(), 1e-9 + 250 / 1e5, 1e-12) << "reads, several at once";
}

TEST(recording, expects_of_a_message_what_its_way_takes_whether_it_shares_memory_or_not) {
    for (const bool is_shared : {true, false}) {
        recorded_bench on;
        on.settings.set("strategy", "shared-window");
        auto& figures = on.machine->figures();
        figures.measured("node", operation::window, stage_model::line(1e-3, 1e9, 1e9));
        figures.measured("node", operation::receive, stage_model::line(5e-3, 1e9, 1e9));
        figures.measured("device", operation::copy_out, stage_model::line(5e-3, 1e9, 1e9));
        figures.measured("device", operation::copy_in, stage_model::line(1e-6, 1e9, 1e9));
        on.machine->submit(
            bench::make(std::make_unique<incoming_message>(is_shared),
                        std::make_unique<fake_endpoint>(
                            on.steps, on.to, endpoint_traits{.kind = medium::device, .resource = "device"}, on.target),
                        100, on.listener()));
        on.run();
        ASSERT_EQ(on.heard.transfers.size(), 1u);
        const auto& told = on.heard.transfers.front();
        EXPECT_EQ(told.chosen.strategy, is_shared ? "shared-window" : "pinned");
        EXPECT_EQ(told.chosen.window, is_shared);
        EXPECT_TRUE(is_shared ? told.expected_seconds < 2e-3 : told.expected_seconds > 5e-3)
            << told.expected_seconds.value();
    }
}

TEST(recording, tells_the_cause_of_a_failure_and_which_block_failed) {
    recorded_bench on;
    fault_plan faults{.failing_call = 2}; // open, first read, second read
    (void)on.submit(&faults);
    on.run();
    ASSERT_EQ(on.heard.transfers.size(), 1u);
    EXPECT_EQ(on.heard.transfers.front().error.message, "broken by the test");
    EXPECT_EQ(
        std::count_if(on.heard.blocks.begin(), on.heard.blocks.end(), [](const auto& each) { return each.failed; }), 1);
}

TEST(recording, tells_what_a_transfer_waited_for) {
    recorded_bench on;
    auto state = gate::state::closed;
    std::vector<std::unique_ptr<gate>> gates;
    gates.push_back(std::make_unique<told_gate>(state));
    const auto first = on.submit(nullptr, std::move(gates));
    const auto second = on.submit(nullptr, {}, {first});
    on.settle();
    EXPECT_TRUE(on.heard.commands.empty());
    state = gate::state::open;
    on.run();
    EXPECT_EQ(on.heard.commands, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{first->number(), 77}}));
    EXPECT_EQ(on.heard.waits,
              (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{second->number(), first->number()}}));
}

TEST(recording, leaves_no_transfer_unasked_when_the_thread_that_waits_for_it_leaves) {
    recorded_bench on;
    auto state = gate::state::open;
    std::vector<std::unique_ptr<gate>> gates;
    gates.push_back(std::make_unique<told_gate>(state));
    const auto work = on.submit(nullptr, std::move(gates));
    while (!work->is_told()) {
        on.clock.advance(1ms);
        if (!on.machine->step() && on.steps.count() > 0) on.steps.finish(0);
    }
    ASSERT_EQ(on.machine->active(), 1u); // the gate has not been asked
    EXPECT_EQ(on.machine->pause(), 0ns);
    on.settle();
    EXPECT_EQ(on.machine->active(), 0u);
}

TEST(recording, tells_of_a_transfer_that_never_started) {
    recorded_bench on;
    auto state = gate::state::failed;
    std::vector<std::unique_ptr<gate>> gates;
    gates.push_back(std::make_unique<told_gate>(state));
    (void)on.submit(nullptr, std::move(gates));
    on.run();
    ASSERT_EQ(on.heard.transfers.size(), 1u);
    EXPECT_EQ(on.heard.transfers.front().error.status, status::wait_list_failed);
    EXPECT_EQ(on.heard.transfers.front().started, time_point{});
    EXPECT_TRUE(on.heard.blocks.empty());
}
