// SPDX-License-Identifier: Apache-2.0
// The work-stealing deque of Chase and Lev (SPAA 2005), in the memory orders of Le and others (PPoPP 2013).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace causeway::tasks {

/// The atomics that the deque uses. Tests replace them by ones that explore every interleaving.
struct real_atomics {
    template <class Value> using atomic = std::atomic<Value>;
    static void fence() {
#if defined __SANITIZE_THREAD__
        // ThreadSanitizer does not support fences; a sequentially consistent read-modify-write is as strong.
        static std::atomic<int> order{0};
        order.fetch_add(0, std::memory_order_seq_cst);
#else
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    }
};

/// The owner pushes and pops at one end, any thread steals at the other. Does not own what its pointers point to. Grows
/// without bound; outgrown arrays live as long as the deque, because a thief may still read them.
template <class Element, class Atomics = real_atomics> class deque {
  public:
    explicit deque(std::int64_t capacity = 256) { m_array.store(add_array(capacity), std::memory_order_relaxed); }
    deque(const deque&) = delete;
    deque& operator=(const deque&) = delete;

    /// Owner only. False if it has no room and there is no memory for more: nothing is pushed.
    bool push(Element* element) {
        const auto bottom = m_bottom.load(std::memory_order_relaxed);
        const auto top = m_top.load(std::memory_order_acquire);
        auto* array = m_array.load(std::memory_order_relaxed);
        if (bottom - top >= array->capacity) try {
                array = grow(array, top, bottom);
            } catch (const std::bad_alloc&) {
                return false;
            }
        array->at(bottom).store(element, std::memory_order_relaxed);
        m_bottom.store(bottom + 1, std::memory_order_release);
        return true;
    }

    /// Owner only. Removes what was pushed last; null if empty.
    Element* pop() {
        const auto bottom = m_bottom.load(std::memory_order_relaxed) - 1;
        // Empty for sure if it looks so: top never falls.
        if (bottom < m_top.load(std::memory_order_relaxed)) return nullptr;
        auto* array = m_array.load(std::memory_order_relaxed);
        m_bottom.store(bottom, std::memory_order_relaxed);
        Atomics::fence();
        auto top = m_top.load(std::memory_order_relaxed);
        if (top > bottom) {
            m_bottom.store(bottom + 1, std::memory_order_relaxed);
            return nullptr;
        }
        auto* element = array->at(bottom).load(std::memory_order_relaxed);
        if (top == bottom) {
            if (!m_top.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
                element = nullptr;
            m_bottom.store(bottom + 1, std::memory_order_relaxed);
        }
        return element;
    }

    /// Any thread. Removes what was pushed first; null if empty, or if another thread took it at the same time.
    Element* steal() {
        auto top = m_top.load(std::memory_order_acquire);
        Atomics::fence();
        const auto bottom = m_bottom.load(std::memory_order_acquire);
        if (top >= bottom) return nullptr;
        auto* element = m_array.load(std::memory_order_acquire)->at(top).load(std::memory_order_relaxed);
        if (!m_top.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
            return nullptr;
        return element;
    }

    /// Any thread. Approximate length.
    [[nodiscard]] std::int64_t size() const {
        const auto bottom = m_bottom.load(std::memory_order_relaxed);
        const auto top = m_top.load(std::memory_order_relaxed);
        return bottom > top ? bottom - top : 0;
    }

  private:
    struct ring {
        explicit ring(std::int64_t size) : capacity(size), slots(static_cast<std::size_t>(size)) {}
        auto& at(std::int64_t index) { return slots[static_cast<std::size_t>(index & (capacity - 1))]; }
        const std::int64_t capacity; ///< a power of two
        std::vector<typename Atomics::template atomic<Element*>> slots;
    };

    ring* add_array(std::int64_t capacity) { return m_arrays.emplace_back(std::make_unique<ring>(capacity)).get(); }
    ring* grow(ring* old, std::int64_t top, std::int64_t bottom) {
        auto* larger = add_array(old->capacity * 2);
        for (auto each = top; each < bottom; ++each)
            larger->at(each).store(old->at(each).load(std::memory_order_relaxed), std::memory_order_relaxed);
        m_array.store(larger, std::memory_order_release);
        return larger;
    }

    alignas(64) typename Atomics::template atomic<std::int64_t> m_top{0};
    alignas(64) typename Atomics::template atomic<std::int64_t> m_bottom{0};
    typename Atomics::template atomic<ring*> m_array{nullptr};
    std::vector<std::unique_ptr<ring>> m_arrays; ///< the owner's
};

} // namespace causeway::tasks
