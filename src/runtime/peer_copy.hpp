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

/// An offset in a buffer. The queue names the buffer's context and device.
struct buffer_end {
    cl_command_queue queue;
    cl_mem buffer;
    std::size_t offset = 0;
};

/// Copies between two buffers, whose contexts may differ. The copy waits for the events of the list, which may be of
/// either context, but not for commands in the queues: these only name the devices. `event` gets an event of the
/// target's context. `source_event`, unless it is null, gets one of the source's context, which completes when the copy
/// is over, failed or not. Returns OpenCL's codes; any thread.
[[nodiscard]] cl_int copy_beside_queues(const buffer_end& from, const buffer_end& to, std::size_t bytes, cl_uint count,
                                        const cl_event* list, cl_event* event, cl_event* source_event = nullptr);

} // namespace causeway::core

/// copy_beside_queues() of libcauseway, for the run time of directives. CL_INVALID_OPERATION where the queues are of a
/// cluster's platform: its ranks see commands in queues only.
extern "C" cl_int causeway_copy_beside_queues(const causeway::core::buffer_end* from,
                                              const causeway::core::buffer_end* to, std::size_t bytes, cl_uint count,
                                              const cl_event* list, cl_event* event, cl_event* source_event);
