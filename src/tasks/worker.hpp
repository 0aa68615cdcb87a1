// SPDX-License-Identifier: Apache-2.0
// A worker: a thread's slot in the pool, with its deque, its free list of tasks, and the search for work.
#pragma once

#include "base/clock.hpp"
#include "tasks/deque.hpp"
#include "tasks/footprint.hpp"
#include "tasks/pool.hpp"
#include "tasks/task.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace causeway::tasks {

/// Used by the one thread that occupies it, except steal_from() and queued(), which any thread may call.
class alignas(64) worker {
  public:
    worker(pool& owner, unsigned position, unsigned group) : m_pool(owner), m_position(position), m_group(group) {}
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    [[nodiscard]] pool& owner() const { return m_pool; }
    [[nodiscard]] unsigned position() const { return m_position; }
    [[nodiscard]] unsigned group() const { return m_group; }

    /// The calling thread's worker in pool `of`; null if it has none.
    [[nodiscard]] static worker* current(const pool& of);
    /// Makes `here` (may be null) the calling thread's worker; returns the one before.
    static worker* bind_thread(worker* here);

    /// Puts a task into the deque, or into the group's inbox if the deque cannot grow. Needs no memory.
    void push(task* ready) {
        if (__builtin_expect(!m_queue.push(ready), 0)) m_pool.m_groups[m_group]->ordinary.push_first(ready);
    }
    [[nodiscard]] std::int64_t queued() const { return m_queue.size(); }
    [[nodiscard]] task* steal_from() { return m_queue.steal(); }

    /// The next task to run, or null: own deque, own group's inboxes, its other members, then other groups as the
    /// policy orders them.
    [[nodiscard]] task* find();
    void run(task* which);
    /// Polls for work with growing pauses, then sleeps. Returns null when `waits_for` is done, or the pool stops if
    /// that is null; spuriously at other times.
    [[nodiscard]] task* idle(task_group* waits_for);

    /// Destroys the payload of a task that does not run. An exception fails its group.
    static void end_payload(task& which);
    [[nodiscard]] task* make();
    void free(task* over);

    /// Occupies a slot for callers; false if it is taken.
    [[nodiscard]] bool try_take() {
        return !m_taken.load(std::memory_order_relaxed) && !m_taken.exchange(true, std::memory_order_acquire);
    }
    [[nodiscard]] bool is_taken() const { return m_taken.load(std::memory_order_relaxed); }
    void leave() { m_taken.store(false, std::memory_order_release); }

    footprint found; ///< of the task that is dealt
    std::vector<double> backlog;

    /// Written by the occupying thread only.
    struct counts {
        std::atomic<std::uint64_t> tasks{0}, dealt{0}, stolen{0}, stolen_far{0};
        static void more(std::atomic<std::uint64_t>& which) {
            which.store(which.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
    } done;

  private:
    [[nodiscard]] task* from_inboxes(unsigned group);
    [[nodiscard]] task* from_members(unsigned group);
    [[nodiscard]] task* from_far();
    [[nodiscard]] bool work_in_reach() const;
    static void call(task* which);
    void run_here(task* which);
    void run_on_fresh_stack(task* which);

    pool& m_pool;
    const unsigned m_position, m_group;
    deque<task> m_queue;
    unsigned m_next_victim = 0;
    bool m_saw_spared = false; ///< the last search left tasks to others
    /// A group with spared tasks that has taken none since `since`; `since` is the epoch if there is none.
    struct {
        time_point since{};
        unsigned group = 0;
        std::uint32_t taken = 0;
    } m_spared;
    task* m_free = nullptr;
    std::size_t m_free_count = 0;
    alignas(64) std::atomic<bool> m_taken{false};
};

} // namespace causeway::tasks
