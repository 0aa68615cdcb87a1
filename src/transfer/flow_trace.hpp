// SPDX-License-Identifier: Apache-2.0
// Tells a recorder what the blocks of one flow do.
#pragma once

#include "transfer/recorder.hpp"
#include "transfer/tuner/flow_timer.hpp"

#include <array>

namespace causeway::transfer {

/// Engine's thread. Does nothing, and asks no clock, until it has a recorder.
class flow_trace {
  public:
    void use(recorder* to, std::uint64_t transfer, unsigned flow);
    /// What the ends do by this plan.
    void planned(const endpoint_traits& source, const endpoint_traits& target, const plan& chosen);

    [[nodiscard]] recorder* to() const { return m_to; }
    [[nodiscard]] unsigned flow() const { return m_flow; }

    /// The recorder's time, when something begins; 0 without one.
    [[nodiscard]] time_point now() const { return m_to != nullptr ? m_to->now() : time_point{}; }
    /// The gates are open. Blocks read ahead count as begun now, because the device reads them behind the gates.
    void started() { m_started = now(); }

    void block_over(side where, time_point begun, std::size_t offset, std::size_t bytes, bool failed) const;
    /// An end has opened or closed: met the other rank, or mapped or unmapped `bytes`.
    void opened(side where, std::size_t bytes, bool failed) const;
    void begin_close() { m_closing = now(); }
    void closed(side where, std::size_t bytes) const;

  private:
    struct end {
        activity moves{};
        medium kind{};
        bool maps = false;
        std::string_view resource;
    };
    [[nodiscard]] const end& at(side where) const { return m_ends[static_cast<std::size_t>(where)]; }
    void tell(side where, activity what, time_point begun, std::size_t offset, std::size_t bytes, bool failed) const;

    recorder* m_to = nullptr;
    std::uint64_t m_transfer = 0;
    unsigned m_flow = 0;
    std::array<end, 2> m_ends;
    time_point m_started, m_closing;
};

} // namespace causeway::transfer
