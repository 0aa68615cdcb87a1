// SPDX-License-Identifier: Apache-2.0
// Names functions and what differs between two calls.
#include "platform/call_record.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace causeway::platform {

std::string function_of(cl_command_type type) {
    constexpr std::array<std::pair<cl_command_type, std::string_view>, 24> functions = {
        {{CL_COMMAND_NDRANGE_KERNEL, "clEnqueueNDRangeKernel"},
         {CL_COMMAND_TASK, "clEnqueueTask"},
         {CL_COMMAND_NATIVE_KERNEL, "clEnqueueNativeKernel"},
         {CL_COMMAND_READ_BUFFER, "clEnqueueReadBuffer"},
         {CL_COMMAND_WRITE_BUFFER, "clEnqueueWriteBuffer"},
         {CL_COMMAND_COPY_BUFFER, "clEnqueueCopyBuffer"},
         {CL_COMMAND_READ_IMAGE, "clEnqueueReadImage"},
         {CL_COMMAND_WRITE_IMAGE, "clEnqueueWriteImage"},
         {CL_COMMAND_COPY_IMAGE, "clEnqueueCopyImage"},
         {CL_COMMAND_COPY_IMAGE_TO_BUFFER, "clEnqueueCopyImageToBuffer"},
         {CL_COMMAND_COPY_BUFFER_TO_IMAGE, "clEnqueueCopyBufferToImage"},
         {CL_COMMAND_MAP_BUFFER, "clEnqueueMapBuffer"},
         {CL_COMMAND_MAP_IMAGE, "clEnqueueMapImage"},
         {CL_COMMAND_UNMAP_MEM_OBJECT, "clEnqueueUnmapMemObject"},
         {CL_COMMAND_MARKER, "clEnqueueMarkerWithWaitList"},
         {CL_COMMAND_BARRIER, "clEnqueueBarrierWithWaitList"},
         {CL_COMMAND_READ_BUFFER_RECT, "clEnqueueReadBufferRect"},
         {CL_COMMAND_WRITE_BUFFER_RECT, "clEnqueueWriteBufferRect"},
         {CL_COMMAND_COPY_BUFFER_RECT, "clEnqueueCopyBufferRect"},
         {CL_COMMAND_MIGRATE_MEM_OBJECTS, "clEnqueueMigrateMemObjects"},
         {CL_COMMAND_FILL_BUFFER, "clEnqueueFillBuffer"},
         {CL_COMMAND_FILL_IMAGE, "clEnqueueFillImage"},
         {CL_COMMAND_USER, "clCreateUserEvent"},
         {0, "nothing"}}};
    const auto* const found =
        std::find_if(functions.begin(), functions.end(), [&](const auto& one) { return one.first == type; });
    return found == functions.end() ? "command type " + std::to_string(type) : std::string(found->second);
}

std::string difference(const call_record& first, int mine, const call_record& second, int theirs) {
    const auto name = [](int rank) { return "rank " + std::to_string(rank); };
    const auto last = [](const call_record& of) {
        return function_of(of.type) + " for a device of rank " + std::to_string(of.device) + " with " +
               std::to_string(of.waits) + " events to wait for and memory objects of " + std::to_string(of.bytes) +
               " bytes";
    };
    if (first.number != second.number)
        return name(mine) + " has enqueued " + std::to_string(first.number) + " commands, the last by " + last(first) +
               "; " + name(theirs) + " has enqueued " + std::to_string(second.number) + ", the last by " +
               last(second);
    const auto call = "call " + std::to_string(first.number);
    if (first.type == second.type && first.device == second.device && first.waits == second.waits &&
        first.bytes == second.bytes)
        return "before " + call + ", " + last(first) + ", " + name(mine) + " and " + name(theirs) +
               " have made different ones";
    return call + " is " + last(first) + " on " + name(mine) + ", and " + last(second) + " on " + name(theirs);
}

} // namespace causeway::platform
