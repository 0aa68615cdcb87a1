// SPDX-License-Identifier: Apache-2.0
// Looks back at a finished flow: teaches the tuner, explains the plan, records it.
#pragma once

#include "transfer/flow.hpp"
#include "transfer/recorder.hpp"
#include "transfer/tuner/tuner.hpp"

#include <chrono>
#include <string>

namespace causeway::transfer {

/// Engine's thread only. Must not outlive the flow.
class flow_review {
  public:
    explicit flow_review(const flow& finished) : m_flow(finished) {}

    /// Gives the times of its blocks to `pupil`, or to the flow's probe. `was_alone`: no other command was running.
    void teach(tuner& pupil, bool was_alone) const;
    /// Explains the plan: what was chosen and why, what `known` expected, how long it `took`. Empty if it had no plan.
    [[nodiscard]] std::string explanation(const tuner& known, std::chrono::nanoseconds took) const;
    /// If the flow is recorded: fills in the rest of `told`, which the command has begun, and records it.
    void tell(transfer_span& told, const tuner& known) const;

  private:
    void teach_link(tuner& pupil) const;
    [[nodiscard]] route way() const { return {m_flow.m_source_traits, m_flow.m_target_traits, m_flow.m_bytes}; }

    const flow& m_flow;
};

} // namespace causeway::transfer
