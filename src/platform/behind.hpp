// SPDX-License-Identifier: Apache-2.0
// Reads and user events in front of a command, which end on each rank of a cluster by themselves. A command is over
// when its driver says so, on the one rank that runs it. On another rank the reads in front of it may still be under
// way; there the program must not see it over yet.
#pragma once

#include "platform/enqueue.hpp"

namespace causeway::platform {

/// Puts the command, which is enqueued now, behind what is before it, and later ones of its queue behind that as well.
/// Returns what may not be over yet. In a cluster, with the context's order held.
[[nodiscard]] std::vector<ref<_cl_event>> go_behind(const new_command& command);
/// Puts later commands of the queue behind `read`, which is over only after all that go_behind() has put before it.
void put_behind(_cl_command_queue& queue, const ref<_cl_event>& read);
/// What the commands that the queue has now come behind.
[[nodiscard]] std::vector<ref<_cl_event>> all_behind(_cl_command_queue& queue);

/// Call when the program releases the queue or its context. Once the events that the queue names are over, it drops
/// them, because they hold the queue and its context.
void let_go_when_over(_cl_command_queue& queue);

/// True if ranks may ignore pending user events among `events`, because the command, or one in front of it, has already
/// failed for another reason. The command is over here, on the rank that runs it. If nothing has failed, those user
/// events are set, and what is behind them comes after them on each rank.
[[nodiscard]] bool passes_users(const _cl_command_queue& queue, const std::vector<ref<_cl_event>>& events);
[[nodiscard]] bool passes_users(const _cl_event& event);
[[nodiscard]] std::vector<ref<_cl_event>> without_users(std::vector<ref<_cl_event>> events);
/// Waits until all are over on this rank, but for user events where these are passed.
void wait_for_all(const std::vector<ref<_cl_event>>& events, bool passes_users);

} // namespace causeway::platform
