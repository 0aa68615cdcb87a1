// SPDX-License-Identifier: Apache-2.0
// A list that mostly has one element, and reuses its elements.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <memory_resource>
#include <utility>

namespace causeway {

/// Elements keep their addresses. An element that is put away is reused as it was left. The first one lies within the
/// list; others come from the heap and are freed with the list.
template <class Element> class reused_list {
  public:
    using elements = std::pmr::list<Element>;
    using iterator = typename elements::iterator;

    /// Appends an element that was put away, or else a new one made of `arguments`.
    template <class... Arguments> Element& add(Arguments&&... arguments) {
        if (m_spare.empty()) m_spare.emplace_back(std::forward<Arguments>(arguments)...);
        m_used.splice(m_used.end(), m_spare, std::prev(m_spare.end()));
        return m_used.back();
    }
    /// Removes `which` and keeps it for add(). Returns the element behind it.
    iterator put_away(iterator which) {
        const auto next = std::next(which);
        m_spare.splice(m_spare.end(), m_used, which);
        return next;
    }

    [[nodiscard]] iterator begin() { return m_used.begin(); }
    [[nodiscard]] iterator end() { return m_used.end(); }
    [[nodiscard]] auto begin() const { return m_used.begin(); }
    [[nodiscard]] auto end() const { return m_used.end(); }
    [[nodiscard]] bool empty() const { return m_used.empty(); }
    [[nodiscard]] std::size_t size() const { return m_used.size(); }
    [[nodiscard]] Element& front() { return m_used.front(); }
    [[nodiscard]] Element& back() { return m_used.back(); }

  private:
    /// Large enough for what the known standard libraries ask for; else memory comes from the heap.
    struct node {
        void* links[2];
        Element element;
    };
    alignas(node) std::byte m_first[sizeof(node)];
    std::pmr::monotonic_buffer_resource m_room{m_first, sizeof m_first};
    elements m_used{&m_room}, m_spare{&m_room};
};

} // namespace causeway
