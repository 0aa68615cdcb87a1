// SPDX-License-Identifier: Apache-2.0
// Two ranks with an engine and a messenger each, between them the fake network.
#pragma once

#include "unit/endpoints/fake_network.hpp"
#include "unit/transfer/fakes.hpp"

#include "endpoints/mpi/rank_endpoint.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace unit {

inline constexpr int tag = 7;

/// Device memory whose steps end at once; one of them may fail.
class instant_memory final : public endpoint {
  public:
    instant_memory(std::vector<std::byte>& bytes, int failing_call) : m_bytes(bytes), m_failing(failing_call) {}
    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::device}; }
    [[nodiscard]] std::string name() const override { return "memory"; }
    void read(std::size_t offset, std::span<std::byte> to, step& done) override {
        if (m_failing-- == 0) return done.finish({0, {status::out_of_resources, 0, 0, "reading fails"}});
        std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
        done.finish({to.size(), {}});
    }
    void write(std::size_t offset, std::span<const std::byte> from, step& done) override {
        if (m_failing-- == 0) return done.finish({0, {status::out_of_resources, 0, 0, "writing fails"}});
        std::copy(from.begin(), from.end(), m_bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        done.finish({from.size(), {}});
    }

  private:
    std::vector<std::byte>& m_bytes;
    int m_failing;
};

/// Every test of the protocol, with blocks as messages and in memory that both ranks have mapped.
class by_strategy : public ::testing::TestWithParam<const char*> {
  public:
    by_strategy() { name = GetParam(); }
    ~by_strategy() override { find_segment = comm::shared_segment::open; }
    inline static const char* name = "";
    inline static endpoints::windows::finder find_segment = comm::shared_segment::open;
    [[nodiscard]] static bool shares_windows() { return std::string(name) == "shared-window"; }
};
#define CAUSEWAY_BY_STRATEGY(suite)                                                                                    \
    INSTANTIATE_TEST_SUITE_P(, suite, ::testing::Values("pipelined", "shared-window"),                                 \
                             [](const auto& each) { return std::string(each.index == 0 ? "messages" : "window"); })

struct one_rank {
    one_rank(fake_network& network, int number, std::uint64_t node = 1)
        : talk(settings, network.port(number), by_strategy::find_segment, node) {
        settings.set("strategy", by_strategy::name);
        settings.set("block", "4");
        settings.set("depth", "2");
        settings.set("eager", "0");
        machine.add(talk);
    }
    void settle() {
        while (machine.step()) {}
    }
    fake_clock clock;
    options settings;
    engine machine{settings, clock, 1};
    endpoints::messenger talk;
    turnstile turns;
    std::vector<int> order;

    std::shared_ptr<command> send(std::vector<std::byte>& bytes, int to, int with_tag = tag, int failing = -1,
                                  std::vector<std::unique_ptr<gate>> gates = {}) {
        auto work = bench::make(std::make_unique<instant_memory>(bytes, failing),
                                endpoints::make_send_endpoint({talk, turns}, 0, to, with_tag), bytes.size(), nullptr,
                                std::move(gates));
        machine.submit(work);
        return work;
    }
    std::shared_ptr<command> receive(std::vector<std::byte>& bytes, int from, int with_tag = tag, int failing = -1,
                                     std::vector<std::unique_ptr<gate>> gates = {}) {
        auto work = bench::make(endpoints::make_receive_endpoint({talk, turns}, 0, from, with_tag, nullptr),
                                std::make_unique<instant_memory>(bytes, failing), bytes.size(), nullptr,
                                std::move(gates));
        machine.submit(work);
        return work;
    }
};

struct two_ranks {
    std::uint64_t node_of_b = 1; // a's is 1
    fake_network network{2};
    one_rank a{network, 0}, b{network, 1, node_of_b};

    void settle() {
        while (a.machine.step() | b.machine.step()) {}
    }
    /// Delivers everything in the order that `choices` says.
    void run(chooser& choices) {
        settle();
        while (network.deliverable() > 0) {
            network.deliver(choices.choose(network.deliverable()));
            settle();
        }
    }
    /// As above, and what has to be repeated is repeated.
    void run_on(chooser& choices) {
        run(choices);
        for (int i = 0; i < 10; ++i) {
            for (auto* const rank : {&a, &b}) rank->clock.advance(std::chrono::seconds(1));
            run(choices);
        }
    }
    /// Nothing is left over: no conversation, no block receive, no message that nobody takes.
    void expect_quiet(const std::string& when = "") {
        SCOPED_TRACE(when);
        EXPECT_FALSE(a.talk.busy());
        EXPECT_FALSE(b.talk.busy());
        for (int rank = 0; rank < 2; ++rank) {
            EXPECT_LE(network.open_receives(rank), 4u); // the listeners
            EXPECT_EQ(network.unexpected(rank), 0u);
        }
        EXPECT_EQ(a.machine.staging().held_bytes(), 0u);
        EXPECT_EQ(b.machine.staging().held_bytes(), 0u);
    }
};

inline int status_of(const std::shared_ptr<command>& work) { return work->report().status; }

} // namespace unit
