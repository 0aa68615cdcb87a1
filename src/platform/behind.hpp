// SPDX-License-Identifier: Apache-2.0
// Orders a command's visible end, on each rank of a cluster, after the reads and user events before it. A command ends
// on the one rank that runs it; on another rank the data of an earlier read may still be under way. There the program
// must not see the command over yet.
#pragma once

#include "platform/enqueue.hpp"

namespace causeway::platform {

/// Puts a command that is being enqueued, and later ones of its queue, behind the reads and user events before it;
/// returns those perhaps not over yet. Only in a cluster. Hold the context's `order` mutex.
[[nodiscard]] std::vector<ref<_cl_event>> go_behind(const new_command& command);
/// Puts later commands of the queue behind `read`, which ends only after all that go_behind() put before it.
void put_behind(_cl_command_queue& queue, const ref<_cl_event>& read);
/// Events that the queue's current commands are behind.
[[nodiscard]] std::vector<ref<_cl_event>> all_behind(_cl_command_queue& queue);

/// Call when the program releases the queue or its context: drops the queue's `behind` events once they are over, to
/// break the cycle (they hold the queue and its context).
void let_go_when_over(_cl_command_queue& queue);

/// True if ranks may ignore pending user events among `events`, because the command, or one in front of it, has already
/// failed for another reason. Call on the rank that runs the command, once it is over. Where nothing has failed, these
/// user events are set by then, and every rank orders what is behind them.
[[nodiscard]] bool passes_users(const _cl_command_queue& queue, const std::vector<ref<_cl_event>>& events);
[[nodiscard]] bool passes_users(const _cl_event& event);
[[nodiscard]] std::vector<ref<_cl_event>> without_users(std::vector<ref<_cl_event>> events);
/// Blocks until all are over on this rank; skips user events if `passes_users`.
void wait_for_all(const std::vector<ref<_cl_event>>& events, bool passes_users);

} // namespace causeway::platform
