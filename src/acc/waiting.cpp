// SPDX-License-Identifier: Apache-2.0
// Queues: the directive `wait`, and OpenACC's routines about it.
#include "acc/data.hpp"
#include "acc/failure.hpp"
#include "acc/selection.hpp"

#include <causeway/acc/openacc.h>

using namespace causeway::acc;

namespace {

void wait_for(device& on, long number) {
    std::unique_lock held(on.lock());
    on.finish(on.queue_of(queue_number(number)), held);
}

void wait_for_all(device& on) {
    std::unique_lock held(on.lock());
    on.finish_all(held);
}

void order(device& on, long earlier, long later) {
    std::unique_lock held(on.lock());
    on.order(on.queue_of(queue_number(earlier)), on.queue_of(queue_number(later)));
    on.queue_of(queue_number(later)).flush();
}

void order_all(device& on, long later) {
    std::unique_lock held(on.lock());
    auto& behind = on.queue_of(queue_number(later));
    on.order_all(behind);
    behind.flush();
}

bool is_over(device& on, long number) {
    std::unique_lock held(on.lock());
    return on.is_over(on.queue_of(queue_number(number)));
}

bool all_over(device& on) {
    std::unique_lock held(on.lock());
    bool over = true;
    for (auto& [number, each] : on.queues()) over &= on.is_over(each);
    return over;
}

device* given_device(int number) { return selected().host || devices().empty() ? nullptr : &device_number(number); }

} // namespace

void causeway_acc_wait_directive(causeway_acc_clauses* clauses) {
    const scope here(clauses->location);
    if (!clauses->condition || devices().empty()) return;
    const long number = clauses->has_device ? clauses->device : clauses->wait_device;
    auto* const on = number >= 0 || clauses->has_device ? &device_number(number) : current_device();
    if (!on) return;
    if (clauses->asynchronous) {
        if (clauses->wait_count == 0) order_all(*on, clauses->queue);
        for (int each = 0; each < clauses->wait_count; ++each) order(*on, clauses->wait_queues[each], clauses->queue);
        return;
    }
    if (clauses->wait_count == 0) wait_for_all(*on);
    for (int each = 0; each < clauses->wait_count; ++each) wait_for(*on, clauses->wait_queues[each]);
}

#define ROUTINE(name) const scope here(name)

int acc_async_test(int queue) {
    ROUTINE("acc_async_test");
    auto* const on = current_device();
    return !on || is_over(*on, queue);
}
int acc_async_test_device(int queue, int number) {
    ROUTINE("acc_async_test_device");
    auto* const on = given_device(number);
    return !on || is_over(*on, queue);
}
int acc_async_test_all() {
    ROUTINE("acc_async_test_all");
    auto* const on = current_device();
    return !on || all_over(*on);
}
int acc_async_test_all_device(int number) {
    ROUTINE("acc_async_test_all_device");
    auto* const on = given_device(number);
    return !on || all_over(*on);
}
void acc_wait(int queue) {
    ROUTINE("acc_wait");
    if (auto* const on = current_device()) wait_for(*on, queue);
}
void acc_wait_device(int queue, int number) {
    ROUTINE("acc_wait_device");
    if (auto* const on = given_device(number)) wait_for(*on, queue);
}
void acc_wait_async(int earlier, int later) {
    ROUTINE("acc_wait_async");
    if (auto* const on = current_device()) order(*on, earlier, later);
}
void acc_wait_device_async(int earlier, int later, int number) {
    ROUTINE("acc_wait_device_async");
    if (auto* const on = given_device(number)) order(*on, earlier, later);
}
void acc_wait_all() {
    ROUTINE("acc_wait_all");
    if (auto* const on = current_device()) wait_for_all(*on);
}
void acc_wait_all_device(int number) {
    ROUTINE("acc_wait_all_device");
    if (auto* const on = given_device(number)) wait_for_all(*on);
}
void acc_wait_all_async(int later) {
    ROUTINE("acc_wait_all_async");
    if (auto* const on = current_device()) order_all(*on, later);
}
void acc_wait_all_device_async(int later, int number) {
    ROUTINE("acc_wait_all_device_async");
    if (auto* const on = given_device(number)) order_all(*on, later);
}
int acc_wait_any(int count, int* queues) {
    ROUTINE("acc_wait_any");
    auto* const on = current_device();
    int first = -1; // of those that are queues: entries of acc_async_sync are done with
    for (int each = count - 1; each >= 0; --each)
        if (queues[each] != acc_async_sync) first = each;
    if (first < 0 || !on) return first;
    for (int each = first; each < count; ++each)
        if (queues[each] != acc_async_sync && is_over(*on, queues[each])) return each;
    wait_for(*on, queues[first]);
    return first;
}
int acc_get_default_async() { return static_cast<int>(selected().default_queue); }
void acc_set_default_async(int queue) {
    selected().default_queue = queue == acc_async_default ? acc_async_noval : queue;
}
void acc_async_wait(int queue) { acc_wait(queue); }
void acc_async_wait_all() { acc_wait_all(); }
