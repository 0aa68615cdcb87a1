// SPDX-License-Identifier: Apache-2.0
// Transfers between device memory and other ranks.
#include "capi/cluster.hpp"
#include "runtime/boxes.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/ranks.hpp"
#include "runtime/mpi_runtime.hpp"

#include <CL/cl_data_transfer.h>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

namespace {

/// One direction, checked: the device's endpoint and its size.
struct device_side {
    std::unique_ptr<transfer::endpoint> device;
    size_t bytes;
    bool is_one_copy; ///< if it is small
};

/// A message that does not go out at once precedes others while its source is being read.
bool goes_at_once(size_t bytes) { return bytes <= process_options()[option::eager]; }

template <class MakeDevice> cl_int enqueue_one_way(cl_command_type type, cl_command_queue queue, cl_mem buffer,
                                                   cl_bool blocking, int rank, int tag, MPI_Comm comm,
                                                   const event_arguments& events, MakeDevice make_device) {
    return guard([&] {
        const bool sends = type == CL_COMMAND_SEND_BUFFER;
        const auto checked = check_queue(queue);
        auto location = check_buffer(checked, buffer);
        auto& process = runtime::instance();
        new_command made{.type = type, .queues = {checked}, .needs_mpi = true};
        auto& order = sends ? made.source_order : made.target_order;
        order = std::make_shared<endpoints::command_order>();
        auto side = make_device(process, location, order);
        check_wait_list(events, checked.facts.context, checked.facts.context);
        const auto how = sends ? host_access::read : host_access::write;
        check_access(location, how);
        made.is_one_copy = side.is_one_copy && is_best_by_host(location, side.bytes) &&
                           (!sends || goes_at_once(side.bytes));
        if (sends) {
            made.flows = one_flow(std::move(side.device), make_destination(rank, tag, comm), side.bytes);
        } else {
            made.envelope = std::make_shared<endpoints::matched_envelope>();
            made.flows = one_flow(make_origin(rank, tag, comm, made.envelope), std::move(side.device), side.bytes);
        }
        const auto* const cluster = cluster_of(queue);
        if (cluster == nullptr) return enqueue(std::move(made), blocking, events);
        return enqueue_in_cluster(*cluster, type, queue, {{buffer, how}}, blocking, events,
                                  [=](cl_command_queue raw, cl_mem const* buffers, const event_arguments& waits) {
                                      return enqueue_one_way(type, raw, buffers[0], CL_FALSE, rank, tag, comm, waits,
                                                             make_device);
                                  });
    });
}

auto range_of(size_t offset, size_t size, int rank) {
    return [=](runtime& process, endpoints::buffer_location location, endpoints::device_order order) {
        check_range(location, offset, size);
        return device_side{
            endpoints::make_range_endpoint(process.devices(), std::move(location), offset, std::move(order)),
            rank == MPI_PROC_NULL ? 0 : size, true};
    };
}

auto box_of(const box_arguments& given, int rank) {
    return [=](runtime& process, endpoints::buffer_location location, endpoints::device_order order) {
        const auto shape = check_box(location.buffer_bytes, "the buffer", given);
        return device_side{
            endpoints::make_box_endpoint(process.devices(), std::move(location), shape, std::move(order)),
            rank == MPI_PROC_NULL ? 0 : shape.bytes(), endpoints::is_dense(shape)};
    };
}

} // namespace

cl_int clEnqueueSendBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           int dest, int tag, MPI_Comm comm, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
    return enqueue_one_way(CL_COMMAND_SEND_BUFFER, queue, buffer, blocking, dest, tag, comm,
                           {num_events_in_wait_list, event_wait_list, event}, range_of(offset, size, dest));
}

cl_int clEnqueueRecvBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           int source, int tag, MPI_Comm comm, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
    return enqueue_one_way(CL_COMMAND_RECV_BUFFER, queue, buffer, blocking, source, tag, comm,
                           {num_events_in_wait_list, event_wait_list, event}, range_of(offset, size, source));
}

cl_int clEnqueueSendBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t buffer_origin[3],
                               const size_t region[3], size_t row_pitch, size_t slice_pitch, int dest, int tag,
                               MPI_Comm comm, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                               cl_event* event) {
    return enqueue_one_way(CL_COMMAND_SEND_BUFFER, queue, buffer, blocking, dest, tag, comm,
                           {num_events_in_wait_list, event_wait_list, event},
                           box_of({copy_of(buffer_origin), copy_of(region), row_pitch, slice_pitch}, dest));
}

cl_int clEnqueueRecvBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t buffer_origin[3],
                               const size_t region[3], size_t row_pitch, size_t slice_pitch, int source, int tag,
                               MPI_Comm comm, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                               cl_event* event) {
    return enqueue_one_way(CL_COMMAND_RECV_BUFFER, queue, buffer, blocking, source, tag, comm,
                           {num_events_in_wait_list, event_wait_list, event},
                           box_of({copy_of(buffer_origin), copy_of(region), row_pitch, slice_pitch}, source));
}

cl_int clEnqueueSendrecvBuffer(cl_command_queue queue, cl_mem send_buffer, cl_mem recv_buffer, cl_bool blocking,
                               size_t send_offset, size_t send_size, int dest, int send_tag, size_t recv_offset,
                               size_t recv_size, int source, int recv_tag, MPI_Comm comm,
                               cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const event_arguments events{num_events_in_wait_list, event_wait_list, event};
        const auto checked = check_queue(queue);
        const auto send_location = check_buffer(checked, send_buffer),
                   recv_location = check_buffer(checked, recv_buffer);
        auto& process = runtime::instance();
        new_command made{.type = CL_COMMAND_SENDRECV_BUFFER, .queues = {checked}, .needs_mpi = true};
        made.source_order = std::make_shared<endpoints::command_order>();
        auto sent = range_of(send_offset, send_size, dest)(process, send_location, made.source_order);
        made.target_order = std::make_shared<endpoints::command_order>();
        auto received = range_of(recv_offset, recv_size, source)(process, recv_location, made.target_order);
        check_wait_list(events, checked.facts.context, checked.facts.context);
        check_access(send_location, host_access::read);
        check_access(recv_location, host_access::write);
        check_overlap(send_buffer, send_offset, recv_buffer, recv_offset, send_size, recv_size);
        made.is_one_copy = is_best_by_host(send_location, sent.bytes) &&
                           is_best_by_host(recv_location, received.bytes) && goes_at_once(sent.bytes);
        made.envelope = std::make_shared<endpoints::matched_envelope>();
        made.flows = one_flow(std::move(sent.device), make_destination(dest, send_tag, comm), sent.bytes);
        made.flows.push_back(std::make_unique<transfer::flow>(make_origin(source, recv_tag, comm, made.envelope),
                                                              std::move(received.device), received.bytes));
        const auto* const cluster = cluster_of(queue);
        if (cluster == nullptr) return enqueue(std::move(made), blocking, events);
        return enqueue_in_cluster(
            *cluster, CL_COMMAND_SENDRECV_BUFFER, queue,
            {{send_buffer, host_access::read}, {recv_buffer, host_access::write}}, blocking, events,
            [=](cl_command_queue raw, cl_mem const* buffers, const event_arguments& waits) {
                return clEnqueueSendrecvBuffer(raw, buffers[0], buffers[1], CL_FALSE, send_offset, send_size, dest,
                                               send_tag, recv_offset, recv_size, source, recv_tag, comm, waits.count,
                                               waits.list, waits.event);
            });
    });
}

cl_int clAttachCommunicator(MPI_Comm comm) {
    return guard([&] {
        comm::require_mpi();
        comm::require_communicator(comm);
        mpi_runtime::instance().make_private(comm);
        return CL_SUCCESS;
    });
}
