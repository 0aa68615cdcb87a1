// SPDX-License-Identifier: Apache-2.0
// Predicts, by the tuner's figures, how long plans of one route take.
#pragma once

#include "transfer/plan.hpp"
#include "transfer/tuner/tuner.hpp"

#include <optional>

namespace causeway::transfer {

/// Looks up the stages of a route once, for any number of plans. `way` must outlive it.
class estimate {
  public:
    estimate(const tuner& known, const route& way);

    /// Seconds for `bytes` by `chosen`; nothing if a stage is unknown.
    [[nodiscard]] std::optional<double> seconds(const plan& chosen, std::size_t bytes) const;
    /// Seconds of the slowest stage on the route of `chosen`, alone and at full speed. Empty if a stage is unknown.
    [[nodiscard]] std::optional<double> limit(const plan& chosen, std::size_t bytes) const;

  private:
    using figure = std::optional<stage_model>;
    const route& m_way;
    figure m_copy_in, m_copy_out, m_map_in, m_map_out, m_read, m_write, m_send, m_receive, m_window, m_link, m_link_in;
};

} // namespace causeway::transfer
