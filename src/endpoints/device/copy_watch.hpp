// SPDX-License-Identifier: Apache-2.0
// Finishes steps when the engine's own OpenCL commands complete.
#pragma once

#include "cl/handles.hpp"
#include "endpoints/device/pinned_slab.hpp"
#include "endpoints/device/small_writes.hpp"
#include "transfer/engine.hpp"
#include "transfer/gate.hpp"
#include "transfer/step.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace causeway::endpoints {

/// How error texts name a command on `bytes` at `offset` of a buffer.
[[nodiscard]] std::string buffer_text(const char* what, std::size_t offset, std::size_t bytes);

/// What a small copy keeps until it is complete.
struct small_copy {
    std::optional<small_writes::timing> timing;
    pinned_slab::piece memory; ///< the copy's source; empty if that is other memory
};

/// Engine's thread only.
class copy_watch final : public transfer::progress_source {
  public:
    /// From now on a long copy wakes `engine` when it completes: it may wait for a kernel in the program's queue.
    void wake(std::shared_ptr<transfer::waker> engine) { m_engine = std::move(engine); }

    /// `done` finishes with `bytes` when `running`, the last command of `queue` so far, completes. Its error names
    /// `what` (a verb), `bytes` and `offset` of the buffer. The queue is flushed once, at the end of the engine's step;
    /// later if `starts_unflushed`: the driver starts the command without a flush (cl::device_facts).
    void add(const cl::queue& queue, cl::event running, std::size_t offset, std::size_t bytes, const char* what,
             transfer::step& done, small_copy small = {}, bool starts_unflushed = false);

    /// As add(), and flushes the queue now.
    void add_at_once(const cl::queue& queue, cl::event running, std::size_t offset, std::size_t bytes, const char* what,
                     transfer::step& done);

    /// The time of the last poll but one. A copy that the last poll found complete ended after this time.
    [[nodiscard]] time_point looked_before() const { return m_looked_before; }

    bool poll(time_point now) override;
    void settle(time_point now) override;
    [[nodiscard]] bool busy() const override { return !m_lines.empty(); }

  private:
    struct copy {
        cl::event running;
        std::size_t offset, bytes;
        const char* what;
        transfer::step* done;
        small_copy small;
        std::optional<time_point> seen; // time of the first poll that found it running
        bool is_armed = false;
    };
    /// The copies in one queue. Queues are in-order: only the line's first copy can be the next to complete.
    struct line {
        line(cl_command_queue of, bool starts) : queue(of), starts_unflushed(starts) {}
        line(line&&) = default; // never copied: a pinned_slab::piece cannot be
        line& operator=(line&&) = default;
        cl_command_queue queue;
        bool starts_unflushed;
        std::deque<copy> copies;
        bool is_flushed = true, is_large = false;
        std::optional<time_point> unflushed_since;
        void flushed() {
            is_flushed = true;
            is_large = false;
            unflushed_since.reset();
        }
    };
    std::shared_ptr<transfer::waker> m_engine;
    std::vector<line> m_lines;
    std::vector<std::pair<copy, cl_int>> m_ended; // in this step, with their statuses
    time_point m_looked, m_looked_before;
};

} // namespace causeway::endpoints
