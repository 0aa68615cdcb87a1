// SPDX-License-Identifier: Apache-2.0
// Copies between devices.
#include "capi/cluster.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/peer_copy.hpp"

#include <CL/cl_data_transfer.h>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

cl_int clEnqueuePeerCopyBuffer(cl_command_queue source_queue, cl_mem source, cl_command_queue target_queue,
                               cl_mem target, cl_bool blocking, size_t source_offset, size_t target_offset, size_t size,
                               cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
    return guard([&] {
        const event_arguments events{num_events_in_wait_list, event_wait_list, event};
        const auto from = check_queue(source_queue), to = check_queue(target_queue);
        const auto source_location = check_buffer(from, source), target_location = check_buffer(to, target);
        check_range(source_location, source_offset, size);
        check_range(target_location, target_offset, size);
        check_wait_list(events, to.facts.context, from.facts.context);
        check_access(source_location, host_access::read);
        check_access(target_location, host_access::write);
        check_overlap(source, source_offset, target, target_offset, size, size);
        if (const auto* const cluster = cluster_of(target_queue)) {
            if (from.facts.context != to.facts.context)
                throw transfer_error(status::invalid_context,
                                     "between two contexts of a cluster's platform the ranks cannot follow a copy");
            return cluster->copy({source_queue, source, target_queue, target, blocking != CL_FALSE, source_offset,
                                  target_offset, size, CL_COMMAND_PEER_COPY_BUFFER, events.count,
                                  reinterpret_cast<void* const*>(events.list), reinterpret_cast<void**>(events.event)});
        }
        return enqueue(make_peer_copy(from, source, source_offset, to, target, target_offset, size), blocking, events);
    });
}

extern "C" __attribute__((visibility("default"))) cl_int
causeway_copy_beside_queues(const buffer_end* from, const buffer_end* to, std::size_t bytes, cl_uint count,
                            const cl_event* list, cl_event* event, cl_event* source_event) {
    if (cluster_of(to->queue)) return CL_INVALID_OPERATION;
    return copy_beside_queues(*from, *to, bytes, count, list, event, source_event);
}
