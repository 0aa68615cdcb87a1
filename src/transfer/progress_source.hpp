// SPDX-License-Identifier: Apache-2.0
// What an engine polls.
#pragma once

#include "base/clock.hpp"

namespace causeway::transfer {

/// Something that finishes steps when polled: copies of an OpenCL implementation, MPI requests.
class progress_source {
  public:
    virtual ~progress_source() = default;
    /// True if a step was finished. Never blocks. Engine's thread.
    virtual bool poll(time_point now) = 0;
    /// The step is over: hand in what it has begun, and let go of what has ended, which nobody had to wait for.
    virtual void settle(time_point now) { (void)now; }
    /// Whether there is anything to poll for.
    [[nodiscard]] virtual bool busy() const = 0;
    /// The engine has nothing left to do for a while: let go of what is only kept for speed. True if something is left
    /// for a later call.
    virtual bool trim(time_point now) {
        (void)now;
        return false;
    }
};

} // namespace causeway::transfer
