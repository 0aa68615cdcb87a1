// SPDX-License-Identifier: Apache-2.0
// A worker: a slot in the pool, with its deque, its free list of tasks, and the search for work.
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

/// A slot in the pool. Used by the one thread that has it, except steal_from() and queued(), which any thread may
/// call.
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

    /// Puts a task into the deque, or into the group's inbox if the deque cannot grow. Needs no memory.
    void push(task* ready) {
        if (__builtin_expect(!m_queue.push(ready), 0)) m_pool.m_groups[m_group]->ordinary.push_first(ready);
    }
    /// Call when no thread has this slot any more.
    void left();
    /// Call when a thread has it again.
    void taken();
    [[nodiscard]] bool has_work(unsigned group) const;
    [[nodiscard]] std::int64_t queued() const { return m_queue.size(); }
    [[nodiscard]] task* steal_from() { return m_queue.steal(); }

    /// The next task to run, or null: own deque, own group's inboxes, its other members, then other groups as the
    /// policy orders them.
    [[nodiscard]] task* find();
    /// A task that `group` needs, to run on the stack of a wait for that group; null if none is at hand.
    [[nodiscard]] task* find_needed(const task_group& group);
    /// Runs a task. The calling thread may have another slot when it returns: while the task waited, another thread
    /// may have taken this one.
    void run(task* which);
    /// Polls for work with growing pauses. Null if there is none, or the pool stops, or a thread wants a slot.
    [[nodiscard]] task* look();
    /// As look(), for a wait for `group`: first what the group needs, then whatever there is. Null also if the group is
    /// done.
    [[nodiscard]] task* look(const task_group& group);
    /// Sleeps until there may be work, a thread wants a slot, or the pool stops or `group` (may be null) is done.
    void sleep(task_group* group);

    /// Destroys the payload of a task that does not run. An exception fails its group.
    static void end_payload(task& which);
    [[nodiscard]] task* make();
    void free(task* over);

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
    [[nodiscard]] task* from_inboxes_for(const task_group& group);
    [[nodiscard]] task* from_thief(const task_group& group);
    [[nodiscard]] task* taken_from_inbox(task* found, unsigned group);
    /// `found` was stolen from a member of `group`.
    void note_theft(task& found, unsigned group);
    [[nodiscard]] task* from_members(unsigned group);
    [[nodiscard]] task* from_far();
    [[nodiscard]] bool work_in_reach() const;
    static void call(task* which);
    void run_here(task* which);
    void end(task* which);
    void run_on_fresh_stack(task* which);

    pool& m_pool;
    const unsigned m_position, m_group;
    deque<task> m_queue;
    unsigned m_next_victim = 0;
    bool m_saw_spared = false; ///< the last search left tasks to others
    /// The group that this worker spares, and since when it has taken no task; the epoch: no such group.
    struct {
        time_point since{};
        unsigned group = 0;
        std::uint32_t taken = 0;
    } m_spared;
    task* m_free = nullptr;
    std::size_t m_free_count = 0;
};

/// What the calling thread does in pools.
struct thread_state {
    worker* here = nullptr; ///< its slot; null while it has none
    pool::thread* self = nullptr; ///< in the pool that it is in
    task_group* group = nullptr; ///< of the task that it runs
    const void* frame = nullptr; ///< where that task's part of the stack begins
    unsigned node = no_worker; ///< that the pool has bound it to
};
/// Read for each task, so its address must not cost a call of the dynamic linker.
extern constinit thread_local thread_state t_state __attribute__((tls_model("initial-exec")));
/// Lowest address of the calling thread's stack; 0 before it runs a task.
extern constinit thread_local std::uintptr_t t_stack_begin __attribute__((tls_model("initial-exec")));

/// The group of the running task if `object` is in that task's part of the stack, so that the task cannot end before
/// it; else null. A task may run on a stack of its own, as a coroutine does; memory between that stack and the thread's
/// is part of neither.
inline task_group* group_of_stack(const void* object) {
    const auto at = reinterpret_cast<std::uintptr_t>(object);
    return t_state.group && at > reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) && at >= t_stack_begin &&
                   at < reinterpret_cast<std::uintptr_t>(t_state.frame)
               ? t_state.group
               : nullptr;
}

inline worker* worker::current(const pool& of) {
    return t_state.here && &t_state.here->m_pool == &of ? t_state.here : nullptr;
}

} // namespace causeway::tasks
