// SPDX-License-Identifier: Apache-2.0
// Something outside the engine that a command waits for: an event of an OpenCL implementation.
#pragma once

#include "transfer/recorder.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace causeway::transfer {

/// Wakes an engine from any thread. May outlive the engine: then it does nothing.
class waker {
  public:
    virtual ~waker() = default;
    /// Makes the engine look again at the gates of the command with this number.
    virtual void wake(std::uint64_t command) noexcept = 0;
};

class gate {
  public:
    enum class state { closed, open, failed };
    virtual ~gate() = default;
    /// Engine's thread. Never blocks.
    [[nodiscard]] virtual state look() = 0;
    /// Asks for a wake-up when the gate opens. A gate that fails may not wake. Called at most once.
    virtual void arm(const std::shared_ptr<waker>& engine, std::uint64_t command) = 0;
    /// False if waited_for() is always empty.
    [[nodiscard]] virtual bool knows_what() const { return true; }
    /// For the timeline, once the gate was `seen` open: the command that it waited for. Empty if unknown. May call the
    /// driver many times.
    [[nodiscard]] virtual std::optional<command_span> waited_for(time_point seen) {
        (void)seen;
        return {};
    }
};

} // namespace causeway::transfer
