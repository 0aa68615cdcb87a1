// SPDX-License-Identifier: Apache-2.0
// The caches of a modelled machine, at region granularity: LRU, invalidated by writes elsewhere.
#pragma once

#include "tasks/region.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace causeway::tasks::simulator {

/// A last-level cache for each node. If cores have private caches, it is a victim cache: it gets what they evict. Other
/// cores do not see what a private cache holds.
class region_cache {
  public:
    region_cache(std::size_t cores, std::uint64_t private_bytes, std::size_t nodes, std::uint64_t shared_bytes)
        : m_private(cores, one(private_bytes)), m_shared(nodes, one(shared_bytes)) {}

    /// Accesses a region: true if it hits in the core's or its node's cache. Afterwards it is cached there, and after a
    /// write nowhere else.
    bool use(std::size_t core, std::size_t node, const region& what) {
        auto& version = m_versions[what.begin];
        auto &near = m_private[core], &far = m_shared[node];
        const bool is_near = near.has(what, version), is_far = far.has(what, version);
        if (what.writes()) ++version;
        near.remove(what.begin);
        const line now{what.begin, what.bytes, version};
        // What several cores read stays where all see it.
        if ((is_far && !what.writes()) || what.bytes > near.capacity) {
            far.put(now);
        } else {
            far.remove(what.begin);
            near.put(now);
        }
        for (; near.used > near.capacity; near.remove(near.lines.back().begin)) far.put(near.lines.back());
        while (far.used > far.capacity) far.remove(far.lines.back().begin);
        return is_near || is_far;
    }

  private:
    struct line {
        std::uintptr_t begin;
        std::uint64_t bytes, version;
    };
    struct one {
        explicit one(std::uint64_t bytes) : capacity(bytes) {}
        bool has(const region& what, std::uint64_t version) const {
            const auto known = by_begin.find(what.begin);
            return known != by_begin.end() && known->second->version == version && known->second->bytes >= what.bytes;
        }
        void remove(std::uintptr_t begin) {
            const auto known = by_begin.find(begin);
            if (known == by_begin.end()) return;
            used -= known->second->bytes;
            lines.erase(known->second);
            by_begin.erase(known);
        }
        /// May exceed the capacity until the caller removes something.
        void put(const line& added) {
            remove(added.begin);
            if (added.bytes > capacity) return;
            lines.push_front(added);
            by_begin[added.begin] = lines.begin();
            used += added.bytes;
        }
        std::uint64_t capacity, used = 0;
        std::list<line> lines; ///< used last first
        std::unordered_map<std::uintptr_t, std::list<line>::iterator> by_begin;
    };
    std::vector<one> m_private, m_shared;
    std::unordered_map<std::uintptr_t, std::uint64_t> m_versions;
};

} // namespace causeway::tasks::simulator
