// SPDX-License-Identifier: Apache-2.0
// Spawning, dealing, waking and waiting.
#include "tasks/pool.hpp"

#include "base/error.hpp"
#include "tasks/run_record.hpp"
#include "tasks/worker.hpp"
#include "topology/binding.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace causeway::tasks {

namespace {

/// A worker whose deque or inbox is as long as this runs what it spawns at once, so that memory is bounded.
constexpr std::int64_t longest_queue = 4096;
/// A thread that spawns tasks with dependences, or is no worker, works off some of a group that has more than this.
constexpr std::uint64_t most_pending = 65536;
/// A thread without a worker slot is slowed down instead.
constexpr std::chrono::microseconds catch_up_step{200}, longest_in_vain{50000};
constexpr std::size_t tasks_in_batch = 64, batches_in_slab = 4;

void add(std::atomic<double>& sum, double more) { sum.fetch_add(more, std::memory_order_relaxed); }

} // namespace

pool::pool(const topology::machine& here, const address_map& addresses, std::unique_ptr<policy> rules,
           const pool_options& options)
    : m_machine(here), m_addresses(addresses), m_policy(std::move(rules)) {
    const auto cores = here.cores.size();
    const auto threads = options.threads == 0 ? cores : options.threads;
    m_callers = std::min<unsigned>(options.callers, static_cast<unsigned>(threads));
    std::vector<unsigned> node_of_worker;
    for (std::size_t each = 0; each < threads; ++each) {
        // Fewer threads than cores are spread; more take turns.
        const auto core = threads < cores ? each * cores / threads : each % cores;
        node_of_worker.push_back(here.cores[core].node);
    }
    m_node_of_worker = node_of_worker;
    m_grouping = m_policy->group(here, node_of_worker);
    m_reads_footprints = m_policy->reads_footprints();
    m_deals = m_policy->deals();
    for (unsigned each = 0; each < m_grouping.groups(); ++each) m_groups.push_back(std::make_unique<group_queue>());
    for (unsigned each = 0; each < threads; ++each) {
        const auto group = m_grouping.group_of_worker[each];
        m_workers.push_back(std::make_unique<worker>(*this, each, group));
        m_groups[group]->members.push_back(m_workers.back().get());
    }
    try {
        for (unsigned each = m_callers; each < threads; ++each)
            m_threads->emplace_back([this, each, node = node_of_worker[each], bind = options.bind] {
                if (bind && m_machine.nodes.size() > 1) topology::bind_thread_to_node(m_machine, node);
                work(*m_workers[each]);
            });
    } catch (...) {
        m_stopping.store(true);
        wake_everyone();
        for (auto& thread : *m_threads) thread.join();
        try {
            throw;
        } catch (const std::system_error& error) {
            throw transfer_error(status::out_of_resources, "starting thread " + std::to_string(m_threads->size() + 1) +
                                                               " of " + std::to_string(threads - m_callers) +
                                                               " of a pool: " + error.what());
        }
    }
}

pool::~pool() {
    m_stopping.store(true, std::memory_order_seq_cst);
    wake_everyone();
    if (::getpid() != m_process) {
        // The threads' handles may be those of threads that the child has begun since, so they are not touched. Nor are
        // the queues, which may be half changed.
        (void)m_threads.release();
        return;
    }
    for (auto& thread : *m_threads) thread.join();
    drain();
}

void pool::drain() {
    auto& self = *m_workers.front();
    auto* const before = worker::bind_thread(&self);
    while (!m_held.empty()) let_go(*m_held.begin());
    for (bool any = true; any;) {
        any = false;
        for (auto& group : m_groups)
            for (auto* queue : {&group->urgent, &group->ordinary})
                while (auto* const waiting = queue->take()) any = true, self.run(waiting);
        for (auto& each : m_workers)
            while (each->queued() != 0)
                if (auto* const waiting = each->steal_from()) any = true, self.run(waiting);
    }
    worker::bind_thread(before);
}

task* pool::make(std::size_t bytes, std::size_t alignment) {
    task* made = nullptr;
    if (auto* const self = worker::current(*this)) {
        made = self->make();
    } else {
        const std::lock_guard lock(m_spare_lock);
        if (!m_loose) m_loose = take_batch_locked();
        made = m_loose;
        m_loose = made->next;
    }
    made->payload = made->room;
    made->alignment = 0;
    if (bytes > task::inline_bytes || alignment > alignof(std::max_align_t)) try {
            if (bytes > PTRDIFF_MAX) throw std::bad_alloc();
            const auto unit = std::max(alignment, alignof(std::max_align_t));
            made->payload = ::operator new(bytes, std::align_val_t(unit));
            made->alignment = static_cast<std::uint16_t>(unit);
        } catch (...) {
            discard(made);
            throw;
        }
    made->destroy = nullptr;
    made->node = nullptr;
    made->load = 0;
    made->urgent = 0;
    made->way = came_by::own_queue;
    made->void_of_work = 0;
    return made;
}

void pool::free_payload(task* over) { ::operator delete(over->payload, std::align_val_t(over->alignment)); }

void pool::discard(task* made) {
    if (auto* const self = worker::current(*this)) return self->free(made);
    if (made->alignment != 0) free_payload(made);
    const std::lock_guard lock(m_spare_lock);
    made->next = m_loose;
    m_loose = made;
}

task* pool::take_batch_locked() {
    if (!m_batches) {
        m_slabs.reserve(m_slabs.size() + 1);
        auto* const slab = m_slabs.emplace_back(new task[tasks_in_batch * batches_in_slab]).get();
        for (std::size_t each = 0; each < tasks_in_batch * batches_in_slab; ++each)
            slab[each].next = (each + 1) % tasks_in_batch == 0 ? nullptr : &slab[each + 1];
        for (std::size_t each = 0; each < batches_in_slab; ++each) give_batch_locked(&slab[each * tasks_in_batch]);
    }
    return std::exchange(m_batches, static_cast<task*>(m_batches->payload));
}

void pool::give_batch_locked(task* first) {
    first->payload = m_batches;
    m_batches = first;
}

task* pool::take_batch() {
    const std::lock_guard lock(m_spare_lock);
    return take_batch_locked();
}

void pool::give_batch(task* first) {
    const std::lock_guard lock(m_spare_lock);
    give_batch_locked(first);
}

unsigned pool::current_worker() const {
    const auto* const self = worker::current(*this);
    return self ? self->position() : threads();
}

void pool::prepare(task* made, task_group& group, std::span<const region> regions, bool held) {
    made->group = &group;
    const bool ordered = std::any_of(regions.begin(), regions.end(), [](const region& each) { return each.orders(); });
    try {
        if (ordered || held) {
            made->node = new dependence_node(made);
            if (held) {
                made->node->hold();
                const std::lock_guard lock(m_held_lock);
                m_held.insert(made);
            }
            if (m_reads_footprints) made->node->remember(regions);
        }
        if (m_record) made->record = m_record->spawned(&group, regions);
    } catch (const std::bad_alloc&) {
        if (held) (void)forget_held(made);
        if (made->node) made->node->release();
        worker::end_payload(*made);
        discard(made);
        throw;
    }
    group.add_one();
    if (ordered) try {
            group.enter(*made->node, regions);
        } catch (const std::bad_alloc&) {
            made->void_of_work = 1; // it may have predecessors by now, so it waits for them
        }
}

void pool::submit(task* made, task_group& group, std::span<const region> regions) {
    prepare(made, group, regions, false);
    auto* const self = worker::current(*this);
    auto* const node = made->node;
    // Once the task is ready the group may be gone, and is not asked any more.
    const auto pending = self && !node ? 0 : group.pending();
    const auto surplus = pending > most_pending ? pending - most_pending / 2 : 0;
    if (surplus != 0 && !self && !has_free_slot()) let_catch_up(group);
    if (!node) {
        if (self && self->queued() >= longest_queue) return self->run(made);
        make_ready(made, self, regions, self != nullptr);
    } else {
        const bool is_void = made->void_of_work != 0;
        if (node->let_go()) make_ready(made, self, regions, self != nullptr);
        if (is_void) throw std::bad_alloc();
    }
    if (surplus != 0) work_off(surplus);
}

void pool::work_off(std::uint64_t surplus) {
    auto* const self = worker::current(*this);
    auto* const here = self ? self : take_slot();
    if (!here) return;
    auto* const before = self ? nullptr : worker::bind_thread(here);
    for (; surplus != 0; --surplus) {
        auto* const other = here->find();
        if (!other) break;
        here->run(other);
    }
    if (self) return;
    worker::bind_thread(before);
    free_slot(*here);
}

void pool::let_catch_up(task_group& group) {
    // What waits may wait for the caller, so the wait ends where there is no progress. The next is then far away.
    auto pending = group.pending();
    auto in_vain = std::chrono::microseconds(0);
    while (pending > std::max(most_pending / 2, group.spawns_on_to())) {
        std::this_thread::sleep_for(catch_up_step);
        const auto before = std::exchange(pending, group.pending());
        in_vain = pending < before ? std::chrono::microseconds(0) : in_vain + catch_up_step;
        if (in_vain >= longest_in_vain) group.spawns_on_to(pending + pending / 2);
    }
}

void pool::submit(task* made, task_group& group) {
    auto* const self = worker::current(*this);
    if (!self || m_deals || m_record) return submit(made, group, {});
    made->group = &group;
    group.add_one();
    if (self->queued() >= longest_queue) return self->run(made);
    self->push(made);
    tell_of_work(self->group());
}

void pool::submit_held(task* made, task_group& group, std::span<const region> regions) {
    prepare(made, group, regions, true);
    auto* const node = made->node;
    const bool is_void = made->void_of_work != 0;
    if (node->let_go()) make_ready(made, worker::current(*this), regions);
    if (is_void) {
        let_go(made);
        throw std::bad_alloc();
    }
}

bool pool::forget_held(task* held) {
    const std::lock_guard lock(m_held_lock);
    return m_held.erase(held) != 0;
}

void pool::let_go(task* held) {
    if (forget_held(held) && held->node->let_go()) make_ready(held, worker::current(*this), held->node->remembered());
}

void pool::make_ready(task* ready, worker* from, std::span<const region> regions, bool is_child) {
    if (__builtin_expect(m_record != nullptr, 0)) m_record->ready(ready->record, from ? from->position() : no_worker);
    auto group = deal(ready, from, regions);
    if (group == own_queue && from && !ready->urgent) {
        group = from->group();
        from->push(ready);
    } else {
        if (group == own_queue)
            group = from ? from->group() : m_next_group.fetch_add(1, std::memory_order_relaxed) % m_grouping.groups();
        auto& where = *m_groups[group];
        auto& box = ready->urgent ? where.urgent : where.ordinary;
        if (is_child && box.size() >= longest_queue) {
            if (ready->load != 0) add(where.backlog, -ready->load);
            ready->load = 0;
            return from->run(ready);
        }
        if (from) worker::counts::more(from->done.dealt);
        if (is_child)
            box.push_first(ready);
        else
            box.push(ready);
    }
    tell_of_work(group);
}

void pool::tell_of_work(unsigned group) {
    real_atomics::fence(); // the task is there before anyone is found asleep
    if (m_asleep.load(std::memory_order_relaxed) != 0) wake_for(group);
}

unsigned pool::deal(task* ready, worker* from, std::span<const region> regions) {
    if (!m_deals) return own_queue;
    try {
        return deal_by_footprint(ready, from, regions);
    } catch (const std::bad_alloc&) {
        return own_queue; // no memory to look at its bytes: it goes where it would without
    }
}

unsigned pool::deal_by_footprint(task* ready, worker* from, std::span<const region> regions) {
    if (!m_reads_footprints || regions.empty()) return m_policy->deal({.own_group = from ? from->group() : 0});
    thread_local footprint others_footprint;
    thread_local std::vector<double> others_backlog;
    auto& found = from ? from->found : others_footprint;
    auto& backlog = from ? from->backlog : others_backlog;
    found.measure(m_addresses, regions, m_machine.nodes.size());
    backlog.resize(m_groups.size());
    for (std::size_t each = 0; each < m_groups.size(); ++each)
        backlog[each] = m_groups[each]->backlog.load(std::memory_order_relaxed);
    const auto group = m_policy->deal(found.question(from ? from->group() : 0, backlog));
    if (group == own_queue) return group;
    auto& where = *m_groups[group];
    ready->load = static_cast<float>(found.cost_from(m_machine, m_grouping.node_of_group[group]) /
                                     static_cast<double>(where.members.size()));
    add(where.backlog, ready->load);
    return group;
}

void pool::wake_for(unsigned group) {
    const auto ring = [&](unsigned which) {
        if (!m_groups[which]->bell.ring()) return false;
        m_asleep.fetch_sub(1, std::memory_order_relaxed);
        return true;
    };
    if (ring(group)) return;
    for (const auto& near : m_grouping.victims[group])
        if (m_groups[near.group]->bell.has_sleepers() && ring(near.group)) return;
}

void pool::wake_everyone() {
    for (auto& group : m_groups) group->bell.ring_all();
    m_callers_bell.ring_all();
}

void pool::work(worker& self) {
    worker::bind_thread(&self);
    while (!m_stopping.load(std::memory_order_acquire)) {
        auto* next = self.find();
        if (!next) next = self.idle(nullptr);
        if (next) self.run(next);
    }
}

worker* pool::take_slot() {
    for (unsigned each = 0; each < m_callers; ++each)
        if (m_workers[each]->try_take()) return m_workers[each].get();
    return nullptr;
}

bool pool::has_free_slot() const {
    for (unsigned each = 0; each < m_callers; ++each)
        if (!m_workers[each]->is_taken()) return true;
    return false;
}

void pool::free_slot(worker& slot) {
    slot.leave();
    real_atomics::fence(); // the slot is free before anyone is found asleep
    if (m_callers_bell.has_sleepers()) m_callers_bell.ring_all();
}

void pool::help(worker& self, task_group& group) {
    while (!group.is_done()) {
        auto* next = self.find();
        if (!next) next = self.idle(&group);
        if (next) self.run(next);
    }
}

void pool::wait(task_group& group) {
    if (group.is_done()) return;
    if (auto* const self = worker::current(*this)) return help(*self, group);
    while (!group.is_done()) {
        if (auto* const slot = take_slot()) {
            auto* const before = worker::bind_thread(slot);
            help(*slot, group);
            worker::bind_thread(before);
            free_slot(*slot);
            return;
        }
        const auto key = m_callers_bell.register_sleeper();
        group.announce_sleeper();
        if (!group.is_done() && !has_free_slot()) m_callers_bell.sleep(key);
    }
}

pool_statistics pool::statistics() const {
    pool_statistics sum;
    for (const auto& each : m_workers) {
        sum.tasks += each->done.tasks.load(std::memory_order_relaxed);
        sum.dealt += each->done.dealt.load(std::memory_order_relaxed);
        sum.stolen += each->done.stolen.load(std::memory_order_relaxed);
        sum.stolen_far += each->done.stolen_far.load(std::memory_order_relaxed);
    }
    return sum;
}

} // namespace causeway::tasks
