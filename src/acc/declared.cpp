// SPDX-License-Identifier: Apache-2.0
// Variables of the whole program that `declare` puts on every device.
#include "acc/declared.hpp"

#include "acc/data.hpp"
#include "acc/failure.hpp"

#include <atomic>
#include <deque>

namespace causeway::acc {
namespace {

struct declared_variable {
    char* host;
    std::size_t bytes;
    std::vector<char> value; // of copyin
};

struct registry {
    std::mutex mutex; // guards all
    std::deque<declared_variable> all;
    std::atomic<std::size_t> count{0};
};

/// Never destroyed: programs may end in the middle of a region.
registry& variables() {
    static auto& one = *new registry;
    return one;
}

} // namespace

void map_declared(device& on) {
    auto& known = variables();
    if (on.declared() == known.count) return;
    const std::lock_guard lock(known.mutex);
    auto& queue = on.queue_of(synchronous_queue);
    for (; on.declared() < known.all.size(); ++on.declared()) {
        const auto& each = known.all[on.declared()];
        if (on.table().find_start(each.host) || on.table().find_overlapping(each.host, each.bytes)) continue;
        mapping made{each.host, each.bytes, each.host, on.allocate(each.bytes), 0};
        made.structured = 1; // for good
        on.write(queue, {made.buffer, 0}, each.value.data(), each.value.size());
        on.table().add(made);
    }
    // Other queues may be the next to use them.
    if (!queue.idle) check(clFinish(queue.handle), "clFinish");
}

} // namespace causeway::acc

using namespace causeway::acc;

void causeway_acc_declare(const causeway_acc_location* location, void* host, unsigned long bytes, int kind) {
    const scope here(location);
    auto& known = variables();
    auto* const start = static_cast<char*>(host);
    const std::lock_guard lock(known.mutex);
    // A header may declare a variable for several sources.
    for (const auto& each : known.all)
        if (each.host == start) return;
    known.all.push_back({start, bytes, {}});
    if (kind == CAUSEWAY_ACC_COPYIN) known.all.back().value.assign(start, start + bytes);
    known.count = known.all.size();
}
