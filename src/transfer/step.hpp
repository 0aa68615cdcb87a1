// SPDX-License-Identifier: Apache-2.0
// One asynchronous step that an endpoint carries out, and how its end reaches the engine.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <utility>

namespace causeway::transfer {

/// How a step ended. `bytes` are moved even if there is an error: the part before it.
struct outcome {
    std::size_t bytes = 0;
    failure error;
    bool keeps_memory = false; ///< others may use the block's memory for ever: it must never be used again
};

/// Begins steps, and is told on the engine's thread when one of them has finished.
class step_owner {
  public:
    virtual void step_finished() = 0;

  protected:
    ~step_owner() = default;
};

/// The owner calls begin() and hands the step to an endpoint. The endpoint calls finish() once, on the engine's thread,
/// perhaps before it returns. The step must live until then.
class step {
  public:
    explicit step(step_owner& owner) : m_owner(owner) {}
    step(const step&) = delete;
    step& operator=(const step&) = delete;

    void begin() { m_state = state::pending; }
    void finish(outcome result) {
        m_outcome = std::move(result);
        m_state = state::finished;
        m_owner.step_finished();
    }

    [[nodiscard]] bool pending() const { return m_state == state::pending; }
    [[nodiscard]] bool finished() const { return m_state == state::finished; }

    /// The outcome of a finished step; the step is idle again.
    [[nodiscard]] outcome take() {
        m_state = state::idle;
        return std::move(m_outcome);
    }

  private:
    enum class state { idle, pending, finished };
    step_owner& m_owner;
    state m_state = state::idle;
    outcome m_outcome;
};

} // namespace causeway::transfer
