// SPDX-License-Identifier: Apache-2.0
// One table of granules, one list of extents; entries of removed layouts are used again last.
#include "tasks/address_map.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace causeway::tasks {

namespace {

std::uint64_t table_bytes(std::uint64_t bytes, std::uint64_t granule) {
    return bytes / granule * sizeof(std::atomic<std::uint64_t>);
}

} // namespace

address_map::address_map(std::uintptr_t begin, std::uint64_t bytes, std::uint64_t granule)
    : m_begin(begin), m_bytes(bytes), m_granule(granule), m_blocks(new std::atomic<block*>[most_blocks] {}) {
    // Fresh pages are zero, which is an atomic of 0: nothing has to be constructed.
    void* const table = ::mmap(nullptr, table_bytes(bytes, granule), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) throw std::bad_alloc();
    m_table = static_cast<std::atomic<std::uint64_t>*>(table);
}

address_map::~address_map() {
    for (std::size_t each = 0; each < most_blocks; ++each) delete m_blocks[each].load();
    ::munmap(m_table, table_bytes(m_bytes, m_granule));
}

void address_map::add(const layout& made) {
    const std::lock_guard lock(m_mutex);
    std::uint32_t index = 0;
    if (!m_free.empty()) {
        index = m_free.front();
        m_free.pop_front();
    } else {
        if (m_used == block_entries * most_blocks) throw std::bad_alloc();
        if (m_used % block_entries == 0) m_blocks[m_used / block_entries].store(new block, std::memory_order_release);
        index = ++m_used;
    }
    entry(index).write(made);
    const auto first = (made.begin - m_begin) / m_granule, count = made.bytes / m_granule;
    const auto granules_of_unit = std::max<std::uint64_t>(1, made.unit / m_granule);
    std::uint64_t done = 0;
    try {
        for (std::uint64_t cell = 0; done < count; ++done) {
            // Units of `fine` count from address 0: one may end within.
            if (made.how == distribution::fine || done % granules_of_unit == 0)
                cell = (std::uint64_t{made.node_of(made.begin + done * m_granule)} + 1) << 32 | index;
            m_table[first + done].store(cell, std::memory_order_release);
        }
    } catch (...) { // of the program's placement
        while (done != 0) m_table[first + --done].store(0, std::memory_order_release);
        m_free.push_back(index);
        throw;
    }
}

bool address_map::remove(std::uintptr_t begin, extent& removed) {
    const std::lock_guard lock(m_mutex);
    if (!find(begin, removed) || removed.begin != begin) return false;
    const auto first = (begin - m_begin) / m_granule;
    m_free.push_back(static_cast<std::uint32_t>(m_table[first].load()));
    for (std::uint64_t each = 0; each < removed.bytes / m_granule; ++each)
        m_table[first + each].store(0, std::memory_order_release);
    return true;
}

std::uint64_t address_map::count(const region& range, std::uint64_t* counts) const {
    std::uint64_t foreign = 0;
    for (auto from = range.begin; from - range.begin < range.bytes;) {
        const auto left = range.bytes - (from - range.begin);
        extent known;
        if (find(from, known) && known.how != distribution::plugin) {
            const auto step = std::min<std::uint64_t>(left, known.begin + known.bytes - from);
            known.count(from, step, counts);
            from += step;
            continue;
        }
        // Ahead by one granule where the table covers it, else all of it.
        const auto step = from - m_begin < m_bytes ? std::min(left, m_granule - (from - m_begin) % m_granule) : left;
        if (const int node = node_of(from); node != unknown)
            counts[node] += step;
        else
            foreign += step;
        from += step;
    }
    return foreign;
}

} // namespace causeway::tasks
