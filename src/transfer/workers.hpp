// SPDX-License-Identifier: Apache-2.0
// Threads that do blocking system calls for an engine.
#pragma once

#include "transfer/mailbox.hpp"
#include "transfer/step.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace causeway::transfer {

/// Runs blocking work away from the engine's thread; the step finishes on the engine's thread.
class worker_pool {
  public:
    using work = std::function<outcome()>;
    virtual ~worker_pool() = default;
    /// File access: ends by itself, shares a fixed number of workers.
    virtual void run(work job, step& done) = 0;
    /// May wait for somebody else for any time (a pipe): gets a worker of its own, one that is idle or a new one.
    virtual void run_waiting(work job, step& done) = 0;
};

/// Starts `lanes` threads when first needed; one that has worked looks for more for `patience` before it sleeps. The
/// destructor waits for jobs that have begun, except for waiting ones.
[[nodiscard]] std::unique_ptr<worker_pool> make_worker_threads(std::shared_ptr<mailbox> inbox, unsigned lanes,
                                                               std::chrono::nanoseconds patience = {});

} // namespace causeway::transfer
