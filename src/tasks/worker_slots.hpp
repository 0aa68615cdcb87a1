// SPDX-License-Identifier: Apache-2.0
// Which thread works at which slot of a pool, and how slots change hands.
#pragma once

#include "base/spin_lock.hpp"
#include "tasks/deque.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace causeway::tasks {

/// A pool runs as many tasks at once as it has worker slots. A thread that waits for a group, and may run none of the
/// ready tasks, gives its slot to a thread that may. Once the group is over it gets a slot again.
template <class Slot, class Task, class Atomics = real_atomics, class Lock = spin_lock> class worker_slots {
  public:
    /// What is known of one thread. Lives as long as the thread is in the pool.
    class thread {
      public:
        explicit thread(bool is_of_program, const void* below = nullptr)
            : of_program(is_of_program), outermost_group(below) {}
        const bool of_program;              ///< the pool has not started it
        const void* const outermost_group;  ///< of the task, if any, in which it came to this pool
        Task* first = nullptr;              ///< came with its slot, to be run before anything else

      private:
        friend class worker_slots;
        Slot* m_granted = nullptr;
        const void* m_group = nullptr; ///< that it waits for; never looked into, as it may be gone
        bool m_in_task = false;        ///< it goes on only with a slot
        thread* m_next = nullptr;
        Lock m_lock; // held by the thread that wakes this one, because this one may be gone once it is awake
        typename Atomics::template atomic<std::uint32_t> m_signal{0};
    };

    /// Threads of the program may have `callers` of `count` slots.
    worker_slots(std::size_t count, unsigned callers) : m_callers(callers) { m_free.reserve(count); }

    /// A slot that nobody has, for a thread of the program; null if there is none.
    Slot* take_free() {
        if (!has_free()) return nullptr;
        const std::lock_guard lock(m_lock);
        if (m_free.empty()) return nullptr;
        auto* const slot = m_free.back();
        m_free.pop_back();
        slot->taken();
        m_free_count.store(m_free.size(), std::memory_order_relaxed);
        ++m_held_by_program;
        return slot;
    }
    /// `me` has no more use for its slot: it goes to a thread that waits for one, else to the next that asks.
    void leave(Slot* slot, const thread& me) {
        thread* next = nullptr;
        {
            const std::lock_guard lock(m_lock);
            next = leave_locked(slot, me);
        }
        if (next) wake(*next);
    }
    /// As leave(), for a thread of the pool, if the slot is one of those for the program's threads. False if it keeps
    /// the slot.
    bool leave_surplus(Slot* slot, const thread& me) {
        thread* next = nullptr;
        {
            const std::lock_guard lock(m_lock);
            if (m_held_by_program + m_free.size() >= m_callers) return false;
            next = leave_locked(slot, me);
        }
        if (next) wake(*next);
        return true;
    }

    /// Lets over(group) end the next sleep() of `me`. With `has_slot`, the caller gives its slot away before it sleeps.
    /// False if `me` has no slot but one is free: nothing has changed.
    bool block(thread& me, const void* group, bool has_slot, bool in_task) {
        const std::lock_guard lock(m_lock);
        if (!has_slot && !m_free.empty()) return false;
        me.m_group = group;
        me.m_in_task = in_task;
        auto& list = m_blocked[bucket_of(group)];
        me.m_next = std::exchange(list, &me);
        m_absent.store(m_absent.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return true;
    }
    /// Sleeps. Returns the slot that `me` was given; null if it needs none, because its group is over or the pool
    /// stops.
    Slot* sleep(thread& me) {
        me.m_signal.wait(0, std::memory_order_acquire);
        const std::lock_guard lock(me.m_lock);
        me.m_signal.store(0, std::memory_order_relaxed);
        return std::exchange(me.m_granted, nullptr);
    }
    /// The tasks of `group` are over. True if threads now want a slot to go on (has_ready()): then the caller wakes a
    /// thread that sleeps at its slot.
    bool over(const void* group) {
        thread* awake = nullptr;
        bool wanted = false;
        {
            const std::lock_guard lock(m_lock);
            for (auto** at = &m_blocked[bucket_of(group)]; *at;) {
                auto* const found = *at;
                if (found->m_group != group) {
                    at = &found->m_next;
                    continue;
                }
                *at = found->m_next;
                found->m_next = nullptr;
                if (found->m_in_task) {
                    (m_last_ready ? m_last_ready->m_next : m_first_ready) = found;
                    m_last_ready = found;
                    m_ready_count.store(m_ready_count.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
                    wanted = true;
                } else {
                    absent_no_more();
                    found->m_next = std::exchange(awake, found);
                }
            }
        }
        while (awake) wake(*std::exchange(awake, awake->m_next));
        return wanted;
    }

    [[nodiscard]] bool has_free() const { return m_free_count.load(std::memory_order_relaxed) != 0; }
    [[nodiscard]] bool has_ready() const { return m_ready_count.load(std::memory_order_relaxed) != 0; }
    /// A thread whose group is over, and that wants a slot; null if there is none. Give it one.
    thread* take_ready() {
        if (!has_ready()) return nullptr;
        const std::lock_guard lock(m_lock);
        return take_ready_locked();
    }
    /// A thread of the pool that has no slot and nothing to wait for; null if there is none. Give it a slot.
    thread* take_spare() {
        const std::lock_guard lock(m_lock);
        auto* const found = m_spares;
        if (found) m_spares = found->m_next;
        return found;
    }
    /// False once the pool stops.
    bool add_spare(thread& me) {
        const std::lock_guard lock(m_lock);
        if (m_stopped) return false;
        me.m_next = std::exchange(m_spares, &me);
        return true;
    }
    /// Gives the slot of `from` to `to`, which sleeps, or will: one from take_ready(), take_spare(), or a new one.
    void give(Slot* slot, Task* first, const thread& from, thread& to) {
        {
            const std::lock_guard lock(m_lock);
            if (from.of_program) --m_held_by_program;
            grant_locked(slot, to);
            to.first = first;
        }
        wake(to);
    }
    /// As give(), for a slot that was nobody's before.
    void begin(Slot* slot, thread* to) {
        if (!to) {
            add_free(slot);
            return;
        }
        to->m_granted = slot;
        wake(*to);
    }
    /// Spare threads wake without a slot. Others are not touched.
    void stop() {
        thread* all = nullptr;
        {
            const std::lock_guard lock(m_lock);
            m_stopped = true;
            all = std::exchange(m_spares, nullptr);
        }
        while (all) wake(*std::exchange(all, all->m_next));
    }
    /// Whether no thread waits here for a group or for a slot.
    [[nodiscard]] bool nobody_is_absent() const { return m_absent.load(std::memory_order_acquire) == 0; }

  private:
    static constexpr std::size_t buckets = 64;
    static std::size_t bucket_of(const void* group) {
        return (reinterpret_cast<std::uintptr_t>(group) >> 5) * 0x9e3779b97f4a7c15u >> 58;
    }
    void wake(thread& whom) {
        const std::lock_guard lock(whom.m_lock);
        whom.m_signal.store(1, std::memory_order_release);
        whom.m_signal.notify_one();
    }
    void add_free(Slot* slot) {
        m_free.push_back(slot);
        slot->left();
        m_free_count.store(m_free.size(), std::memory_order_relaxed);
    }
    void absent_no_more() { m_absent.store(m_absent.load(std::memory_order_relaxed) - 1, std::memory_order_release); }
    void grant_locked(Slot* slot, thread& to) {
        to.m_granted = slot;
        if (to.of_program) ++m_held_by_program;
    }
    thread* take_ready_locked() {
        auto* const found = m_first_ready;
        if (!found) return nullptr;
        m_first_ready = found->m_next;
        if (!m_first_ready) m_last_ready = nullptr;
        m_ready_count.store(m_ready_count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        absent_no_more();
        return found;
    }
    /// A blocked thread to take over a slot, because none is left free while threads wait. Prefers the program's
    /// threads.
    thread* take_blocked_locked() {
        thread** any = nullptr;
        for (auto& list : m_blocked)
            for (auto** at = &list; *at; at = &(*at)->m_next)
                if (!any || ((*at)->of_program && !(*any)->of_program)) any = at;
        if (!any) return nullptr;
        auto* const found = *any;
        *any = found->m_next;
        absent_no_more();
        return found;
    }
    thread* leave_locked(Slot* slot, const thread& me) {
        if (me.of_program) --m_held_by_program;
        auto* next = take_ready_locked();
        if (!next) next = take_blocked_locked();
        if (next) {
            grant_locked(slot, *next);
        } else {
            add_free(slot);
        }
        return next;
    }

    const unsigned m_callers;
    Lock m_lock; // guards what follows; the counts are read without it
    std::vector<Slot*> m_free;
    std::size_t m_held_by_program = 0;
    bool m_stopped = false;
    thread* m_spares = nullptr; ///< LIFO: the last one's stack is still in the caches
    thread *m_first_ready = nullptr, *m_last_ready = nullptr;
    std::array<thread*, buckets> m_blocked{};
    alignas(64) typename Atomics::template atomic<std::size_t> m_free_count{0};
    typename Atomics::template atomic<std::size_t> m_ready_count{0}, m_absent{0};
};

} // namespace causeway::tasks
