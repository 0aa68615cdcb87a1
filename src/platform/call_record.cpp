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
    const auto* const found = std::find_if(functions.begin(), functions.end(),
                                           [&](const auto& one) { return one.first == type; });
    return found == functions.end() ? "command type " + std::to_string(type) : std::string(found->second);
}

namespace {

constexpr std::array names = {"nothing",
#define CAUSEWAY_ENTRY(name) #name,
#define CAUSEWAY_REFUSED(name, code)
#include "platform/entry_points.def"
#undef CAUSEWAY_ENTRY
#undef CAUSEWAY_REFUSED
#define CAUSEWAY_EXTENSION(name, function) #name,
#include "platform/extension_points.def"
#undef CAUSEWAY_EXTENSION
                              "a transfer of CL/cl_data_transfer.h"};
static_assert(names.size() == static_cast<std::size_t>(api_call::transfer) + 1);

/// #7, or #7.2 for the third of those that call 7 made.
std::string name_of_object(std::uint64_t made_by) {
    const auto call = made_by & ((std::uint64_t{1} << call_record::several_shift) - 1);
    const auto which = made_by >> call_record::several_shift;
    std::string name = "#";
    name += std::to_string(call);
    if (which != 0) (name += '.') += std::to_string(which);
    return name;
}

std::string name_of(int rank) { return "rank " + std::to_string(rank); }

} // namespace

std::string name_of(api_call function) { return names[static_cast<std::size_t>(function)]; }

std::string call_record::text() const {
    // Threads that ask in another order on each rank compare what is no record at all.
    if (static_cast<std::size_t>(m_function) >= names.size() || m_count > m_values.size())
        return "something else, perhaps of another thread";
    auto shown = name_of(m_function);
    shown += '(';
    for (std::uint32_t i = 0; i < m_count; ++i) {
        const auto value = m_values[i];
        if (i != 0) shown += ", ";
        switch (static_cast<call_argument::sort>(m_sorts >> (2 * i) & 3)) {
        case call_argument::sort::object: shown += value == 0 ? "null" : name_of_object(value); break;
        case call_argument::sort::pointer: shown += value == 0 ? "null" : "pointer"; break;
        default: shown += std::to_string(static_cast<std::int64_t>(value)); // statuses are negative
        }
    }
    return shown + ')';
}

bool call_record::looks_like(const call_record& other) const {
    // Behind them are those of earlier calls.
    return m_function == other.m_function && m_count == other.m_count && m_sorts == other.m_sorts &&
           std::equal(m_values.begin(), m_values.begin() + m_count, other.m_values.begin());
}

std::string call_record::difference(int mine, const call_record& other, int theirs) const {
    std::string shown;
    // Threads of one rank that ask at a time compare what is no record at all.
    constexpr auto most = std::uint64_t{1} << several_shift;
    if (m_number >= most || other.m_number >= most)
        shown = "threads of one rank ask the others at a time";
    else if (m_number != other.m_number)
        shown = name_of(mine) + " has made " + std::to_string(m_number) + " calls, the last " + text() + "; " +
                name_of(theirs) + " has made " + std::to_string(other.m_number) + ", the last " + other.text();
    else if (*this == other)
        shown = "after call " + std::to_string(m_number) + ", " + text() + ", " + name_of(mine) + " and " +
                name_of(theirs) + " have asked for different things";
    else if (looks_like(other))
        shown = "in call " + std::to_string(m_number) + ", " + text() + ", or before, " + name_of(mine) + " and " +
                name_of(theirs) + " have given different arguments";
    else
        shown = "call " + std::to_string(m_number) + " is " + text() + " on " + name_of(mine) + ", and " +
                other.text() + " on " + name_of(theirs);
    return shown + " (#n is what call n made)";
}

} // namespace causeway::platform
