// SPDX-License-Identifier: Apache-2.0
// What comes before a command in OpenCL's order and ends on each rank of a cluster by itself: reads, whose bytes come
// to all ranks one by one, and user events. A command is over when its driver says so, on the one rank that runs it;
// what it comes behind may not be over on the others then, where the program must not see it over either.
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

/// The program lets go of the queue, or of the context whose own it is: once what it names is over, it lets go of that,
/// which holds it and its context.
void let_go_when_over(_cl_command_queue& queue);

/// Whether no rank waits for user events among `events` on behalf of a command of the queue, which is over here, where
/// it runs: one of them is not set, and the command, or one in front of it, has failed for another reason. If none has
/// failed, the user event is set on the rank of something that the command has waited for: what is behind it comes
/// after it on each rank.
[[nodiscard]] bool passes_users(const _cl_command_queue& queue, const std::vector<ref<_cl_event>>& events);
[[nodiscard]] bool passes_users(const _cl_event& event);
[[nodiscard]] std::vector<ref<_cl_event>> without_users(std::vector<ref<_cl_event>> events);
/// Waits until all are over on this rank, but for user events where these are passed.
void wait_for_all(const std::vector<ref<_cl_event>>& events, bool passes_users);

} // namespace causeway::platform
