// SPDX-License-Identifier: Apache-2.0
// Orders tasks by the memory that they read and write: a task waits for earlier ones that it conflicts with.
#pragma once

#include "base/spin_lock.hpp"
#include "tasks/region.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace causeway::tasks {

/// A task in the dependence graph. Reference-counted; shared by the domain, its task and its predecessors.
class dependence_node {
  public:
    /// `owner` is the task, which the last finish() of its predecessors passes to `start`.
    explicit dependence_node(void* owner) : m_owner(owner) {}

    void* owner() const { return m_owner; }
    /// Adds one thing to wait for. The count begins at 1.
    void hold() { m_waits.fetch_add(1, std::memory_order_relaxed); }
    /// Removes one. True if it was the last: the owner may start.
    [[nodiscard]] bool let_go() { return m_waits.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    [[nodiscard]] bool is_done() const { return m_done.load(std::memory_order_acquire); }
    /// The owner has ended: calls `start(owner)` for each successor that may start now.
    template <class Start> void finish(Start&& start) {
        std::vector<dependence_node*> successors;
        {
            const std::lock_guard lock(m_lock);
            m_done.store(true, std::memory_order_release);
            successors.swap(m_successors);
        }
        for (auto* each : successors) {
            if (each->let_go()) start(each->owner());
            each->release();
        }
    }
    /// Keeps the regions for deal(), once the owner may start.
    void remember(std::span<const region> regions) { m_regions.assign(regions.begin(), regions.end()); }
    [[nodiscard]] std::span<const region> remembered() const { return m_regions; }
    /// Without a lock: for simulators, which never finish() while they enter().
    [[nodiscard]] const std::vector<dependence_node*>& successors() const { return m_successors; }

    void retain() { m_references.fetch_add(1, std::memory_order_relaxed); }
    void release() {
        if (m_references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

  private:
    friend class dependence_domain;
    ~dependence_node() {
        for (auto* each : m_successors) each->release();
    }
    /// `next` waits for this one, unless it is done.
    void precede(dependence_node& next);

    void* const m_owner;
    std::vector<region> m_regions;
    std::atomic<unsigned> m_references{1}, m_waits{1};
    std::atomic<bool> m_done{false};
    spin_lock m_lock; // guards m_successors, and the change of m_done
    std::vector<dependence_node*> m_successors;
};

/// The dependence graph of one group. One thread at a time.
class dependence_domain {
  public:
    dependence_domain() = default;
    dependence_domain(const dependence_domain&) = delete;
    dependence_domain& operator=(const dependence_domain&) = delete;
    ~dependence_domain() { clear(); }

    /// Adds `node` after all earlier nodes whose regions conflict with its own: one hold() for each unfinished one.
    /// Ignores footprint regions. If it throws std::bad_alloc, the node may hold for some of them.
    void enter(dependence_node& node, std::span<const region> regions);
    /// Drops all nodes. Call when all are done.
    void clear();
    [[nodiscard]] std::size_t segments() const { return m_segments.size(); }

  private:
    struct segment {
        std::uintptr_t end = 0;
        dependence_node* writer = nullptr;
        std::vector<dependence_node*> readers;
    };
    using segments_by_begin = std::map<std::uintptr_t, segment>;

    void enter_range(dependence_node& node, const region& range);
    /// Splits the segment that contains `at`, if any.
    void split(std::uintptr_t at);
    static void drop(segment& which);
    void sweep();

    segments_by_begin m_segments; ///< disjoint
    std::size_t m_sweep_at = 1024;
};

} // namespace causeway::tasks
