// SPDX-License-Identifier: Apache-2.0
// Runs a scenario once for every call that it makes, with that call failing, and checks what must hold then.
#pragma once

#include "faults/fault_points.hpp"
#include "support/handles.hpp"

#include <CL/cl_data_transfer.h>

#include <cstddef>
#include <string>
#include <vector>

namespace faults {

/// A command as it was enqueued: refused, or with an event.
struct started {
    cl_int refused = CL_SUCCESS;
    support::event_handle event;
    std::string message; ///< of the refusal
    bool waits_for_message = false;
};

/// How a command ended.
struct ending {
    cl_int refused = CL_SUCCESS;
    cl_int status = CL_COMPLETE;
    std::size_t moved = 0;
    int error_number = 0;
    int mpi_error = MPI_SUCCESS;
    std::string message;
    bool withdrawn = false; ///< the test cancelled it, because a command that it may need has failed

    [[nodiscard]] bool succeeded() const { return refused == CL_SUCCESS && status == CL_COMPLETE; }
    [[nodiscard]] bool cancelled() const { return withdrawn && status == CL_TRANSFER_CANCELLED; }
    [[nodiscard]] cl_int code() const { return refused != CL_SUCCESS ? refused : status; }
};
void PrintTo(const ending& shown, std::ostream* out);

/// Transfers that belong together, on objects that live as long as the scenario.
class scenario {
  public:
    virtual ~scenario() = default;
    /// Brings buffers and files into the state in which a run finds them.
    virtual void reset() = 0;
    /// Enqueues, without blocking. Every run enqueues the same commands.
    [[nodiscard]] virtual std::vector<started> start() = 0;
    /// Expects that bytes reported as moved are there, and that nothing else has changed. `failed` is the function that
    /// failed, or null.
    virtual void check(const std::vector<ending>& endings, const fault_point* failed) = 0;
    /// Uses each buffer in a queue of the test's own: a buffer of PoCL 3.1 holds its last command and that one's queue.
    virtual void touch() = 0;
    [[nodiscard]] virtual std::vector<cl_context> contexts() const = 0;
    [[nodiscard]] virtual std::vector<cl_command_queue> queues() const = 0;
    /// Whether one command's failure may reach the others as CL_TRANSFER_PEER_FAILED.
    [[nodiscard]] virtual bool has_messages() const { return false; }
    /// How many calls of a function fail one after the other, from each call on.
    [[nodiscard]] virtual std::vector<unsigned> runs_of_failures(const fault_point&) const { return {1}; }
};

/// The processes that run a scenario together. One of them, the leader, meets the faults.
class team {
  public:
    virtual ~team() = default;
    [[nodiscard]] virtual bool leads() const { return true; }
    /// True if it is `mine` for one of the team. All of them call it.
    [[nodiscard]] virtual bool any(bool mine) { return mine; }
};

/// Fails every call of every function that `run` makes, one at a time, and expects: each command is refused, or ends in
/// bounded time with the right code; and what was moved is there. After all failures of a function a run without a
/// fault succeeds on the same objects; after those of all functions nothing has leaked.
void fail_every_call(scenario& run, team& together);
void fail_every_call(scenario& run);

/// What goes on, for a report of a hang.
[[nodiscard]] std::string current_step();
void enter_step(std::string text);

} // namespace faults
