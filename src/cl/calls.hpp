// SPDX-License-Identifier: Apache-2.0
// Queries and checks of OpenCL calls.
#pragma once

#include "base/driver_quirks.hpp"
#include "cl/handles.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace causeway::cl {

/// "CL_OUT_OF_RESOURCES (-5)".
[[nodiscard]] std::string code_text(cl_int code);

/// Throws transfer_error(code, "<what>: <code_text>") unless `code` is CL_SUCCESS.
void check(cl_int code, std::string_view what);

struct queue_facts {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    bool in_order = true;
};

struct buffer_facts {
    cl_context context = nullptr;
    cl_mem_object_type type = 0;
    size_t bytes = 0;
    cl_mem_flags flags = 0;
};

/// The buffer that a sub-buffer is part of, or the buffer itself, and where in it the buffer begins.
struct root_location {
    cl_mem root = nullptr;
    size_t offset = 0;
};

/// Throw transfer_error with invalid_command_queue, invalid_mem_object or invalid_event.
[[nodiscard]] queue_facts facts_of(cl_command_queue queue);
[[nodiscard]] buffer_facts facts_of(cl_mem buffer);
[[nodiscard]] root_location root_of(cl_mem buffer);
[[nodiscard]] cl_context context_of(cl_event event);
/// Throws transfer_error(invalid_context) if `context` is not valid.
[[nodiscard]] bool has_device(cl_context context, cl_device_id device);
/// An in-order queue for the library's own commands. Throws transfer_error.
[[nodiscard]] queue make_queue(cl_context context, cl_device_id device);
/// Enqueues a barrier into the in-order `queue`. (NVIDIA's marker also waits for kernels of other queues, and for the
/// turn of other processes.)
[[nodiscard]] cl_int mark(cl_command_queue queue, cl_event* mark);

/// The event's status, CL_QUEUED ... CL_COMPLETE, or a negative code, also if the query fails.
[[nodiscard]] cl_int status_of(cl_event event);
/// Whether the event is that of a command in a queue, not a user event.
[[nodiscard]] bool is_command(cl_event event);
[[nodiscard]] cl_uint references_of(cl_event event);

/// What a device and its driver report, and the quirks of the driver.
struct device_facts : driver_quirks {
    bool host_memory = false; ///< its memory is the host's, so that mapping it copies nothing
    /// An empty native kernel replaces a marker, which waits for more than its wait list (has_slow_markers).
    bool has_native_kernels_for_markers = false;
    /// PoCL's single-threaded device runs commands inside the enqueue and cannot wait for user events: calls hang.
    bool waits_for_user_events = true;
    /// Memory of other interfaces can be imported as a buffer, see cl/external_memory.hpp.
    bool imports_memory = false;
    cl_platform_id platform = nullptr;
    /// CL_DEVICE_UUID_KHR; zeros where the platform does not say.
    std::array<std::uint8_t, 16> uuid{};
    /// Platform, device and driver; the same text in every process. Lives as long as the process.
    std::string_view identity;
};

/// Asked once for each device. Any thread.
[[nodiscard]] device_facts facts_of(cl_device_id device);

} // namespace causeway::cl
