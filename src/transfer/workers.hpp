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

/// Where a job comes from: transfers take turns, and one slow device cannot occupy all threads.
struct job_origin {
    const void* transfer = nullptr; ///< a name only; never dereferenced
    std::uint64_t device = 0;       ///< st_dev of stat(2)
    std::size_t at_once = std::numeric_limits<std::size_t>::max(); ///< the most of its jobs to run; the others queue
    bool operator==(const job_origin&) const = default;
};

/// Runs blocking work away from the engine's thread; the step finishes on the engine's thread.
class worker_pool {
  public:
    using work = std::function<outcome()>;
    virtual ~worker_pool() = default;
    /// File access: ends by itself, shares a fixed number of workers.
    virtual void run(const job_origin& from, work job, step& done) = 0;
    /// As run(), but the thread that drives the engine, which would only wait, may do the job itself by `here`. `here`
    /// never waits for a disk; if it returns nothing, an I/O thread does `job`.
    using attempt = std::function<std::optional<outcome>()>;
    // NOLINTNEXTLINE(performance-unnecessary-value-param): pools that share the work keep it
    virtual void run_shared(const job_origin& from, work job, attempt here, step& done) {
        (void)here;
        run(from, std::move(job), done);
    }
    /// A job comes soon: wakes a sleeping thread for it.
    virtual void expect_job() {}
    /// Does the jobs that the engine's thread takes itself, when polled; null if it takes none.
    [[nodiscard]] virtual progress_source* share_of_engine() { return nullptr; }
    /// For jobs that may wait for ever (a pipe), or longer than other jobs can wait. Runs on a thread of its own, idle
    /// or new.
    virtual void run_waiting(work job, step& done) = 0;
};

/// Starts `io_threads` threads when first needed, and two more for other devices if one device has all of them. A
/// thread that has worked looks for more for `patience` before it sleeps. The destructor waits for jobs that have
/// begun, but not for those of run_waiting().
[[nodiscard]] std::unique_ptr<worker_pool>
make_worker_threads(const std::shared_ptr<mailbox>& inbox, unsigned io_threads, std::chrono::nanoseconds patience = {});

} // namespace causeway::transfer
