// SPDX-License-Identifier: Apache-2.0
// Copies between the devices of this process.
#pragma once

#include <CL/cl.h>

#include <cstddef>

namespace causeway::core {

struct checked_queue;
struct new_command;

/// A copy between two buffers of this process, whose arguments are checked. Takes part in the order of both queues.
[[nodiscard]] new_command make_peer_copy(const checked_queue& from, cl_mem source, std::size_t source_offset,
                                         const checked_queue& to, cl_mem target, std::size_t target_offset,
                                         std::size_t bytes);

/// Whether copy_beside_queues() takes more copies. False once the process is ending, or without the engine's thread.
[[nodiscard]] bool takes_copies() noexcept;

/// Copies the first `bytes` of one buffer to another, whose contexts may differ. It comes after the events of the list,
/// which are of the target's context, but not after what is in the queues: these only name the devices. The event is
/// the target's context's. Returns OpenCL's codes; any thread.
[[nodiscard]] cl_int copy_beside_queues(cl_command_queue from, cl_mem source, cl_command_queue to, cl_mem target,
                                        std::size_t bytes, cl_uint count, const cl_event* list, cl_event* event);

} // namespace causeway::core
