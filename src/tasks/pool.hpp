// SPDX-License-Identifier: Apache-2.0
// A pool of workers that run tasks: its own threads, and the program's while they wait.
#pragma once

#include "tasks/address_map.hpp"
#include "tasks/deque.hpp"
#include "tasks/doorbell.hpp"
#include "tasks/inbox.hpp"
#include "tasks/worker_slots.hpp"
#include "tasks/policy.hpp"
#include "tasks/task.hpp"
#include "topology/machine.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace causeway::tasks {

class run_record;

struct pool_options {
    unsigned threads = 0; ///< that run tasks at once; 0: one for each core that this process may use
    unsigned callers = 1; ///< how many of `threads` may be waiting threads of the program; the pool starts the others
    bool bind = true; ///< each thread of the pool stays on its node, where there are several
};

struct pool_statistics {
    std::uint64_t tasks = 0; ///< that ran
    std::uint64_t dealt = 0; ///< into inboxes
    std::uint64_t stolen = 0; ///< from members of the own group
    std::uint64_t stolen_far = 0; ///< from other groups
};

class worker;

/// Any thread may call.
class pool {
  public:
    /// `here` and `addresses` outlive it. Throws transfer_error if a thread cannot be started.
    pool(const topology::machine& here, const address_map& addresses, std::unique_ptr<policy> rules,
         const pool_options& options);
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    /// Lets running tasks finish. Waiting ones end without running, and their groups fail.
    ~pool();

    /// Allocates a task with `bytes` of payload. Throws std::bad_alloc. Pass it to submit() or discard().
    [[nodiscard]] task* make(std::size_t bytes, std::size_t alignment);
    /// Frees a task from make(), without calling its `destroy`.
    void discard(task* made);
    /// Passes ownership to the pool; the task may be over before this returns. If it throws std::bad_alloc, the task
    /// ends without running.
    void submit(task* made, task_group& group, std::span<const region> regions);
    /// The same without regions.
    void submit(task* made, task_group& group);
    /// As submit(), but the task starts only after let_go(), or ends with the pool.
    void submit_held(task* made, task_group& group, std::span<const region> regions);
    void let_go(task* held);

    /// Blocks until all tasks of the group are over. Meanwhile the calling thread runs tasks that the group needs, if
    /// it has a slot or one is free. If only other tasks are ready, it gives its slot to another thread until the wait
    /// is over. Such a task, run on top of the wait, could itself wait for something that only happens after the wait.
    void wait(task_group& group);

    [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(m_workers.size()); }
    [[nodiscard]] pool_statistics statistics() const;
    [[nodiscard]] const grouping& groups() const { return m_grouping; }
    [[nodiscard]] const std::vector<unsigned>& node_of_worker() const { return m_node_of_worker; }
    /// Records tasks submitted from now on; null ends that. Call while there are no tasks.
    void set_record(run_record* record) { m_record = record; }
    /// Index of the calling worker; threads() for a thread that is none.
    [[nodiscard]] unsigned current_worker() const;

    using thread = worker_slots<worker, task>::thread;

  private:
    friend class worker;
    struct alignas(64) group_queue {
        inbox<task> urgent, ordinary;
        std::atomic<double> backlog{0}; ///< distance-weighted bytes of what waits here
        std::atomic<std::uint32_t> taken{0}; ///< tasks that left the inboxes, or were stolen here
        std::atomic<unsigned> free{0}; ///< slots of this group without a thread
        doorbell<> bell;
        std::vector<worker*> members;
        /// True if some thread will run what is dealt here. If false, thieves need not spare it.
        [[nodiscard]] bool is_attended() const { return free.load(std::memory_order_seq_cst) < members.size(); }
    };

    void prepare(task* made, task_group& group, std::span<const region> regions, bool held);
    /// If `is_child`, puts the task first in an inbox, so that a wait finds what its own task spawned, and stacks grow
    /// no deeper than the recursion.
    void make_ready(task* ready, worker* from, std::span<const region> regions, bool is_child = false);
    /// Runs up to `surplus` tasks, if a slot is free for the caller and work is found.
    void work_off(std::uint64_t surplus);
    /// Sleeps while the group's number of pending tasks keeps falling.
    static void let_catch_up(task_group& group);
    /// The group whose inbox the task goes to, or own_queue. Does not throw, as the task is counted by now.
    [[nodiscard]] unsigned deal(task* ready, worker* from, std::span<const region> regions);
    [[nodiscard]] unsigned deal_by_footprint(task* ready, worker* from, std::span<const region> regions);
    void tell_of_work(unsigned group);
    void wake_for(unsigned group);
    /// Wakes one thread that sleeps in the group. False if none sleeps there.
    bool ring(unsigned group);
    void wake_everyone();
    /// Call where the last absent thread may have come back: if the pool stops, the others sleep until is_over().
    void wake_everyone_at_end();
    /// Wakes one holder of a slot, for a thread that wants one.
    void wake_any();
    /// Wakes the `sleepers` that the last task of `group` has found. The group may be gone.
    void end_sleep(const void* group, std::uint64_t sleepers);
    /// Starts a thread of the pool, which sleeps until it is given a slot. Null if there are most_threads, or the pool
    /// stops, or the system starts no more; `why` gets the cause.
    thread* start_thread(std::string* why = nullptr);
    void work(thread& self);
    /// Runs what the group needs; returns when it is done, or when the calling thread has no slot any more.
    void help(task_group& group);
    /// As wait(), for a thread that has no slot in this pool.
    void visit(task_group& group);
    /// Gives the slot to another thread, which begins with `first`; if `first` is null, only to one whose wait is
    /// over. Then sleeps until the group is done or a slot is there. False if no thread is to be had: nothing has
    /// happened.
    [[nodiscard]] bool block(task_group& group, task* first);
    /// The calling thread, `self`, gives its slot up.
    void leave(thread& self);
    /// The calling thread has left `slot`: wakes others for the work there, which thieves have perhaps spared.
    void tell_of_leaving(const worker& slot);
    /// The calling thread now works here; null: nowhere.
    void occupy(worker* slot);
    /// Whether threads of the pool may end: it stops, and nobody waits for what they run.
    [[nodiscard]] bool is_over() const {
        return m_stopping.load(std::memory_order_acquire) && m_slots.nobody_is_absent();
    }
    /// Ends all waiting tasks without running them. Call when all threads have stopped.
    void drain();
    void let_go_all_held();
    /// Ends the hold of a task. False if it is not held.
    bool forget_held(task* held);
    static void free_payload(task* over);
    /// A list of free tasks, 64 of them.
    [[nodiscard]] task* take_batch();
    void give_batch(task* first);
    [[nodiscard]] task* take_batch_locked();
    void give_batch_locked(task* first);

    const topology::machine& m_machine;
    const address_map& m_addresses;
    std::unique_ptr<policy> m_policy;
    bool m_reads_footprints = false, m_deals = false;
    grouping m_grouping;
    std::vector<unsigned> m_node_of_worker; ///< where its thread is bound
    std::vector<std::unique_ptr<group_queue>> m_groups;
    std::vector<std::unique_ptr<worker>> m_workers; ///< the slots
    const bool m_bind;
    worker_slots<worker, task> m_slots;
    std::mutex m_threads_mutex; // guards m_threads, and additions to m_selves
    std::vector<std::unique_ptr<thread>> m_selves; ///< of m_threads
    /// A child of fork() never frees it, because it may not touch these threads.
    std::unique_ptr<std::vector<std::thread>> m_threads = std::make_unique<std::vector<std::thread>>();
    const pid_t m_process = ::getpid(); ///< which has the threads; a child of fork() has none
    std::atomic<unsigned> m_next_group{0}; ///< for tasks of threads that are no workers
    alignas(64) std::atomic<unsigned> m_asleep{0}; ///< at least the sum of all groups' sleeper counts
    std::atomic<bool> m_stopping{false};
    run_record* m_record = nullptr;

    spin_lock m_held_lock; // guards m_held
    std::unordered_set<task*> m_held; ///< those that nobody has let go

    spin_lock m_spare_lock; // guards what follows
    task* m_batches = nullptr; ///< first task of the first batch; its `payload` is the first task of the next one
    task* m_loose = nullptr; ///< free tasks for threads that are no workers
    std::vector<std::unique_ptr<task[]>> m_slabs;
};

} // namespace causeway::tasks
