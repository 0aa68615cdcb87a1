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

/// Whose job it is: transfers take turns, and one slow device (stat(2)) cannot keep all threads.
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
    /// The same, where whoever drives the engine would only wait: it takes a share itself. `here` does the job without
    /// waiting for a disk, or returns nothing; then an I/O thread does `job`.
    using attempt = std::function<std::optional<outcome>()>;
    // NOLINTNEXTLINE(performance-unnecessary-value-param): pools that share the work keep it
    virtual void run_shared(const job_origin& from, work job, attempt here, step& done) {
        (void)here;
        run(from, std::move(job), done);
    }
    /// A job comes soon: wakes a sleeping thread ahead of it.
    virtual void expect_job() {}
    /// The engine's share, for the engine to poll; null if there is none.
    [[nodiscard]] virtual progress_source* share_of_engine() { return nullptr; }
    /// For jobs that may wait for ever (a pipe), or longer than others can wait. Gets a thread of its own, idle or new.
    virtual void run_waiting(work job, step& done) = 0;
};

/// Starts `io_threads` threads when first needed, and two more for other devices if one device has all of them. A
/// thread that has worked looks for more for `patience` before it sleeps. The destructor waits for jobs that have
/// begun, but not for those of run_waiting().
[[nodiscard]] std::unique_ptr<worker_pool>
make_worker_threads(const std::shared_ptr<mailbox>& inbox, unsigned io_threads, std::chrono::nanoseconds patience = {});

} // namespace causeway::transfer
