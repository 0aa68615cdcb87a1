// SPDX-License-Identifier: Apache-2.0
// Threads that do blocking system calls for an engine.
#pragma once

#include "transfer/mailbox.hpp"
#include "transfer/progress_source.hpp"
#include "transfer/step.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace causeway::transfer {

/// Whose a job is: transfers take turns, and one device (stat(2)) that is slow does not keep all workers.
struct job_origin {
    const void* transfer = nullptr; ///< nothing is looked for there
    std::uint64_t device = 0;
    std::size_t at_once = std::numeric_limits<std::size_t>::max(); ///< of its jobs; the others wait their turn with the
                                                                   ///< workers
    bool operator==(const job_origin&) const = default;
};

/// Runs blocking work away from the engine's thread; the step finishes on the engine's thread.
class worker_pool {
  public:
    using work = std::function<outcome()>;
    virtual ~worker_pool() = default;
    /// File access: ends by itself, shares a fixed number of workers.
    virtual void run(const job_origin& from, work job, step& done) = 0;
    /// The same job where whoever drives the engine would only wait for it: that takes its share. `here` does it
    /// without waiting for a disk or for anybody, or gives nothing, and a worker does `job`.
    using attempt = std::function<std::optional<outcome>()>;
    virtual void run_shared(const job_origin& from, work job, attempt here, step& done) {
        (void)here;
        run(from, std::move(job), done);
    }
    /// A job comes soon: a thread that sleeps may wake meanwhile.
    virtual void expect_job() {}
    /// The engine's share, for the engine to poll; null if there is none.
    [[nodiscard]] virtual progress_source* share_of_engine() { return nullptr; }
    /// May wait for somebody else for any time (a pipe), or longer than others can wait for it: gets a worker of its
    /// own, one that is idle or a new one.
    virtual void run_waiting(work job, step& done) = 0;
};

/// Starts `io_threads` threads when first needed, and two more for jobs on another device if all of them are at work on
/// one; one that has worked looks for more for `patience` before it sleeps. The destructor waits for jobs that have
/// begun, except for waiting ones.
[[nodiscard]] std::unique_ptr<worker_pool> make_worker_threads(std::shared_ptr<mailbox> inbox, unsigned io_threads,
                                                               std::chrono::nanoseconds patience = {});

} // namespace causeway::transfer
