// SPDX-License-Identifier: Apache-2.0
// A task, from its spawn to its end, and the group that waits for it.
#pragma once

#include "base/spin_lock.hpp"
#include "tasks/came_by.hpp"
#include "tasks/dependences.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

namespace causeway::tasks {

class pool;
class task_group;

using task_function = void (*)(void* payload);

/// Two lines of the cache: what the scheduler needs, and the payload if it is small.
struct alignas(64) task {
    static constexpr std::size_t inline_bytes = 64;

    task* next = nullptr; ///< in an inbox, or in a list of free tasks
    task_function function = nullptr;
    task_function destroy = nullptr; ///< ends the payload's life after function, or instead of it; may be null
    void* payload = nullptr;         ///< `room`, memory of its own, or the program's argument
    task_group* group = nullptr;
    dependence_node* node = nullptr; ///< of tasks that others are ordered with
    std::uint32_t record = 0;        ///< its number in a record of the run
    float load = 0;                  ///< what it adds to the backlog of the inbox that it is dealt to
    std::uint16_t alignment = 0; ///< of payload memory of its own; else 0
    std::uint8_t urgent = 0;
    came_by way = came_by::own_queue; ///< how it reached its worker
    std::uint8_t void_of_work = 0; ///< it ends without running
    alignas(std::max_align_t) std::byte room[inline_bytes];
};

/// Tasks that are waited for together. Dependences order tasks of one group only. Several threads may spawn into it at
/// once.
class task_group {
  public:
    explicit task_group(pool* owner) : m_pool(owner) {}
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    /// The pool that the group's tasks run in; null if the program gave none.
    [[nodiscard]] pool* owner() const { return m_pool; }
    [[nodiscard]] bool is_done() const { return m_pending.load(std::memory_order_acquire) < 2; }
    [[nodiscard]] std::uint64_t pending() const { return m_pending.load(std::memory_order_relaxed) / 2; }
    [[nodiscard]] bool is_cancelled() const { return m_cancelled.load(std::memory_order_relaxed); }
    /// Tasks that have not started will not run.
    void cancel() { m_cancelled.store(true, std::memory_order_relaxed); }
    /// As cancel(); the first failure is kept.
    void fail(std::exception_ptr failure) {
        const std::lock_guard lock(m_lock);
        if (!m_failure) m_failure = std::move(failure);
        cancel();
    }
    struct outcome {
        std::exception_ptr failure; ///< or null
        bool cancelled = false;
    };
    /// Call when all tasks are over; makes the group as new.
    outcome settle() {
        outcome ended{nullptr, is_cancelled()};
        if (ended.cancelled) {
            ended.failure = std::exchange(m_failure, nullptr);
            m_cancelled.store(false, std::memory_order_relaxed);
        }
        m_pending.fetch_and(~std::uint64_t{1}, std::memory_order_relaxed);
        spawns_on_to(0);
        if (m_domain) m_domain->clear();
        return ended;
    }

    /// Orders a task after earlier tasks whose regions overlap its own. `node` then waits for each of them, and once
    /// more, until the caller releases it.
    void enter(dependence_node& node, std::span<const region> regions) {
        const std::lock_guard lock(m_domain_mutex);
        if (!m_domain) m_domain = std::make_unique<dependence_domain>();
        m_domain->enter(node, regions);
    }

    void add_one() { m_pending.fetch_add(2, std::memory_order_relaxed); }
    /// One task has ended. True if it was the last and a thread sleeps, which the caller must wake. The group may be
    /// gone when this returns.
    [[nodiscard]] bool end_one() { return m_pending.fetch_sub(2, std::memory_order_acq_rel) == 3; }
    /// Spawners do not wait for the pool to catch up while fewer tasks than this are pending: an earlier wait was in
    /// vain.
    [[nodiscard]] std::uint64_t spawns_on_to() const { return m_spawns_on_to.load(std::memory_order_relaxed); }
    void spawns_on_to(std::uint64_t pending) { m_spawns_on_to.store(pending, std::memory_order_relaxed); }
    /// A thread is going to sleep until the group is done: end_one() of the last task then returns true.
    void announce_sleeper() { m_pending.fetch_or(1, std::memory_order_seq_cst); }

  private:
    pool* m_pool;
    std::atomic<std::uint64_t> m_pending{0}; ///< twice the tasks that are not over, and 1 if somebody sleeps
    std::atomic<std::uint64_t> m_spawns_on_to{0};
    std::atomic<bool> m_cancelled{false};
    spin_lock m_lock; // guards m_failure
    std::exception_ptr m_failure;
    spin_lock m_domain_mutex; // guards m_domain
    std::unique_ptr<dependence_domain> m_domain;
};

} // namespace causeway::tasks
