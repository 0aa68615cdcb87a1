// SPDX-License-Identifier: Apache-2.0
// Copies between devices: transfers of the engine, over the link between them where there is one.
#include "acc/data.hpp"
#include "acc/failure.hpp"
#include "acc/peer.hpp"

#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>

namespace causeway::acc {

void copy_between(device& to, void* target, device& from, void* source, std::size_t bytes, const char* name,
                  bool wait) {
    if (bytes == 0) return;
    // Always in the order of the devices' numbers, so that two threads cannot wait for each other.
    std::unique_lock<std::recursive_mutex> first(std::min(&to, &from)->lock()), second(std::max(&to, &from)->lock());
    const auto target_place = place_of(to, target, bytes, name), source_place = place_of(from, source, bytes, name);
    auto& target_queue = to.queue_of(synchronous_queue);
    auto& source_queue = from.queue_of(synchronous_queue);
    if (&to == &from && target_place.buffer == source_place.buffer && target_place.offset == source_place.offset)
        return;
    cl_event event = nullptr;
    const auto status = clEnqueuePeerCopyBuffer(source_queue.handle, source_place.buffer, target_queue.handle,
                                                target_place.buffer, CL_FALSE, source_place.offset, target_place.offset,
                                                bytes, 0, nullptr, &event);
    if (status != CL_SUCCESS)
        fail_here("copying '" + std::string(name) + "' between devices was refused: " + causeway_error_last_message());
    for (auto* each : {&source_queue, &target_queue}) {
        check(clEnqueueMarkerWithWaitList(each->handle, 0, nullptr, each->next()), "clEnqueueMarkerWithWaitList");
        clFlush(each->handle);
        if (&source_queue == &target_queue) break;
    }
    target_queue.copies.push_back(event);
    if (!wait) return;
    if (&to != &from) (&to == std::min(&to, &from) ? second : first).unlock();
    to.finish(target_queue, &to == std::min(&to, &from) ? first : second);
}

} // namespace causeway::acc

using namespace causeway::acc;

void causeway_acc_peer(causeway_acc_clauses* clauses, causeway_acc_data* to, long to_device, causeway_acc_data* from,
                       long from_device, int count) {
    const scope here(clauses->place);
    if (!clauses->condition || devices().empty()) return;
    auto& target = device_number(to_device);
    auto& source = device_number(from_device);
    for (int each = 0; each < count; ++each) {
        if (to[each].bytes != from[each].bytes)
            fail_here("'" + std::string(to[each].name) + "' has " + std::to_string(to[each].bytes) +
                      " bytes in 'to' and " + std::to_string(from[each].bytes) + " in 'from'");
        copy_between(target, to[each].host, source, from[each].host, to[each].bytes, to[each].name, false);
    }
}
