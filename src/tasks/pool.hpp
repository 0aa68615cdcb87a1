// SPDX-License-Identifier: Apache-2.0
// A pool of workers that run tasks: its own threads, and the program's while they wait.
#pragma once

#include "tasks/address_map.hpp"
#include "tasks/deque.hpp"
#include "tasks/doorbell.hpp"
#include "tasks/inbox.hpp"
#include "tasks/policy.hpp"
#include "tasks/task.hpp"
#include "topology/machine.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <unordered_set>
#include <vector>

namespace causeway::tasks {

class run_record;

struct pool_options {
    unsigned threads = 0; ///< at work at once; 0 takes one for each core that this process may use
    unsigned callers = 1; ///< slots of them for waiting threads of the program; the pool starts the other threads
                          ///< itself
    bool bind = true;     ///< each thread of the pool stays on its node, where there are several
};

struct pool_statistics {
    std::uint64_t tasks = 0;      ///< that ran
    std::uint64_t dealt = 0;      ///< into inboxes
    std::uint64_t stolen = 0;     ///< from members of the own group
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

    /// Blocks until all tasks of the group are over. Meanwhile the calling thread runs tasks, if a worker slot is free.
    void wait(task_group& group);

    [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(m_workers.size()); }
    [[nodiscard]] pool_statistics statistics() const;
    [[nodiscard]] const grouping& groups() const { return m_grouping; }
    [[nodiscard]] const std::vector<unsigned>& node_of_worker() const { return m_node_of_worker; }
    /// Records tasks submitted from now on; null ends that. Call while there are no tasks.
    void set_record(run_record* record) { m_record = record; }
    /// Index of the calling worker; threads() for a thread that is none.
    [[nodiscard]] unsigned current_worker() const;

  private:
    friend class worker;
    struct alignas(64) group_queue {
        inbox<task> urgent, ordinary;
        std::atomic<double> backlog{0}; ///< distance-weighted bytes of what waits here
        std::atomic<std::uint32_t> taken{0}; ///< tasks that left the inboxes, or were stolen here
        doorbell<> bell;
        std::vector<worker*> members;
    };

    void prepare(task* made, task_group& group, std::span<const region> regions, bool held);
    /// If `is_child`, puts the task first in an inbox, so that a wait finds what its own task spawned, and stacks grow
    /// no deeper than the recursion.
    void make_ready(task* ready, worker* from, std::span<const region> regions, bool is_child = false);
    /// Runs up to `surplus` tasks, if a worker slot is free for the caller and work is found.
    void work_off(std::uint64_t surplus);
    /// Sleeps while the group's number of pending tasks keeps falling.
    static void let_catch_up(task_group& group);
    /// The group whose inbox the task goes to, or own_queue. Does not throw, as the task is counted by now.
    [[nodiscard]] unsigned deal(task* ready, worker* from, std::span<const region> regions);
    [[nodiscard]] unsigned deal_by_footprint(task* ready, worker* from, std::span<const region> regions);
    void tell_of_work(unsigned group);
    void wake_for(unsigned group);
    void wake_everyone();
    void start_threads(unsigned count);
    void work(worker& self);
    void help(worker& self, task_group& group);
    [[nodiscard]] worker* take_slot();
    [[nodiscard]] bool has_free_slot() const;
    /// Wakes threads that wait for a free slot.
    void free_slot(worker& slot);
    /// Ends all waiting tasks without running them. Call when all threads have stopped.
    void drain();
    /// Ends the hold. False if there is none.
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
    std::vector<std::unique_ptr<worker>> m_workers; ///< those of callers first
    unsigned m_callers = 0;
    /// Left behind by a child of fork(), which may not touch them.
    std::unique_ptr<std::vector<std::thread>> m_threads = std::make_unique<std::vector<std::thread>>();
    const pid_t m_process = ::getpid(); ///< which has the threads; a child of fork() has none
    std::atomic<unsigned> m_next_group{0}; ///< for tasks of threads that are no workers
    alignas(64) std::atomic<unsigned> m_asleep{0}; ///< at least the sum of all groups' sleeper counts
    std::atomic<bool> m_stopping{false};
    doorbell<> m_callers_bell; ///< for waiting threads that found no free slot
    run_record* m_record = nullptr;

    spin_lock m_held_lock; // guards m_held
    std::unordered_set<task*> m_held; ///< those that nobody has let go

    spin_lock m_spare_lock; // guards what follows
    task* m_batches = nullptr; ///< the first task of a batch; its `payload` is that of the next one
    task* m_loose = nullptr; ///< free tasks for threads that are no workers
    std::vector<std::unique_ptr<task[]>> m_slabs;
};

} // namespace causeway::tasks
