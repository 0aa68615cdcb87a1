// SPDX-License-Identifier: Apache-2.0
// Copies between devices: transfers of the engine, over the link between them where there is one.
#include "acc/data.hpp"
#include "acc/declared.hpp"
#include "acc/failure.hpp"
#include "acc/peer.hpp"
#include "runtime/peer_copy.hpp"

#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>

namespace causeway::acc {
namespace {

/// What the copy has to wait for in the queue of one of its ends.
void collect(queue& of, buffer_location location, std::size_t bytes, bool writes, std::vector<cl_event>& into) {
    of.see_shared();
    if (!of.idle && of.last) {
        of.flush();
        into.push_back(of.last);
    }
    for (auto& each : of.after)
        if (each.conflicts(location, bytes, writes)) into.push_back(each.here());
}

/// A loop of copies that nobody waits for may go on for long.
void forget_completed(std::vector<cl_event>& copies) {
    constexpr std::size_t many = 64;
    if (copies.size() < many) return;
    std::erase_if(copies, [](cl_event each) {
        cl_int status = CL_QUEUED;
        clGetEventInfo(each, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        if (status == CL_COMPLETE) clReleaseEvent(each);
        return status == CL_COMPLETE;
    });
}

struct copy_end {
    device& on;
    buffer_location location;
    queue& in;
};

/// Both events are the caller's; null ones: it was refused.
struct begun_copy {
    cl_event target_event = nullptr, source_event = nullptr;
    cl_command_queue event_queue = nullptr; // of the source_event
};

begun_copy enqueue_copy(const copy_end& to, const copy_end& from, std::size_t bytes,
                        const std::vector<cl_event>& before) {
    const auto count = static_cast<cl_uint>(before.size());
    const auto* const list = before.empty() ? nullptr : before.data();
    const core::buffer_end target{to.in.handle, to.location.buffer, to.location.offset},
        source{from.in.handle, from.location.buffer, from.location.offset};
    begun_copy made;
    auto status = causeway_copy_beside_queues(&source, &target, bytes, count, list, &made.target_event,
                                              &made.source_event);
    if (status != CL_INVALID_OPERATION) return made;
    // A cluster's ranks follow what is in queues.
    const auto source_peers = from.on.peer_queue(to.on.number()), target_peers = to.on.peer_queue(from.on.number());
    status = clEnqueuePeerCopyBuffer(source_peers, source.buffer, target_peers, target.buffer, CL_FALSE, source.offset,
                                     target.offset, bytes, count, list, &made.target_event);
    if (status != CL_SUCCESS) return {};
    clRetainEvent(made.source_event = made.target_event);
    // The copy's event is of the target's context.
    if (&to.on != &from.on) made.event_queue = source_peers;
    for (const auto peers : {source_peers, target_peers}) clFlush(peers);
    return made;
}

} // namespace

void copy_between(peer_end to, peer_end from, std::size_t bytes, const char* name, long number, bool wait) {
    if (bytes == 0) return;
    expect_peers();
    // Always in the order of the devices' numbers, so that two threads cannot wait for each other.
    std::unique_lock<std::recursive_mutex> first(std::min(&to.on, &from.on)->lock()),
        second(std::max(&to.on, &from.on)->lock());
    for (auto* each : {&to.on, &from.on}) map_declared(*each);
    const auto target = location_of(to.on, to.address, bytes, name),
               source = location_of(from.on, from.address, bytes, name);
    auto& target_queue = to.on.queue_of(number);
    auto& source_queue = from.on.queue_of(number);
    const bool within = &to.on == &from.on;
    if (within && target.buffer == source.buffer && target.offset == source.offset) return;
    std::vector<cl_event> before;
    collect(target_queue, target, bytes, true, before);
    collect(source_queue, source, bytes, false, before);
    const auto copy = enqueue_copy({to.on, target, target_queue}, {from.on, source, source_queue}, bytes, before);
    if (!copy.target_event)
        fail_here("copying " + quoted(name) + " between devices was refused: " + causeway_error_last_message());
    target_queue.add_after({copy.target_event, nullptr, target, bytes, true});
    source_queue.add_after({copy.source_event, copy.event_queue, source, bytes, false});
    clReleaseEvent(copy.source_event);
    forget_completed(target_queue.copies);
    target_queue.copies.push_back(copy.target_event);
    if (!wait) return;
    const bool target_first = &to.on <= &from.on;
    if (!within) (target_first ? second : first).unlock();
    if (within) second.unlock();
    to.on.finish(target_queue, target_first ? first : second);
}

} // namespace causeway::acc

using namespace causeway::acc;

void causeway_acc_expect_peers() { expect_peers(); }

void causeway_acc_peer(causeway_acc_clauses* clauses, causeway_acc_data* to, long to_device, causeway_acc_data* from,
                       long from_device, int count) {
    const scope here(clauses->location);
    if (!clauses->condition || devices().empty()) return;
    auto& target = device_number(to_device);
    auto& source = device_number(from_device);
    const long number = clauses->asynchronous ? queue_number(clauses->queue) : synchronous_queue;
    if (clauses->waits)
        for (auto* each : {&target, &source}) {
            const std::lock_guard held(each->lock());
            if (clauses->wait_count == 0) each->order_all(each->queue_of(number));
            for (int which = 0; which < clauses->wait_count; ++which)
                each->order(each->queue_of(queue_number(clauses->wait_queues[which])), each->queue_of(number));
        }
    for (int each = 0; each < count; ++each) {
        if (to[each].bytes != from[each].bytes)
            fail_here(quoted(to[each].name) + " has " + std::to_string(to[each].bytes) + " bytes in 'to' and " +
                      std::to_string(from[each].bytes) + " in 'from'");
        const auto into = pieces_of(to[each]), out_of = pieces_of(from[each]);
        const auto same = [](const piece& one, const piece& other) { return one.bytes == other.bytes; };
        if (!std::ranges::equal(into, out_of, same))
            fail_here(quoted(to[each].name) + " has rows of other lengths in 'to' than in 'from'");
        for (std::size_t part = 0; part < into.size(); ++part)
            copy_between({target, into[part].start}, {source, out_of[part].start}, into[part].bytes, to[each].name,
                         number, false);
    }
}
