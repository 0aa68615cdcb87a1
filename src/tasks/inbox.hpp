// SPDX-License-Identifier: Apache-2.0
// Queue of tasks dealt to a group of workers.
#pragma once

#include "base/spin_lock.hpp"
#include "tasks/deque.hpp"

#include <cstddef>
#include <mutex>
#include <utility>

namespace causeway::tasks {

/// FIFO, except push_first(); intrusive, linked by the elements' `next`. Any thread. Dealt tasks run for microseconds
/// at least, so a lock of some nanoseconds is no bottleneck; an empty inbox costs one load.
template <class Element, class Atomics = real_atomics, class Lock = spin_lock> class inbox {
  public:
    void push(Element* element) {
        element->next = nullptr;
        const std::lock_guard lock(m_lock);
        (m_last ? m_last->next : m_first) = element;
        m_last = element;
        m_size.store(m_size.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    /// Puts an element before all others.
    void push_first(Element* element) {
        const std::lock_guard lock(m_lock);
        element->next = m_first;
        m_first = element;
        if (!m_last) m_last = element;
        m_size.store(m_size.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    /// Null if there is none.
    Element* take() {
        if (m_size.load(std::memory_order_acquire) == 0) return nullptr;
        const std::lock_guard lock(m_lock);
        auto* const element = m_first;
        if (!element) return nullptr;
        m_first = element->next;
        if (!m_first) m_last = nullptr;
        m_size.store(m_size.load(std::memory_order_relaxed) - 1, std::memory_order_release);
        return element;
    }
    /// Removes the first element for which `wanted` is true, among the first `looks`; null if there is none. Calls
    /// `wanted` under the lock.
    template <class Wanted> Element* take_if(std::size_t looks, Wanted&& wanted) {
        if (m_size.load(std::memory_order_acquire) == 0) return nullptr;
        const std::lock_guard lock(m_lock);
        Element* before = nullptr;
        for (auto* each = m_first; each && looks != 0; before = std::exchange(each, each->next), --looks) {
            if (!wanted(*each)) continue;
            (before ? before->next : m_first) = each->next;
            if (m_last == each) m_last = before;
            m_size.store(m_size.load(std::memory_order_relaxed) - 1, std::memory_order_release);
            return each;
        }
        return nullptr;
    }
    [[nodiscard]] std::size_t size() const { return m_size.load(std::memory_order_acquire); }

  private:
    Lock m_lock; // guards m_first, m_last
    Element *m_first = nullptr, *m_last = nullptr;
    alignas(64) typename Atomics::template atomic<std::size_t> m_size{0};
};

} // namespace causeway::tasks
