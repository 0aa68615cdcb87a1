// SPDX-License-Identifier: Apache-2.0
// What an engine polls.
#pragma once

#include "base/clock.hpp"

namespace causeway::transfer {

/// Finishes steps when polled: OpenCL copies, MPI requests. Engine's thread only.
class progress_source {
  public:
    virtual ~progress_source() = default;
    /// True if a step was finished. Never blocks. Engine's thread.
    virtual bool poll(time_point now) = 0;
    /// The engine's step is over: submit what it has begun, and release what has ended.
    virtual void settle(time_point now) { (void)now; }
    /// Whether there is anything to poll for.
    [[nodiscard]] virtual bool busy() const = 0;
    /// The engine is idle: free what is only kept for speed. True if something is left for a later call.
    virtual bool trim(time_point now) {
        (void)now;
        return false;
    }
};

} // namespace causeway::transfer
