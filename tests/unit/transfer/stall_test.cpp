// SPDX-License-Identifier: Apache-2.0
// When a stall is told, and what is said of it.
#include "unit/transfer/fake_recorder.hpp"
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

using namespace unit;
using namespace std::chrono_literals;

namespace {

/// Never opens by itself.
class missing_peer final : public endpoint, waiting_end {
  public:
    explicit missing_peer(std::string partner) : m_partner(std::move(partner)) {}
    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::rank, .sets_size = true}; }
    [[nodiscard]] std::string name() const override { return "rank 1"; }
    [[nodiscard]] abilities offers() override { return {.waits = this}; }
    [[nodiscard]] std::string partner() const override { return m_partner; }
    void open(const open_request&, step& done) override { m_open = &done; }
    void cancel() override {
        if (m_open != nullptr) std::exchange(m_open, nullptr)->finish({0, {status::cancelled, 0, 0, "cancelled"}});
    }

  private:
    std::string m_partner;
    step* m_open = nullptr;
};

struct stalled_bench : bench {
    stalled_bench() {
        settings.set("stall", "10");
        machine->tell_stalls([this](std::chrono::seconds, const std::string& what) { told.push_back(what); });
    }
    std::shared_ptr<command> submit(const char* name, const std::string& partner, const void* queue = nullptr,
                                    std::vector<std::shared_ptr<command>> after = {},
                                    std::vector<std::unique_ptr<gate>> gates = {}) {
        auto made = make(std::make_unique<missing_peer>(partner),
                         std::make_unique<fake_endpoint>(
                             steps, bytes, endpoint_traits{.kind = medium::host, .has_memory = true}, target),
                         bytes.size(), listener(), std::move(gates), std::move(after));
        made->is_called({.name = name, .queues = {queue, nullptr}});
        machine->submit(made);
        settle();
        return made;
    }
    std::shared_ptr<command> submit_gated(const char* name, const std::string& partner, const void* queue) {
        std::vector<std::unique_ptr<gate>> gates;
        gates.push_back(std::make_unique<fake_gate>(entry));
        return submit(name, partner, queue, {}, std::move(gates));
    }
    void wait(std::chrono::nanoseconds time) {
        clock.advance(time);
        settle();
    }
    void cancel(const std::shared_ptr<command>& work) {
        machine->cancel(work, {status::cancelled, 0, 0, "cancelled"});
        settle();
        while (steps.count() > 0) {
            steps.finish(0);
            settle();
        }
    }
    std::vector<std::string> told;
    std::vector<std::byte> bytes = std::vector<std::byte>(64);
    fake_endpoint::life target;
    fake_gate_state entry;
    int in_order_queue = 0;
};

} // namespace

TEST(stall, is_told_once_after_its_time_with_what_stands_behind_it_in_the_queue) {
    stalled_bench on;
    const auto first = on.submit("receive", "rank 1 to send with tag 5", &on.in_order_queue);
    const auto second = on.submit_gated("send", "rank 1 to receive with tag 6", &on.in_order_queue);
    on.wait(9s);
    EXPECT_TRUE(on.told.empty());
    on.wait(2s);
    ASSERT_EQ(on.told.size(), 1u);
    EXPECT_EQ(on.told[0], "\n  transfer 1 (receive) waits for rank 1 to send with tag 5, for 11 s"
                          "\n    behind it: transfer 2 (send), which then waits for rank 1 to receive with tag 6");
    on.wait(100s);
    EXPECT_EQ(on.told.size(), 1u);
    on.cancel(second);
    on.cancel(first);
}

TEST(stall, tells_of_what_waits_by_events_too) {
    stalled_bench on;
    const auto first = on.submit("receive", "any rank to send with any tag");
    const auto second = on.submit("write from file", "", nullptr, {first});
    on.wait(11s);
    ASSERT_EQ(on.told.size(), 1u);
    EXPECT_NE(on.told[0].find("\n    behind it: transfer 2 (write from file)"), std::string::npos);
    on.cancel(second);
    on.cancel(first);
}

TEST(stall, is_none_while_others_move) {
    stalled_bench on;
    const auto waiting = on.submit("receive", "rank 1 to send with tag 5");
    for (int i = 0; i < 5; ++i) {
        on.wait(8s);
        on.cancel(on.submit("receive", "rank 1 to send with tag 6"));
    }
    EXPECT_TRUE(on.told.empty());
    on.cancel(waiting);
}

TEST(stall, is_none_if_all_wait_for_events_of_the_program) {
    stalled_bench on;
    const auto gated = on.submit_gated("receive", "rank 1 to send with tag 5", nullptr);
    on.wait(100s);
    EXPECT_TRUE(on.told.empty());
    on.cancel(gated);
}

TEST(stall, is_never_told_with_a_time_of_zero) {
    stalled_bench on;
    on.settings.set("stall", "0");
    const auto waiting = on.submit("receive", "rank 1 to send with tag 5");
    on.wait(1000s);
    EXPECT_TRUE(on.told.empty());
    on.cancel(waiting);
}

TEST(stall, makes_the_engine_patient_if_it_ended_after_all) {
    stalled_bench on;
    const auto first = on.submit("receive", "rank 1 to send with tag 5");
    on.wait(20s);
    EXPECT_EQ(on.told.size(), 1u);
    on.cancel(first);
    const auto second = on.submit("receive", "rank 1 to send with tag 5");
    on.wait(35s);
    EXPECT_EQ(on.told.size(), 1u);
    on.wait(10s);
    EXPECT_EQ(on.told.size(), 2u);
    on.cancel(second);
}

TEST(stall, tells_the_timeline_what_is_pending) {
    stalled_bench on;
    fake_recorder heard(on.clock);
    on.machine->record(heard);
    const auto first = on.submit("receive", "rank 1 to send with tag 5", &on.in_order_queue);
    const auto second = on.submit_gated("send", "rank 1 to receive with tag 6", &on.in_order_queue);
    on.wait(2s);
    ASSERT_EQ(heard.transfers.size(), 2u);
    EXPECT_TRUE(heard.transfers[0].is_pending());
    EXPECT_EQ(heard.transfers[0].partner, "rank 1 to send with tag 5");
    EXPECT_TRUE(heard.transfers[1].is_pending());
    on.wait(1s);
    EXPECT_EQ(heard.transfers.size(), 2u);
    on.cancel(second);
    on.cancel(first);
}
