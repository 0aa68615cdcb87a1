// SPDX-License-Identifier: Apache-2.0
// Transfers between device memory and files.
#include "capi/cluster.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"
#include "endpoints/file/file_io.hpp"

#include <CL/cl_data_transfer.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

namespace {

static_assert(CL_TRANSFER_APPEND == endpoints::at_end_of_file);

using endpoints::access;
using file_endpoint = std::unique_ptr<transfer::endpoint>;

/// Whether the stream's position is moved by the transfer at its end, or was at its enqueue, as on all ranks of a
/// cluster, of which one moves the bytes.
enum class position { at_end, at_enqueue };

cl_int start(cl_command_type type, const checked_queue& queue, endpoints::buffer_location location, size_t offset,
             size_t size, file_endpoint file, cl_bool blocking, const event_arguments& events) {
    const auto devices = runtime::instance().devices();
    new_command made{.type = type, .queues = {queue}};
    auto order = std::make_shared<endpoints::command_order>();
    // A pipe takes less at once, and may keep a block for any time.
    made.is_one_copy = file->traits().kind == transfer::medium::file;
    auto range = endpoints::make_range_endpoint(devices, std::move(location), offset, order);
    if (type == CL_COMMAND_READ_BUFFER_TO_FILE) {
        made.source_order = std::move(order);
        made.flows = one_flow(std::move(range), std::move(file), size);
    } else {
        made.target_order = std::move(order);
        made.flows = one_flow(std::move(file), std::move(range), size);
    }
    return enqueue(std::move(made), blocking, events);
}

/// `make_file` builds the file's endpoint, which checks the file.
template <class MakeFile> cl_int enqueue_file(cl_command_type type, cl_command_queue queue, cl_mem buffer,
                                              cl_bool blocking, size_t offset, size_t size,
                                              const event_arguments& events, MakeFile make_file) {
    return guard([&] {
        const auto checked = check_queue(queue);
        const bool from_file = type == CL_COMMAND_WRITE_BUFFER_FROM_FILE;
        auto location = check_buffer(checked, buffer);
        check_range(location, offset, size);
        check_wait_list(events, checked.facts.context, checked.facts.context);
        const auto device_access = from_file ? host_access::write : host_access::read;
        check_access(location, device_access);
        const auto* const cluster = cluster_of(queue);
        auto file = make_file(runtime::instance().files(), from_file ? access::read : access::write,
                              cluster != nullptr ? position::at_enqueue : position::at_end);
        if (cluster == nullptr)
            return start(type, checked, std::move(location), offset, size, std::move(file), blocking, events);
        // Each rank can read the file; one writes it, and that is the one whose files the user sees.
        const int on_rank = from_file ? -1 : 0;
        return enqueue_in_cluster(
            *cluster, type, queue, {{buffer, device_access}}, blocking, events,
            [type, offset, size, held = std::make_shared<file_endpoint>(std::move(file))](
                cl_command_queue raw, cl_mem const* buffers, const event_arguments& waits) {
                return guard([&] {
                    const auto on = check_queue(raw);
                    return start(type, on, check_buffer(on, *buffers), offset, size, std::move(*held), CL_FALSE, waits);
                });
            },
            on_rank);
    });
}

/// Where the next `size` bytes of `file` are read or written; the stream is then where fread or fwrite would have left
/// it.
off_t pass_by(std::FILE* file, size_t size, access mode) {
    const int fd = ::fileno(file);
    struct stat facts{};
    if (std::fflush(file) != 0 || ::fstat(fd, &facts) != 0)
        throw transfer_error(status::invalid_value, endpoints::file_name(fd) + ": " + errno_text(errno), errno);
    auto begin = ::ftello(file);
    if (begin < 0)
        throw transfer_error(status::invalid_value, endpoints::file_name(fd) +
                                                        " has no positions (a pipe or socket), so " +
                                                        "that the ranks of a cluster cannot follow one that uses it");
    // The file may have grown on rank 0, which writes, before others come here.
    if (mode == access::write && (::fcntl(fd, F_GETFL) & O_APPEND) != 0)
        begin = first_ranks(std::max<off_t>(begin, facts.st_size));
    const auto room = static_cast<size_t>(std::max<off_t>(facts.st_size - begin, 0));
    const auto passed = mode == access::read ? std::min(size, room) : size;
    if (::fseeko(file, begin + static_cast<off_t>(passed), SEEK_SET) != 0)
        throw transfer_error(status::invalid_value, endpoints::file_name(fd) + ": " + errno_text(errno), errno);
    if (passed < size) (void)std::fgetc(file); // sets the end of file
    return begin;
}

auto of_stream(std::FILE* file, size_t size) {
    return [=](endpoints::file_services services, access mode, position moved) {
        auto made = endpoints::make_stdio_endpoint(services, file, mode);
        if (moved == position::at_end) return made;
        return endpoints::make_descriptor_endpoint(services, ::fileno(file), pass_by(file, size, mode), size, mode);
    };
}

auto of_descriptor(int fd, int64_t file_offset, size_t size) {
    return [=](endpoints::file_services services, access mode, position) {
        if (mode == access::write && file_offset == CL_TRANSFER_APPEND)
            return endpoints::make_append_endpoint(services, fd, size);
        return endpoints::make_descriptor_endpoint(services, fd, file_offset, size, mode);
    };
}

} // namespace

cl_int clEnqueueWriteBufferFromStdioFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                         size_t size, FILE* file, cl_uint num_events_in_wait_list,
                                         const cl_event* event_wait_list, cl_event* event) {
    return enqueue_file(CL_COMMAND_WRITE_BUFFER_FROM_FILE, queue, buffer, blocking, offset, size,
                        {num_events_in_wait_list, event_wait_list, event}, of_stream(file, size));
}

cl_int clEnqueueReadBufferToStdioFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, FILE* file, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) {
    return enqueue_file(CL_COMMAND_READ_BUFFER_TO_FILE, queue, buffer, blocking, offset, size,
                        {num_events_in_wait_list, event_wait_list, event}, of_stream(file, size));
}

cl_int clEnqueueWriteBufferFromFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                    int fd, int64_t file_offset, cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event) {
    return enqueue_file(CL_COMMAND_WRITE_BUFFER_FROM_FILE, queue, buffer, blocking, offset, size,
                        {num_events_in_wait_list, event_wait_list, event}, of_descriptor(fd, file_offset, size));
}

cl_int clEnqueueReadBufferToFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                 int fd, int64_t file_offset, cl_uint num_events_in_wait_list,
                                 const cl_event* event_wait_list, cl_event* event) {
    return enqueue_file(CL_COMMAND_READ_BUFFER_TO_FILE, queue, buffer, blocking, offset, size,
                        {num_events_in_wait_list, event_wait_list, event}, of_descriptor(fd, file_offset, size));
}
