// SPDX-License-Identifier: Apache-2.0
// Looks back at a flow that is finished: what it teaches, and what is said of it.
#pragma once

#include "transfer/flow.hpp"
#include "transfer/recorder.hpp"
#include "transfer/tuner/tuner.hpp"

#include <chrono>
#include <string>

namespace causeway::transfer {

/// Engine's thread; not longer than the flow.
class flow_review {
  public:
    explicit flow_review(const flow& finished) : m_flow(finished) {}

    /// Tells `pupil`, or the flow's probe, what its blocks took. `was_alone`: no other was under way.
    void teach(tuner& pupil, bool was_alone) const;
    /// What was chosen, why, what `known` expected of it, and that it `took` so long; empty if it never had a plan.
    [[nodiscard]] std::string explanation(const tuner& known, std::chrono::nanoseconds took) const;
    /// If it is recorded: adds to `told`, which has what the command knows, and tells all of it.
    void tell(transfer_span& told, const tuner& known) const;

  private:
    void teach_link(tuner& pupil) const;
    [[nodiscard]] bool shared_memory() const;
    [[nodiscard]] route way() const { return {m_flow.m_source_traits, m_flow.m_target_traits, m_flow.m_bytes}; }

    const flow& m_flow;
};

} // namespace causeway::transfer
