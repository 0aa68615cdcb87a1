// SPDX-License-Identifier: Apache-2.0
// Meetings of all PEs in shared memory, and who is still there.
#include "endpoints/symmetric/heap.hpp"

#include <algorithm>
#include <utility>

namespace causeway::endpoints {

namespace {

/// A look at a process is a system call.
constexpr auto between_looks = std::chrono::milliseconds(2);

} // namespace

heap::heap(heap_waits& waits, int pe, std::size_t bytes, std::vector<heap_member> members)
    : m_waits(waits), m_pe(pe), m_bytes(bytes), m_members(std::move(members)) {}

void heap::look_at_processes(time_point now) {
    if (m_dead || now < m_next_look) return;
    m_next_look = now + between_looks;
    for (int pe = 0; pe < pes(); ++pe) {
        const auto& each = m_members[static_cast<std::size_t>(pe)];
        if (pe == m_pe || !each.process.is_gone()) continue;
        const auto& state = reinterpret_cast<const heap_control::head*>(each.control)->state;
        if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == heap_control::has_left) continue;
        m_dead_pe = pe;
        m_dead = {status::peer_failed, 0, 0,
                  "PE " + std::to_string(pe) + " is gone: its process " + std::to_string(each.number) +
                      " ended without causeway_symmetric_finalize or MPI_Finalize"};
        return;
    }
}

failure heap::trouble_with(int pe, time_point now) {
    look_at_processes(now);
    return m_dead_pe == pe ? m_dead : failure{};
}

failure heap::trouble(time_point now) {
    look_at_processes(now);
    if (m_dead || pes() == 1) return m_dead;
    for (int pe = 0; pe < pes(); ++pe) {
        const auto& state = reinterpret_cast<const heap_control::head*>(m_members[static_cast<std::size_t>(pe)].control)->state;
        if (pe != m_pe && __atomic_load_n(&state, __ATOMIC_ACQUIRE) != heap_control::has_left) return {};
    }
    return {status::peer_failed, 0, 0, "all other PEs have left: what this waits for will not come"};
}

void heap::leave() {
    auto& state = reinterpret_cast<heap_control::head*>(m_members[static_cast<std::size_t>(m_pe)].control)->state;
    __atomic_store_n(&state, heap_control::has_left, __ATOMIC_RELEASE);
}

heap_control::arrival& heap::slot(int at, int of, std::uint64_t number) const {
    auto* const all = reinterpret_cast<heap_control::arrival*>(m_members[static_cast<std::size_t>(at)].control + sizeof(heap_control::head));
    return all[2 * static_cast<std::size_t>(of) + number % 2];
}

void heap::arrive(std::uint64_t number, std::uint64_t purpose, std::uint64_t value, bool has_failed) {
    for (int distance = 1; distance <= pes(); ++distance) {
        auto& own = slot((m_pe + distance) % pes(), m_pe, number);
        own.purpose = purpose;
        own.value = value;
        own.has_failed = has_failed ? 1 : 0;
        __atomic_store_n(&own.number, number, __ATOMIC_RELEASE);
    }
}

bool heap::all_have_arrived(std::uint64_t number) const {
    for (int pe = 0; pe < pes(); ++pe)
        if (__atomic_load_n(&slot(m_pe, pe, number).number, __ATOMIC_ACQUIRE) != number) return false;
    return true;
}

heap_control::arrival heap::arrival_of(int pe, std::uint64_t number) const { return slot(m_pe, pe, number); }

void heap_waits::remove(const heap_waiter& which) {
    std::replace(m_all.begin(), m_all.end(), const_cast<heap_waiter*>(&which), static_cast<heap_waiter*>(nullptr));
}

bool heap_waits::poll(time_point now) {
    m_now = now;
    bool progress = false;
    // One that ends may begin others, which are looked at the next time.
    const auto count = m_all.size();
    for (std::size_t i = 0; i < count; ++i) {
        auto* const each = m_all[i];
        if (each == nullptr) continue;
        if (each->look()) {
            progress = true;
            m_all[i] = nullptr;
        } else if (const auto why = each->of().trouble(now)) {
            // What it waits for may have come before that.
            m_all[i] = nullptr;
            if (!each->look()) each->give_up(why);
            progress = true;
        }
    }
    std::erase(m_all, nullptr);
    return progress;
}

} // namespace causeway::endpoints
