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
/// A thread without a slot is slowed down instead.
constexpr std::chrono::microseconds catch_up_step{200}, longest_in_vain{50000};
/// Of a pool, most of which wait: a program that needs more gets tasks on top of waits that do not need them.
constexpr std::size_t most_threads_beyond_slots = 1024;
constexpr std::size_t tasks_in_batch = 64, batches_in_slab = 4;

void add(std::atomic<double>& sum, double more) { sum.fetch_add(more, std::memory_order_relaxed); }

} // namespace

pool::pool(const topology::machine& here, const address_map& addresses, std::unique_ptr<policy> rules,
           const pool_options& options)
    : m_machine(here), m_addresses(addresses), m_policy(std::move(rules)),
      m_bind(options.bind && here.nodes.size() > 1),
      m_slots(options.threads == 0 ? here.cores.size() : options.threads, options.callers) {
    const auto cores = here.cores.size();
    const auto threads = options.threads == 0 ? cores : options.threads;
    const auto callers = std::min<std::size_t>(options.callers, threads);
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
    for (std::size_t each = 0; each < threads; ++each) {
        std::string why;
        auto* const holder = each < callers ? nullptr : start_thread(&why);
        if (each < callers || holder) {
            m_slots.begin(m_workers[each].get(), holder);
            continue;
        }
        m_stopping.store(true);
        wake_everyone();
        m_slots.stop();
        for (auto& thread : *m_threads) thread.join();
        if (why.empty()) throw std::bad_alloc();
        throw transfer_error(status::out_of_resources, "starting thread " + std::to_string(each - callers + 1) +
                                                           " of " + std::to_string(threads - callers) +
                                                           " of a pool: " + why);
    }
}

pool::thread* pool::start_thread(std::string* why) {
    const std::lock_guard lock(m_threads_mutex);
    if (m_stopping.load(std::memory_order_relaxed) || m_threads->size() >= m_workers.size() + most_threads_beyond_slots)
        return nullptr;
    try {
        m_threads->reserve(m_threads->size() + 1);
        auto& made = *m_selves.emplace_back(std::make_unique<thread>(false));
        try {
            m_threads->emplace_back([this, &made] { work(made); });
        } catch (...) {
            m_selves.pop_back();
            throw;
        }
        return &made;
    } catch (const std::bad_alloc&) {
        return nullptr;
    } catch (const std::system_error& error) {
        if (why) *why = error.what();
        return nullptr;
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
    {
        const std::lock_guard lock(m_threads_mutex); // whoever starts a thread has done so, or sees that the pool stops
    }
    m_slots.stop();
    let_go_all_held(); // tasks that run may wait for them
    for (auto& thread : *m_threads) thread.join();
    drain();
}

void pool::let_go_all_held() {
    for (;;) {
        task* each = nullptr;
        {
            const std::lock_guard lock(m_held_lock);
            if (m_held.empty()) return;
            each = *m_held.begin();
        }
        let_go(each);
    }
}

void pool::drain() {
    auto& self = *m_workers.front();
    const auto before = std::exchange(t_state, {.here = &self});
    let_go_all_held();
    for (bool any = true; any;) {
        any = false;
        for (auto& group : m_groups)
            for (auto* queue : {&group->urgent, &group->ordinary})
                while (auto* const waiting = queue->take()) any = true, self.run(waiting);
        for (auto& each : m_workers)
            while (each->queued() != 0)
                if (auto* const waiting = each->steal_from()) any = true, self.run(waiting);
    }
    t_state = before;
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
    if (surplus != 0 && !self && !m_slots.has_free()) let_catch_up(group);
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
    thread visitor(true, t_state.group);
    const auto before = t_state;
    const bool visits = !worker::current(*this);
    if (visits) {
        auto* const here = m_slots.take_free();
        if (!here) return;
        t_state.here = here;
        t_state.self = &visitor;
    }
    for (; surplus != 0; --surplus) {
        auto* const other = t_state.here->find();
        if (!other) break;
        t_state.here->run(other);
    }
    if (!visits) return;
    leave(visitor);
    t_state = before;
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
    if (is_void || m_stopping.load()) let_go(made); // nobody would do it any more, or without having heard of the task
    if (is_void) throw std::bad_alloc();
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

bool pool::ring(unsigned group) {
    using rung = doorbell<>::rung;
    const auto result = m_groups[group]->bell.ring();
    if (result != rung::not_at_all) m_asleep.fetch_sub(1, std::memory_order_relaxed);
    return result == rung::heard;
}

void pool::wake_for(unsigned group) {
    if (ring(group)) return;
    for (const auto& near : m_grouping.victims[group])
        if (m_groups[near.group]->bell.has_sleepers() && ring(near.group)) return;
}

void pool::wake_everyone() {
    for (auto& group : m_groups) group->bell.ring_all();
}

void pool::wake_everyone_at_end() {
    real_atomics::fence(); // who is absent is known before the pool is found to go on
    if (m_stopping.load(std::memory_order_relaxed)) wake_everyone();
}

void pool::wake_any() {
    real_atomics::fence(); // the thread that wants a slot is known before anyone is found asleep
    if (m_asleep.load(std::memory_order_relaxed) == 0) return;
    for (unsigned group = 0; group < m_groups.size(); ++group)
        if (ring(group)) return;
}

void pool::end_sleep(const void* group, std::uint64_t sleepers) {
    if ((sleepers & task_group::sleeps_at_its_slot) != 0) wake_everyone();
    if ((sleepers & task_group::sleeps_without_slot) == 0) return;
    if (m_slots.over(group)) wake_any();
    wake_everyone_at_end();
}

void pool::occupy(worker* slot) {
    t_state.here = slot;
    if (!slot || !m_bind || t_state.self->of_program) return;
    const auto node = m_node_of_worker[slot->position()];
    if (t_state.node != node) topology::bind_thread_to_node(m_machine, node);
    t_state.node = node;
}

void pool::leave(thread& self) {
    auto& slot = *std::exchange(t_state.here, nullptr);
    m_slots.leave(&slot, self);
    tell_of_leaving(slot);
    wake_everyone_at_end();
}

void pool::tell_of_leaving(const worker& slot) {
    if (slot.has_work(slot.group())) tell_of_work(slot.group());
}

void pool::work(thread& self) {
    t_state.self = &self;
    for (;;) {
        if (!t_state.here) occupy(m_slots.sleep(self));
        if (!t_state.here) return;
        auto& here = *t_state.here;
        auto* next = std::exchange(self.first, nullptr);
        if (!next)
            if (auto* const other = m_slots.take_ready()) {
                t_state.here = nullptr;
                m_slots.give(&here, nullptr, self, *other);
                wake_everyone_at_end();
                if (!m_slots.add_spare(self)) return;
                continue;
            }
        if (!next) next = here.find();
        if (!next) next = here.look();
        if (next) {
            here.run(next);
            continue;
        }
        if (is_over()) return;
        if (m_slots.leave_surplus(&here, self)) {
            t_state.here = nullptr;
            tell_of_leaving(here);
            wake_everyone_at_end();
            if (!m_slots.add_spare(self)) return;
            continue;
        }
        here.sleep(nullptr);
    }
}

void pool::help(task_group& group) {
    while (!group.is_done()) {
        if (!t_state.here) return;
        auto* next = t_state.here->find_needed(group);
        if (!next) next = t_state.here->look(group);
        if (next) {
            // Nothing runs for long, nor waits, once the pool stops.
            if (group.needs(*next) || m_stopping.load(std::memory_order_relaxed) || !block(group, next))
                t_state.here->run(next);
        } else if (!m_slots.has_ready() || !block(group, nullptr)) {
            if (!group.is_done()) t_state.here->sleep(&group);
        }
    }
}

bool pool::block(task_group& group, task* first) {
    auto& self = *t_state.self;
    auto& here = *t_state.here;
    auto* other = m_slots.take_ready();
    const bool is_queued = other && first;
    if (is_queued) here.push(std::exchange(first, nullptr));
    if (!other && first) other = m_slots.take_spare();
    if (!other && first) other = start_thread();
    if (!other) return false;
    (void)m_slots.block(self, &group, true, t_state.group != self.outermost_group);
    if (!group.announce_sleeper(task_group::sleeps_without_slot)) end_sleep(&group, task_group::sleeps_without_slot);
    t_state.here = nullptr;
    m_slots.give(&here, first, self, *other);
    if (is_queued) tell_of_work(here.group());
    occupy(m_slots.sleep(self));
    return true;
}

void pool::wait(task_group& group) {
    if (group.is_done()) return;
    group.waited_for_in(t_state.group);
    if (worker::current(*this))
        help(group);
    else
        visit(group);
    group.waited_for_in(nullptr);
}

void pool::visit(task_group& group) {
    thread self(true, t_state.group);
    const auto before = std::exchange(t_state,
                                      {.here = nullptr, .self = &self, .group = t_state.group, .frame = t_state.frame});
    while (!group.is_done()) {
        if (!t_state.here) t_state.here = m_slots.take_free();
        if (t_state.here) {
            help(group);
        } else if (m_slots.block(self, &group, false, false)) {
            if (!group.announce_sleeper(task_group::sleeps_without_slot))
                end_sleep(&group, task_group::sleeps_without_slot);
            occupy(m_slots.sleep(self));
        }
    }
    if (t_state.here) leave(self);
    t_state = before;
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
