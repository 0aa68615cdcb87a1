// SPDX-License-Identifier: Apache-2.0
// Follows in-order queues, wait lists, markers and barriers. As a read ends behind what is before it, the last one
// stands for all in front: lists stay short.
#include "platform/behind.hpp"

#include <algorithm>

namespace causeway::platform {

namespace {

using events = std::vector<ref<_cl_event>>;

bool is_over(const ref<_cl_event>& event) { return event->known_end() <= CL_COMPLETE; }

void add(events& list, const ref<_cl_event>& event) {
    const auto is_it = [&](const auto& one) { return one.get() == event.get(); };
    if (!is_over(event) && std::none_of(list.begin(), list.end(), is_it)) list.push_back(event);
}
void add(events& list, const events& more) {
    for (const auto& event : more) add(list, event);
}

} // namespace

events go_behind(const new_command& command) {
    auto& queue = command.queue;
    for (auto* const list : {&queue.behind, &queue.behind_barrier}) std::erase_if(*list, is_over);
    auto found = queue.in_order() || command.order.after_all ? queue.behind : queue.behind_barrier;
    for (cl_uint i = 0; i < command.wait_count; ++i) {
        auto& wait = *command.wait_list[i];
        if (wait.is_users() || (wait.rank >= 0 && wait.queue->is_behind_users)) {
            queue.is_behind_users = true;
            if (command.seen_in != nullptr) command.seen_in->is_behind_users = true;
        }
        if (wait.rank < 0)
            add(found, ref<_cl_event>(&wait));
        else
            add(found, wait.behind);
    }
    // Nobody finishes a context's own queue; what it named would hold its context.
    if (queue.in_order() || queue.held_context) add(queue.behind, found);
    if (command.order.before_all) queue.behind_barrier = found;
    return found;
}

void put_behind(_cl_command_queue& queue, const ref<_cl_event>& read) {
    if (queue.in_order()) queue.behind.clear();
    queue.behind.push_back(read);
}

events all_behind(_cl_command_queue& queue) {
    const std::lock_guard lock(queue.context.order);
    return queue.behind;
}

void let_go_when_over(_cl_command_queue& queue) {
    const auto let_go = [context = ref<_cl_context>(&queue.context), held = ref<_cl_command_queue>(&queue)] {
        events over; // let go of without the lock
        const std::lock_guard lock(context->order);
        for (auto* const list : {&held->behind, &held->behind_barrier}) {
            const auto first_over = std::stable_partition(list->begin(), list->end(),
                                                          [](const auto& one) { return !is_over(one); });
            over.insert(over.end(), first_over, list->end());
            list->erase(first_over, list->end());
        }
    };
    scheduler::of_process().after_all(all_behind(queue), let_go);
}

bool passes_users(const _cl_command_queue& queue, const events& list) {
    return queue.has_failed_waits.load(std::memory_order_acquire) &&
           std::any_of(list.begin(), list.end(), [](const auto& one) { return one->is_users() && !is_over(one); });
}
bool passes_users(const _cl_event& event) { return event.queue && passes_users(*event.queue, event.behind); }

events without_users(events list) {
    std::erase_if(list, [](const auto& one) { return one->is_users(); });
    return list;
}

void wait_for_all(const events& list, bool passes_users) {
    for (const auto& event : passes_users ? without_users(list) : list) scheduler::of_process().wait_for(*event);
}

} // namespace causeway::platform
