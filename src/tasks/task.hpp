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

/// Two cache lines: what the scheduler needs, and a payload of up to 64 bytes.
struct alignas(64) task {
    static constexpr std::size_t inline_bytes = 64;

    task* next = nullptr; ///< in an inbox, or in a list of free tasks
    task_function function = nullptr;
    task_function destroy = nullptr; ///< destroys the payload after `function`, or instead of it; may be null
    void* payload = nullptr;         ///< `room`, memory of its own, or the program's argument
    task_group* group = nullptr;
    dependence_node* node = nullptr; ///< its node in the dependence graph; null without dependences
    std::uint32_t record = 0;        ///< its number in a record of the run
    float load = 0;                  ///< what it adds to the backlog of the inbox that it is dealt to
    std::uint16_t alignment = 0; ///< of payload memory of its own; else 0
    std::uint8_t urgent = 0;
    came_by way = came_by::own_queue; ///< how it reached its worker
    std::uint8_t void_of_work = 0; ///< it ends without running
    alignas(std::max_align_t) std::byte room[inline_bytes];
};

/// Tasks that are waited for together. Dependences hold only within a group. Several threads may spawn into it at once.
class task_group {
  public:
    /// `made_in`: the group of the task that has made this group on its stack, and so cannot end before it; null if
    /// there is none.
    explicit task_group(pool* owner, task_group* made_in = nullptr) : m_pool(owner), m_made_in(made_in) {}
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    /// The pool that the group's tasks run in; null if the program gave none.
    [[nodiscard]] pool* owner() const { return m_pool; }
    [[nodiscard]] bool is_done() const { return m_pending.load(std::memory_order_acquire) < one; }
    [[nodiscard]] std::uint64_t pending() const { return m_pending.load(std::memory_order_relaxed) / one; }
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
    /// Returns how the group ended, and resets it for reuse. Call when all its tasks are over.
    outcome settle() {
        outcome ended{nullptr, is_cancelled()};
        if (ended.cancelled) {
            ended.failure = std::exchange(m_failure, nullptr);
            m_cancelled.store(false, std::memory_order_relaxed);
        }
        m_pending.fetch_and(~(one - 1), std::memory_order_relaxed);
        spawns_on_to(0);
        if (m_domain) m_domain->clear();
        return ended;
    }

    /// Orders a task after earlier tasks whose regions conflict with its own. `node` waits for each of them, and for
    /// one let_go() by the caller.
    void enter(dependence_node& node, std::span<const region> regions) {
        const std::lock_guard lock(m_domain_mutex);
        if (!m_domain) m_domain = std::make_unique<dependence_domain>();
        m_domain->enter(node, regions);
    }

    void add_one() { m_pending.fetch_add(one, std::memory_order_relaxed); }
    /// Counts a task as ended. If it was the last, returns who sleeps: the caller must wake them. The group may already
    /// be destroyed when this returns.
    [[nodiscard]] std::uint64_t end_one() {
        const auto before = m_pending.fetch_sub(one, std::memory_order_acq_rel);
        return before < 2 * one ? before - one : 0;
    }
    /// Below this number of pending tasks, spawners do not wait for the pool to catch up, because an earlier wait did
    /// not help.
    [[nodiscard]] std::uint64_t spawns_on_to() const { return m_spawns_on_to.load(std::memory_order_relaxed); }
    void spawns_on_to(std::uint64_t pending) { m_spawns_on_to.store(pending, std::memory_order_relaxed); }
    /// Announces that a thread will sleep until the group is done: the last end_one() returns `how`. False if the group
    /// is done.
    bool announce_sleeper(std::uint64_t how) { return m_pending.fetch_or(how, std::memory_order_seq_cst) >= one; }
    static constexpr std::uint64_t sleeps_at_its_slot = 1, sleeps_without_slot = 2;

    /// Notes that a task of `other` now waits for this group; null: no task does, or its wait has ended.
    void waited_for_in(task_group* other) {
        if (!m_made_in) m_waited_for_in.store(other, std::memory_order_release);
    }
    /// True if this group cannot end before `which`: a task of this group, or of a group that one of its tasks has made
    /// on its stack or waits for; and so on through such groups. Call for a task that is not over, so that
    /// none of these groups ends meanwhile.
    [[nodiscard]] bool needs(const task& which) const {
        auto* group = which.group;
        for (int steps = 0; group && steps < longest_chain; ++steps) {
            if (group == this) return true;
            group = group->m_made_in ? group->m_made_in : group->m_waited_for_in.load(std::memory_order_acquire);
        }
        return false;
    }
    /// The worker that last stole a task of the group; its deque has what that task spawns.
    [[nodiscard]] unsigned thief() const { return m_thief.load(std::memory_order_relaxed); }
    void stolen_by(unsigned worker) { m_thief.store(worker, std::memory_order_relaxed); }

  private:
    static constexpr std::uint64_t one = 4;
    static constexpr int longest_chain = 1000; ///< a longer one is not looked through: the answer is no
    pool* m_pool;
    task_group* const m_made_in;
    std::atomic<std::uint64_t> m_pending{0}; ///< 4 x the tasks that are not over, plus bits of announce_sleeper()
    std::atomic<task_group*> m_waited_for_in{nullptr};
    std::atomic<unsigned> m_thief{no_worker};
    std::atomic<std::uint64_t> m_spawns_on_to{0};
    std::atomic<bool> m_cancelled{false};
    spin_lock m_lock; // guards m_failure
    std::exception_ptr m_failure;
    spin_lock m_domain_mutex; // guards m_domain
    std::unique_ptr<dependence_domain> m_domain;
};

} // namespace causeway::tasks
