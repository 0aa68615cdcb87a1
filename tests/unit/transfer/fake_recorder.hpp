// SPDX-License-Identifier: Apache-2.0
// Keeps what it is told.
#pragma once

#include "transfer/recorder.hpp"

#include <utility>
#include <vector>

namespace unit {

class fake_recorder final : public causeway::transfer::recorder {
  public:
    explicit fake_recorder(const causeway::monotonic_clock& clock) : m_clock(clock) {}
    [[nodiscard]] causeway::time_point now() const override { return m_clock.now(); }
    void block_over(const causeway::transfer::block_span& what) override { blocks.push_back(what); }
    void transfer_over(const causeway::transfer::transfer_span& what) override { transfers.push_back(what); }
    void command_over(const causeway::transfer::command_span&) override {}
    void waited_for(std::uint64_t transfer, const causeway::transfer::command_span& what) override {
        commands.emplace_back(transfer, what.number);
    }
    void waited_for(std::uint64_t transfer, std::uint64_t other) override { waits.emplace_back(transfer, other); }
    void command_waits(std::uint64_t, std::uint64_t) override {}
    void firing_over(const causeway::transfer::firing_span&) override {}
    void clock_seen(const causeway::transfer::clock_sample&) override {}
    void peer_seen(const causeway::transfer::peer_clock& what) override { peers.push_back(what); }
    void level_is(causeway::transfer::level, std::uint64_t) override {}

    std::vector<causeway::transfer::block_span> blocks;
    std::vector<causeway::transfer::transfer_span> transfers;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> commands, waits;
    std::vector<causeway::transfer::peer_clock> peers;

  private:
    const causeway::monotonic_clock& m_clock;
};

} // namespace unit
