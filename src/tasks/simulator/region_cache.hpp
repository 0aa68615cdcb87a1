// SPDX-License-Identifier: Apache-2.0
// The last-level caches of a modelled machine, by regions: what was used last, and has not been written elsewhere
// since.
#pragma once

#include "tasks/region.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace causeway::tasks::simulator {

class region_cache {
  public:
    region_cache(std::size_t caches, std::uint64_t bytes) : m_bytes(bytes), m_caches(caches) {}

    /// Whether the cache has the region; afterwards it does, and after a write no other one.
    bool use(std::size_t which, const region& what) {
        auto& version = m_versions[what.begin];
        auto& cache = m_caches[which];
        const auto known = cache.by_begin.find(what.begin);
        const bool has = known != cache.by_begin.end() && known->second->version == version &&
                         known->second->bytes >= what.bytes;
        if (what.writes()) ++version;
        if (known != cache.by_begin.end()) {
            cache.used -= known->second->bytes;
            cache.lines.erase(known->second);
            cache.by_begin.erase(known);
        }
        if (what.bytes > m_bytes) return false;
        cache.lines.push_front({what.begin, what.bytes, version});
        cache.by_begin[what.begin] = cache.lines.begin();
        for (cache.used += what.bytes; cache.used > m_bytes; cache.lines.pop_back()) {
            cache.used -= cache.lines.back().bytes;
            cache.by_begin.erase(cache.lines.back().begin);
        }
        return has;
    }

  private:
    struct line {
        std::uintptr_t begin;
        std::uint64_t bytes, version;
    };
    struct one {
        std::list<line> lines; ///< used last first
        std::unordered_map<std::uintptr_t, std::list<line>::iterator> by_begin;
        std::uint64_t used = 0;
    };
    const std::uint64_t m_bytes;
    std::vector<one> m_caches;
    std::unordered_map<std::uintptr_t, std::uint64_t> m_versions;
};

} // namespace causeway::tasks::simulator
