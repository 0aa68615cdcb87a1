// SPDX-License-Identifier: Apache-2.0
// What the commands and the end of MPI call in the platform of a cluster.
#pragma once

#include "base/cluster_calls.hpp"
#include "runtime/enqueue.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace causeway::capi {

using namespace core;

/// Ends the messages of the platform's ranks, if there are any, while the engine still takes transfers. Later calls do
/// nothing.
void end_messages();
/// Call once after end_messages(), when MPI is about to end on all ranks: waits for the other ranks, and ends the job
/// if their programs have diverged.
void receive_last_reports();

/// The platform's half of the table if this process is a rank of a cluster and the handle is of its platform, else
/// null.
[[nodiscard]] const cluster_calls* cluster_of(cl_command_queue queue);
[[nodiscard]] const cluster_calls* cluster_of(cl_event event);

/// Returns rank 0's value of `own` on every rank. Collective.
[[nodiscard]] std::int64_t first_ranks(std::int64_t own);

struct buffer_use {
    cl_mem buffer;
    host_access how;
};

/// Enqueues a command on the driver's queue and buffers.
using driver_command = std::function<cl_int(cl_command_queue, cl_mem const*, const event_arguments&)>;

/// Enqueues a command, whose arguments are checked, on a queue of a cluster. Every rank calls this. One of them calls
/// `issue`, perhaps later: the rank of the queue's device, or `on_rank` unless that is -1. The context must have a
/// device of `on_rank`.
[[nodiscard]] cl_int enqueue_in_cluster(const cluster_calls& platform, cl_command_type type, cl_command_queue queue,
                                        const std::vector<buffer_use>& uses, cl_bool blocking,
                                        const event_arguments& events, driver_command issue, int on_rank = -1);

} // namespace causeway::capi
