// SPDX-License-Identifier: Apache-2.0
// Copies between two devices as commands of the engine.
#include "runtime/peer_copy.hpp"

#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"

#define CL_DATA_TRANSFER_NO_MPI
#include <CL/cl_data_transfer.h>

namespace causeway::core {

new_command make_peer_copy(const checked_queue& from, cl_mem source, std::size_t source_offset, const checked_queue& to,
                           cl_mem target, std::size_t target_offset, std::size_t bytes) {
    auto source_location = check_buffer(from, source), target_location = check_buffer(to, target);
    const auto devices = runtime::instance().devices();
    new_command made{.type = CL_COMMAND_PEER_COPY_BUFFER, .queues = {to}};
    if (from.raw != to.raw) made.queues.push_back(from);
    made.crosses_devices = from.facts.device != to.facts.device || from.facts.context != to.facts.context;
    made.is_one_copy = is_best_by_host(source_location, bytes) && is_best_by_host(target_location, bytes);
    made.source_order = std::make_shared<endpoints::command_order>();
    made.target_order = std::make_shared<endpoints::command_order>();
    made.flows = one_flow(
        endpoints::make_range_endpoint(devices, std::move(source_location), source_offset, made.source_order),
        endpoints::make_range_endpoint(devices, std::move(target_location), target_offset, made.target_order), bytes);
    return made;
}

bool takes_copies() noexcept {
    try {
        auto& process = runtime::instance();
        const std::lock_guard lock(process.enqueue_mutex());
        process.require_running();
        return true;
    } catch (...) {
        return false;
    }
}

cl_int copy_beside_queues(const buffer_end& from, const buffer_end& to, std::size_t bytes, cl_uint count,
                          const cl_event* list, cl_event* event, cl_event* source_event) {
    return guard([&] {
        // No queue waits for anything here: devices that cannot wait for user events will do.
        const auto queue_of = [](cl_command_queue raw) { return checked_queue{raw, cl::facts_of(raw)}; };
        auto made = make_peer_copy(queue_of(from.queue), from.buffer, from.offset, queue_of(to.queue), to.buffer,
                                   to.offset, bytes);
        made.is_in_queues = false;
        made.source_event = source_event;
        return enqueue(std::move(made), CL_FALSE, {count, list, event});
    });
}

} // namespace causeway::core
