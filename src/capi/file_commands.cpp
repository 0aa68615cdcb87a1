// SPDX-License-Identifier: Apache-2.0
// Transfers between device memory and files.
#include "capi/enqueue.hpp"
#include "capi/guard.hpp"
#include "capi/runtime.hpp"

#include <CL/cl_data_transfer.h>

using namespace causeway;
using namespace causeway::capi;

namespace {

using endpoints::access;

/// `make_file` builds the file's endpoint, which checks the file.
template <class MakeFile>
cl_int enqueue_file(cl_command_type type, cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                    size_t size, const event_arguments& events, MakeFile make_file) {
    return guard([&] {
        const auto checked = check_queue(queue);
        const bool from_file = type == CL_COMMAND_WRITE_BUFFER_FROM_FILE;
        auto place = check_buffer(checked, buffer);
        check_range(place, offset, size);
        check_wait_list(events, checked.facts.context, checked.facts.context);
        check_access(place, from_file ? host_access::write : host_access::read);
        auto& process = runtime::instance();
        auto file = make_file(process.files(), from_file ? access::read : access::write);
        new_command made{.type = type, .queues = {checked}};
        if (!from_file) made.order = std::make_shared<std::vector<cl::event>>();
        auto device = endpoints::make_range_endpoint(process.devices(), std::move(place), offset, made.order);
        made.flows = from_file ? one_flow(std::move(file), std::move(device), size)
                               : one_flow(std::move(device), std::move(file), size);
        return enqueue(std::move(made), blocking, events);
    });
}

} // namespace

cl_int clEnqueueWriteBufferFromStdioFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                         size_t size, FILE* file, cl_uint num_events_in_wait_list,
                                         const cl_event* event_wait_list, cl_event* event) {
    return enqueue_file(CL_COMMAND_WRITE_BUFFER_FROM_FILE, queue, buffer, blocking, offset, size,
                        {num_events_in_wait_list, event_wait_list, event},
                        [&](auto services, auto mode) { return endpoints::make_stdio_endpoint(services, file, mode); });
}

cl_int clEnqueueReadBufferToStdioFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, FILE* file, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) {
    return enqueue_file(CL_COMMAND_READ_BUFFER_TO_FILE, queue, buffer, blocking, offset, size,
                        {num_events_in_wait_list, event_wait_list, event},
                        [&](auto services, auto mode) { return endpoints::make_stdio_endpoint(services, file, mode); });
}

cl_int clEnqueueWriteBufferFromFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                    int fd, int64_t file_offset, cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event) {
    return enqueue_file(CL_COMMAND_WRITE_BUFFER_FROM_FILE, queue, buffer, blocking, offset, size,
                        {num_events_in_wait_list, event_wait_list, event}, [&](auto services, auto mode) {
                            return endpoints::make_descriptor_endpoint(services, fd, file_offset, size, mode);
                        });
}

cl_int clEnqueueReadBufferToFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                 int fd, int64_t file_offset, cl_uint num_events_in_wait_list,
                                 const cl_event* event_wait_list, cl_event* event) {
    return enqueue_file(CL_COMMAND_READ_BUFFER_TO_FILE, queue, buffer, blocking, offset, size,
                        {num_events_in_wait_list, event_wait_list, event}, [&](auto services, auto mode) {
                            return endpoints::make_descriptor_endpoint(services, fd, file_offset, size, mode);
                        });
}
