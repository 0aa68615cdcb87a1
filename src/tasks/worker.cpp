// SPDX-License-Identifier: Apache-2.0
// The search for work, and running it.
#include "tasks/worker.hpp"

#include "base/error.hpp"
#include "tasks/run_record.hpp"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <thread>

namespace causeway::tasks {

namespace {

using namespace std::chrono_literals;

/// A thief takes spared tasks of a group that has taken none of them for this long. Longer than a deal and a wake-up on
/// the owner's side.
constexpr auto patience = 20us;
/// Some 300 us on one Intel Xeon: the wake-ups that a sleep costs others may take 60 us each, in virtual machines.
constexpr int pauses_before_sleep = 96;
/// A wait looks so often for what it needs, some 150 us there, before it looks for anything else, and gives its slot
/// away: two changes of threads, which take as long there.
constexpr int looks_at_needed = 48;
/// From then on a woken thread that shares the core goes first: else it starts when the time slice ends, 3 ms later.
constexpr int looks_before_yield = 8;
/// Children are put first into an inbox, so a wait that looks beyond these misses few.
constexpr std::size_t looks_into_inbox = 16;
/// Below this a task gets a stack of its own: tasks that wait run others on top of themselves, to any depth.
constexpr std::size_t least_stack = 192u << 10;
constexpr std::size_t most_free = 128, batch = 64;

__attribute__((noinline)) void find_stack_begin() {
    pthread_attr_t attributes;
    void* lowest = nullptr;
    std::size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &lowest, &bytes);
        pthread_attr_destroy(&attributes);
    }
    t_stack_begin = std::max<std::uintptr_t>(1, reinterpret_cast<std::uintptr_t>(lowest));
}

bool stack_is_short() {
    if (t_stack_begin == 0) find_stack_begin();
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - t_stack_begin < least_stack;
}

void pause_before(int look) {
    const int times = 1 << std::min(look, 6);
    for (int each = 0; each < times; ++each)
#if defined __x86_64__ || defined __i386__
        __builtin_ia32_pause();
#else
        std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
    if (look >= looks_before_yield) std::this_thread::yield();
}

} // namespace

constinit thread_local thread_state t_state;
constinit thread_local std::uintptr_t t_stack_begin = 0;

task* worker::find() {
    auto& own = *m_pool.m_groups[m_group];
    if (own.urgent.size() != 0)
        if (auto* const found = own.urgent.take()) return taken_from_inbox(found, m_group);
    if (auto* const found = m_queue.pop()) return found;
    auto* found = from_inboxes(m_group);
    if (!found) found = from_members(m_group);
    if (!found) found = from_far();
    if (found) m_spared.since = {};
    return found;
}

task* worker::from_inboxes(unsigned group) {
    auto& where = *m_pool.m_groups[group];
    auto* found = where.urgent.take();
    if (!found) found = where.ordinary.take();
    return found ? taken_from_inbox(found, group) : nullptr;
}

task* worker::taken_from_inbox(task* found, unsigned group) {
    auto& where = *m_pool.m_groups[group];
    where.taken.fetch_add(1, std::memory_order_relaxed);
    found->way = group == m_group ? came_by::deal : came_by::far_steal;
    if (found->load != 0) where.backlog.fetch_sub(found->load, std::memory_order_relaxed);
    return found;
}

task* worker::from_inboxes_for(const task_group& group) {
    auto& where = *m_pool.m_groups[m_group];
    const auto is_needed = [&](const task& each) { return group.needs(each); };
    auto* found = where.urgent.take_if(looks_into_inbox, is_needed);
    if (!found) found = where.ordinary.take_if(looks_into_inbox, is_needed);
    return found ? taken_from_inbox(found, m_group) : nullptr;
}

task* worker::from_thief(const task_group& group) {
    // What a stolen task of the group has spawned is in its thief's deque (leapfrogging).
    const auto position = group.thief();
    if (position >= m_pool.m_workers.size() || position == m_position) return nullptr;
    auto& thief = *m_pool.m_workers[position];
    if (thief.queued() == 0) return nullptr;
    auto* const found = thief.steal_from();
    if (found) note_theft(*found, thief.m_group);
    return found;
}

task* worker::find_needed(const task_group& group) {
    if (m_pool.m_groups[m_group]->urgent.size() != 0)
        if (auto* const found = from_inboxes_for(group)) return found;
    if (auto* const found = m_queue.pop()) {
        if (group.needs(*found)) return found;
        push(found);
        m_pool.tell_of_work(m_group); // a thief may have found nothing meanwhile
    }
    return from_inboxes_for(group);
}

void worker::note_theft(task& found, unsigned group) {
    m_pool.m_groups[group]->taken.fetch_add(1, std::memory_order_relaxed);
    counts::more(group == m_group ? done.stolen : done.stolen_far);
    found.way = group == m_group ? came_by::steal : came_by::far_steal;
    found.group->stolen_by(m_position);
}

task* worker::from_members(unsigned group) {
    const auto& members = m_pool.m_groups[group]->members;
    const auto count = members.size();
    for (std::size_t each = 0; each < count; ++each) {
        if (m_next_victim >= count) m_next_victim = 0;
        auto* const victim = members[m_next_victim];
        if (victim != this && victim->queued() != 0)
            if (auto* const found = victim->steal_from()) {
                note_theft(*found, group);
                return found;
            }
        ++m_next_victim;
    }
    return nullptr;
}

task* worker::from_far() {
    m_saw_spared = false;
    bool watched_one_is_there = false;
    for (const auto& each : m_pool.m_grouping.victims[m_group]) {
        const auto& where = *m_pool.m_groups[each.group];
        const auto dealt = static_cast<double>(where.ordinary.size() + where.urgent.size());
        double length = dealt;
        for (const auto* const member : where.members) length += static_cast<double>(member->queued());
        if (length == 0) continue;
        if (!where.is_attended()) {
            // Nobody is kept waiting there.
        } else if (!m_pool.m_policy->releases()) {
            if (length <= each.spared) continue;
        } else if (dealt <= each.spared) {
            // What nobody dealt is near to no one: it is spared for no one.
            if (length > dealt)
                if (auto* const found = from_members(each.group)) return found;
            if (dealt == 0) continue;
            m_saw_spared = true;
            watched_one_is_there |= m_spared.group == each.group;
            const auto now = std::chrono::steady_clock::now();
            const auto taken = where.taken.load(std::memory_order_relaxed);
            if (m_spared.since == time_point{} || m_spared.group != each.group || m_spared.taken != taken) {
                // Nearer ones first: what is farther is looked at once these have been.
                if (m_spared.since == time_point{} || m_spared.group == each.group) m_spared = {now, each.group, taken};
                continue;
            }
            if (now - m_spared.since < patience) continue;
        }
        if (auto* const found = from_inboxes(each.group)) {
            counts::more(done.stolen_far);
            return found;
        }
        if (auto* const found = from_members(each.group)) return found;
    }
    if (!watched_one_is_there) m_spared.since = {};
    return nullptr;
}

bool worker::has_work(unsigned group) const {
    const auto& where = *m_pool.m_groups[group];
    if (where.ordinary.size() + where.urgent.size() != 0) return true;
    for (const auto* const member : where.members)
        if (member->queued() != 0) return true;
    return false;
}

bool worker::work_in_reach() const {
    if (has_work(m_group)) return true;
    for (const auto& each : m_pool.m_grouping.victims[m_group])
        if ((each.spared == 0 || m_pool.m_policy->releases() || !m_pool.m_groups[each.group]->is_attended()) &&
            has_work(each.group))
            return true;
    return false;
}

void worker::left() { m_pool.m_groups[m_group]->free.fetch_add(1, std::memory_order_seq_cst); }

void worker::taken() { m_pool.m_groups[m_group]->free.fetch_sub(1, std::memory_order_seq_cst); }

task* worker::look() {
    for (int looks = 0; looks < pauses_before_sleep; ++looks) {
        pause_before(looks);
        if (m_pool.is_over() || m_pool.m_slots.has_ready()) return nullptr;
        if (auto* const found = find()) return found;
        if (m_saw_spared) std::this_thread::sleep_for(patience / 4);
    }
    return nullptr;
}

task* worker::look(const task_group& group) {
    for (int looks = 0; looks < pauses_before_sleep; ++looks) {
        pause_before(looks);
        if (group.is_done()) return nullptr;
        if (looks < looks_at_needed) {
            if (auto* const found = from_inboxes_for(group)) return found;
            if (auto* const found = from_thief(group)) return found;
            continue;
        }
        if (m_pool.m_slots.has_ready()) return nullptr;
        if (auto* const found = find()) return found;
        if (m_saw_spared) std::this_thread::sleep_for(patience / 4);
    }
    return nullptr;
}

void worker::sleep(task_group* group) {
    auto& bell = m_pool.m_groups[m_group]->bell;
    m_pool.m_asleep.fetch_add(1, std::memory_order_seq_cst);
    const auto key = bell.register_sleeper();
    const bool goes_on = group && !group->announce_sleeper(task_group::sleeps_at_its_slot);
    real_atomics::fence();
    if (!goes_on && !(!group && m_pool.is_over()) && !work_in_reach() && !m_pool.m_slots.has_ready()) bell.sleep(key);
    if (!group || !group->is_done()) return;
    // The ring may have told of work, or of a thread that wants a slot: a thread that has waited leaves both to others.
    if (work_in_reach()) m_pool.tell_of_work(m_group);
    if (m_pool.m_slots.has_ready()) m_pool.wake_any();
}

void worker::run(task* which) {
    if (__builtin_expect(stack_is_short(), 0))
        run_on_fresh_stack(which);
    else
        run_here(which);
}

void worker::run_on_fresh_stack(task* which) {
    auto state = t_state;
    try {
        std::thread([&] {
            t_state = state;
            find_stack_begin();
            run_here(which);
            state = t_state;
        }).join();
        t_state = state;
    } catch (const std::exception&) {
        run_here(which); // no more threads, or no memory for one: what is left of this stack
    }
}

void worker::call(task* which) {
    try {
        which->function(which->payload);
    } catch (...) {
        which->group->fail(std::current_exception());
    }
}

void worker::end_payload(task& which) {
    try {
        if (which.destroy) which.destroy(which.payload);
    } catch (...) {
        which.group->fail(std::current_exception());
    }
}

void worker::run_here(task* which) {
    auto& group = *which->group;
    // What destroys a payload may wait, too.
    auto* const below = std::exchange(t_state.group, &group);
    const auto* const frame = std::exchange(t_state.frame, __builtin_frame_address(0));
    if (which->void_of_work || group.is_cancelled()) {
        end_payload(*which);
    } else if (m_pool.m_stopping.load(std::memory_order_relaxed)) {
        try {
            throw transfer_error(status::cancelled, "a task was waiting when its pool was released");
        } catch (const std::exception&) { // std::bad_alloc if there is no memory for the text
            group.fail(std::current_exception());
        }
        end_payload(*which);
    } else if (__builtin_expect(m_pool.m_record != nullptr, 0)) {
        run_record::running running(*m_pool.m_record, which->record);
        call(which);
        running.ended(m_position, which->way);
    } else {
        call(which);
    }
    t_state.group = below;
    t_state.frame = frame;
    t_state.here->end(which);
}

void worker::end(task* which) {
    auto& group = *which->group;
    counts::more(done.tasks);
    if (auto* const node = which->node) {
        node->finish([&](void* next) {
            auto* const started = static_cast<task*>(next);
            m_pool.make_ready(started, this, started->node->remembered());
        });
        node->release();
    }
    free(which);
    if (const auto sleepers = group.end_one(); sleepers != 0) m_pool.end_sleep(&group, sleepers);
}

task* worker::make() {
    if (!m_free) {
        m_free = m_pool.take_batch();
        m_free_count = batch;
    }
    auto* const made = m_free;
    m_free = made->next;
    --m_free_count;
    return made;
}

void worker::free(task* over) {
    if (over->alignment != 0) pool::free_payload(over);
    over->next = m_free;
    m_free = over;
    if (++m_free_count < most_free) return;
    // Half goes to the others, who may make what this one ends.
    auto* const first = m_free;
    auto* last = first;
    for (std::size_t each = 1; each < batch; ++each) last = last->next;
    m_free = last->next;
    last->next = nullptr;
    m_free_count -= batch;
    m_pool.give_batch(first);
}

} // namespace causeway::tasks
