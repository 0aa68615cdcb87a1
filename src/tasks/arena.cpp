// SPDX-License-Identifier: Apache-2.0
// Takes addresses from the smallest hole that fits, makes them readable, binds them, and remembers them.
#include "tasks/arena.hpp"

#include "base/error.hpp"
#include "topology/binding.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>
#include <string>
#include <utility>

namespace causeway::tasks {

namespace {

constexpr std::uint64_t huge_page = 2u << 20;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Address space alone: nothing is there until it is touched. Limits of address space get a smaller range. `begin` is
/// the first address wanted, and gets the one that was had.
std::uint64_t reserve(std::uintptr_t& begin) {
    constexpr std::uintptr_t step = 1ull << 40, low_end = 16 * step;
    const auto take = [&](std::uintptr_t wanted, std::uint64_t bytes) {
        void* const range = ::mmap(reinterpret_cast<void*>(wanted), bytes, PROT_NONE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) return false;
        const auto got = reinterpret_cast<std::uintptr_t>(range);
        const bool taken = wanted == 0 || got == wanted;
        if (taken)
            begin = got;
        else
            ::munmap(range, bytes);
        return taken;
    };
    for (std::uint64_t bytes = step; bytes >= 1ull << 30; bytes /= 4) {
        for (auto wanted = begin; wanted < low_end; wanted += step)
            if (take(wanted, bytes)) return bytes;
        if (take(0, bytes)) return bytes;
    }
    throw std::bad_alloc();
}

/// Whether each version of Linux interleaves by turns that count from address 0. Those before 6.7 take the low 32 bits
/// of a page's number.
bool is_interleaved_by_address(std::uintptr_t end, std::uint64_t page, std::size_t nodes) {
    return std::has_single_bit(nodes) || (end - 1) / page < 1ull << 32;
}

class machine_binder final : public page_binder {
  public:
    explicit machine_binder(const topology::machine& here) : m_machine(here) {
        for (const auto& node : here.nodes)
            if (!node.cores.empty()) m_interleaved.push_back(node.os_index);
    }
    bool bind(void* address, std::size_t bytes, unsigned node) override {
        return m_machine.nodes.size() == 1 || topology::bind_area(address, bytes, m_machine.nodes[node].os_index);
    }
    bool interleave(void* address, std::size_t bytes) override {
        return m_machine.nodes.size() == 1 || topology::interleave_area(address, bytes, m_interleaved);
    }
    unsigned current_node() override {
        unsigned cpu = 0, node = 0;
        if (::getcpu(&cpu, &node) != 0) return 0;
        for (unsigned each = 0; each < m_machine.nodes.size(); ++each)
            if (m_machine.nodes[each].os_index == node) return each;
        return 0;
    }

  private:
    const topology::machine& m_machine;
    std::vector<unsigned> m_interleaved;
};

} // namespace

std::unique_ptr<page_binder> system_binder(const topology::machine& here) {
    return std::make_unique<machine_binder>(here);
}

arena::arena(const topology::machine& here, std::unique_ptr<page_binder> binder, std::uintptr_t wanted)
    : m_machine(here), m_binder(std::move(binder)), m_begin(wanted), m_bytes(reserve(m_begin)),
      m_map(m_begin, m_bytes, here.page_bytes) {
    for (unsigned node = 0; node < here.nodes.size(); ++node)
        if (!here.nodes[node].cores.empty()) m_nodes.push_back(node);
    m_turns = m_nodes;
    std::ranges::sort(m_turns, {}, [&](unsigned node) { return here.nodes[node].os_index; });
    m_interleaves = is_interleaved_by_address(m_begin + m_bytes, here.page_bytes, m_turns.size());
    add_hole(m_begin, m_bytes);
}

arena::~arena() { ::munmap(reinterpret_cast<void*>(m_begin), m_bytes); }

void* arena::allocate(const allocation_request& request) {
    const std::uint64_t page = m_machine.page_bytes;
    const auto unit = request.unit == 0 ? page : request.unit;
    if (unit % page != 0)
        throw transfer_error(status::invalid_value, "an allocation of " + bytes_text(request.bytes) + ": the unit of " +
                                                        bytes_text(unit) + " is no multiple of the page of " +
                                                        bytes_text(page));
    if (request.bytes > m_bytes / 2 || unit > m_bytes / 2) throw std::bad_alloc();
    layout made;
    made.how = request.how == distribution::standard ? distribution::local : request.how;
    made.unit = unit;
    made.bytes = rounded_up(std::max<std::uint64_t>(request.bytes, 1), unit);
    made.nodes = static_cast<unsigned>(m_nodes.size());
    made.node = made.how == distribution::coarse
                    ? m_nodes[m_next_node.fetch_add(1, std::memory_order_relaxed) % m_nodes.size()]
                    : m_binder->current_node();
    made.turns = m_turns.data();
    if (made.how == distribution::plugin)
        made.place = [this, inner = request.place](std::uint64_t which, std::uint64_t all, unsigned count) {
            return m_nodes[inner(which, all, count) % count];
        };
    made.begin = take_addresses(made.bytes, made.how == distribution::fine || unit >= huge_page ? unit : page);
    void* const memory = reinterpret_cast<void*>(made.begin);
    if (::mprotect(memory, made.bytes, PROT_READ | PROT_WRITE) != 0) {
        give_addresses_back(made.begin, made.bytes);
        throw std::bad_alloc();
    }
    // A huge page has one node: small units forbid them, large ones want them.
    if (m_machine.nodes.size() > 1 && made.how != distribution::local)
        ::madvise(memory, made.bytes,
                  made.how != distribution::coarse && unit < huge_page ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    try {
        if (!bind(made, request.how)) m_unbound.fetch_add(1, std::memory_order_relaxed);
        m_map.add(made);
    } catch (...) { // no memory, or a placement that throws
        give_memory_back(made.begin, made.bytes);
        throw;
    }
    return memory;
}

bool arena::bind(const layout& made, distribution asked) {
    void* const memory = reinterpret_cast<void*>(made.begin);
    if (made.how == distribution::coarse || (made.how == distribution::local && asked == distribution::local))
        return m_binder->bind(memory, made.bytes, made.node);
    if (made.how == distribution::local) return true;
    if (made.how == distribution::fine && made.unit == m_machine.page_bytes && m_interleaves)
        return m_binder->interleave(memory, made.bytes);
    bool bound = true;
    for (auto from = made.begin; bound && from < made.begin + made.bytes; from += made.unit)
        bound = m_binder->bind(reinterpret_cast<void*>(from), made.unit, made.node_of(from));
    return bound;
}

bool arena::release(void* address) {
    extent removed;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    if (!m_map.remove(begin, removed)) {
        if (begin - m_begin >= m_bytes) return false;
        throw transfer_error(status::invalid_value, "an address of distributed memory at which no allocation begins");
    }
    give_memory_back(removed.begin, removed.bytes);
    return true;
}

void arena::give_memory_back(std::uintptr_t begin, std::uint64_t bytes) {
    void* const memory = reinterpret_cast<void*>(begin);
    // A fresh mapping gives back pages and forgets their binding, but a hole in the midst of one makes three of it, and
    // a process may have few (vm.max_map_count). Small areas stay mapped and bound; their next allocation binds anew.
    const auto empty = [&] { return ::madvise(memory, bytes, MADV_DONTNEED) == 0; };
    const auto replace = [&] {
        return ::mmap(memory, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
               MAP_FAILED;
    };
    if (bytes < huge_page ? empty() || replace() : replace() || empty()) give_addresses_back(begin, bytes);
}

std::uint64_t arena::bytes_in_use() const {
    const std::lock_guard lock(m_mutex);
    return m_in_use;
}

std::uintptr_t arena::take_addresses(std::uint64_t bytes, std::uint64_t alignment) {
    const std::lock_guard lock(m_mutex);
    for (auto fit = m_holes_by_bytes.lower_bound({bytes, 0}); fit != m_holes_by_bytes.end(); ++fit) {
        const auto [room, begin] = *fit;
        const auto aligned = rounded_up(begin, alignment);
        if (aligned - begin + bytes > room) continue;
        remove_hole(m_holes.find(begin));
        if (aligned != begin) add_hole(begin, aligned - begin);
        if (const auto end = aligned + bytes; end != begin + room) add_hole(end, begin + room - end);
        m_in_use += bytes;
        return aligned;
    }
    throw std::bad_alloc();
}

void arena::give_addresses_back(std::uintptr_t begin, std::uint64_t bytes) {
    const std::lock_guard lock(m_mutex);
    m_in_use -= bytes;
    auto next = m_holes.lower_bound(begin);
    if (next != m_holes.end() && next->first == begin + bytes) {
        bytes += next->second;
        next = remove_hole(next);
    }
    if (next != m_holes.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == begin) {
            begin = before->first;
            bytes += before->second;
            remove_hole(before);
        }
    }
    add_hole(begin, bytes);
}

void arena::add_hole(std::uintptr_t begin, std::uint64_t bytes) {
    m_holes.emplace(begin, bytes);
    m_holes_by_bytes.emplace(bytes, begin);
}

arena::holes::iterator arena::remove_hole(holes::iterator which) {
    m_holes_by_bytes.erase({which->second, which->first});
    return m_holes.erase(which);
}

} // namespace causeway::tasks
