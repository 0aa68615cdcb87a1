// SPDX-License-Identifier: Apache-2.0
// Meetings of all PEs, and who is still there.
#include "endpoints/symmetric/heap.hpp"

#include <algorithm>
#include <utility>

namespace causeway::endpoints {

namespace {

/// A look at a process is a system call, and a program may wait for hundreds of words at a time.
constexpr auto between_looks = std::chrono::milliseconds(2);

void note(heap_control::arrival& where, const heap_control::arrival& what) {
    where.purpose = what.purpose;
    where.value = what.value;
    where.target = what.target;
    where.source = what.source;
    where.times = what.times;
    where.has_failed = what.has_failed;
    if (what.has_failed != 0) where.reason = what.reason;
    __atomic_store_n(&where.number, what.number, __ATOMIC_RELEASE);
}

} // namespace

failure shortage(const std::vector<heap_request>& all, std::uint64_t node) {
    std::uint64_t bytes = 0, available = UINT64_MAX;
    for (const auto& each : all) {
        if (each.node != node || each.bytes == 0) continue;
        if (__builtin_add_overflow(bytes, each.bytes, &bytes)) bytes = UINT64_MAX;
        available = std::min(available, each.available);
    }
    if (bytes <= available) return {};
    return {status::out_of_host_memory, 0, 0,
            "the PEs of this node ask for symmetric heaps of " + bytes_text(bytes) +
                " in all, but it has no more than " + bytes_text(available) + " available"};
}

heap::heap(heap_waits& waits, int pe, std::size_t bytes, std::vector<heap_member> members,
           std::unique_ptr<comm::distant_watch> distant)
    : m_waits(waits), m_pe(pe), m_bytes(bytes), m_members(std::move(members)), m_distant(std::move(distant)) {}

static std::uint32_t state_of(const heap_member& near) {
    return __atomic_load_n(&reinterpret_cast<const heap_control::head*>(near.control)->state, __ATOMIC_ACQUIRE);
}

bool heap::has_left(const heap_member& which) const {
    return which.control == nullptr ? which.has_left : state_of(which) != heap_control::runs;
}

bool heap::has_given_up(const heap_member& which) const {
    return which.control == nullptr ? which.has_given_up : state_of(which) == heap_control::has_given_up;
}

static failure given_up(int pe) {
    return {status::peer_failed, 0, 0, "PE " + std::to_string(pe) + " has given up: its program failed, or its MPI"};
}

static failure left(int pe) { return {status::peer_failed, 0, 0, "PE " + std::to_string(pe) + " has left"}; }

void heap::look_at_processes(time_point now) {
    if (now < m_next_look) return;
    m_next_look = now + between_looks;
    for (int pe = 0; pe < pes(); ++pe) {
        auto& each = m_members[static_cast<std::size_t>(pe)];
        if (pe == m_pe || (each.death && each.lost)) continue;
        const bool was_lost = each.lost.has_value();
        if (!was_lost) each.lost = loss_of(pe);
        note_death(pe);
        if (!was_lost && each.lost && m_tell_loss) m_tell_loss(pe, each.death ? each.death : left(pe), *each.lost);
    }
}

std::optional<comm::loss> heap::loss_of(int pe) {
    auto& member = m_members[static_cast<std::size_t>(pe)];
    if (member.process.is_gone()) return comm::loss::process_ended;
    if (!m_distant) return std::nullopt;
    if (m_distant->has_given_up(pe)) member.has_left = member.has_given_up = true; // it may be unable to send messages
    if (m_distant->has_ended(pe)) return comm::loss::process_ended;
    return m_distant->is_out_of_reach(pe) ? std::optional(comm::loss::out_of_reach) : std::nullopt;
}

void heap::note_death(int pe) {
    auto& which = m_members[static_cast<std::size_t>(pe)];
    if (which.death) return;
    if (has_given_up(which)) {
        which.death = given_up(pe);
    } else if (is_gone(pe)) {
        which.death = {status::peer_failed, 0, 0,
                       "PE " + std::to_string(pe) +
                           (*which.lost == comm::loss::process_ended
                                ? " is gone: its process " + std::to_string(which.number) +
                                      " ended without causeway_symmetric_finalize or MPI_Finalize"
                                : " is out of reach: its node is silent, or the connection to it broke")};
    } else {
        return;
    }
    if (!m_dead) m_dead = which.death;
    m_has_seen_death.store(true, std::memory_order_relaxed);
}

failure heap::trouble(time_point now) {
    look_at_processes(now);
    if (m_dead) return m_dead;
    if (auto own = own_absence()) return own;
    if (pes() == 1) return {};
    bool all_have_left = true;
    for (int pe = 0; pe < pes(); ++pe) {
        const auto& each = m_members[static_cast<std::size_t>(pe)];
        if (pe == m_pe) continue;
        if (!has_left(each)) {
            all_have_left = false;
        } else if (has_given_up(each)) {
            return given_up(pe);
        }
    }
    if (!all_have_left) return {};
    return {status::peer_failed, 0, 0, "all other PEs have left: what this waits for will not come"};
}

failure heap::own_absence() const {
    if (!has_left(m_pe)) return {};
    // Breaking off looks like leaving to the others.
    if (m_dead) return m_dead;
    return {status::peer_failed, 0, 0, "this PE has left: what this waits for will not come"};
}

failure heap::absence_of(int pe, time_point now) {
    look_at_processes(now);
    if (const auto& dead = m_members[static_cast<std::size_t>(pe)].death) return dead;
    if (pe == m_pe || !has_left(m_members[static_cast<std::size_t>(pe)])) return {};
    if (has_given_up(m_members[static_cast<std::size_t>(pe)])) return given_up(pe);
    return left(pe);
}

failure heap::end_of_any(time_point now) {
    if (m_broken_off) return m_broken_off;
    if (now < m_next_look) return {};
    m_next_look = now + between_looks;
    for (int pe = 0; pe < pes(); ++pe) {
        if (pe == m_pe) continue;
        const auto is_lost = loss_of(pe).has_value();
        if (has_given_up(m_members[static_cast<std::size_t>(pe)])) return given_up(pe);
        if (is_lost) return {status::peer_failed, 0, 0, "PE " + std::to_string(pe) + " is gone"};
    }
    return {};
}

failure heap::trouble_at_meeting(std::uint64_t number, time_point now) {
    look_at_processes(now);
    if (m_dead) return m_dead;
    if (auto own = own_absence()) return own;
    for (int pe = 0; pe < pes(); ++pe) {
        if (arrival_of(pe, number).number == number) continue;
        const auto gone = absence_of(pe, now);
        if (!gone) continue;
        // It may have left because another one gave up or died, which is to be named instead.
        m_next_look = {};
        look_at_processes(now);
        return m_dead ? m_dead : gone;
    }
    return {};
}

void heap::break_off(const failure& why) {
    if (m_broken_off) return;
    m_broken_off = why;
    if (!m_dead) m_dead = why;
    m_has_seen_death.store(true, std::memory_order_relaxed);
    if (become(heap_control::has_given_up) && m_distant) m_distant->give_up();
}

void heap::leave(bool gives_up) {
    if (become(gives_up ? heap_control::has_given_up : heap_control::has_left) && m_distant)
        m_distant->leave(); // that it gives up must not come before its messages
}

bool heap::become(std::uint32_t state) {
    auto& now = reinterpret_cast<heap_control::head*>(m_members[static_cast<std::size_t>(m_pe)].control)->state;
    std::uint32_t before = heap_control::runs;
    return __atomic_compare_exchange_n(&now, &before, state, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

heap_control::arrival& heap::slot(int at, int of, std::uint64_t number) const {
    auto* const all = reinterpret_cast<heap_control::arrival*>(m_members[static_cast<std::size_t>(at)].control +
                                                               sizeof(heap_control::head));
    return all[2 * static_cast<std::size_t>(of) + number % 2];
}

void heap::arrive(const heap_control::arrival& own) {
    for (int distance = 1; distance <= pes(); ++distance) {
        const int pe = (m_pe + distance) % pes();
        if (m_members[static_cast<std::size_t>(pe)].control != nullptr) {
            note(slot(pe, m_pe, own.number), own);
        } else if (m_tell) {
            m_tell(pe, own);
        }
    }
}

void heap::note_arrival(int pe, const heap_control::arrival& what) { note(slot(m_pe, pe, what.number), what); }

bool heap::all_have_arrived(std::uint64_t number) const {
    for (int pe = 0; pe < pes(); ++pe)
        if (__atomic_load_n(&slot(m_pe, pe, number).number, __ATOMIC_ACQUIRE) != number) return false;
    return true;
}

const heap_control::arrival& heap::arrival_of(int pe, std::uint64_t number) const { return slot(m_pe, pe, number); }

void heap_waits::remove(const heap_waiter& which) {
    std::replace(m_all.begin(), m_all.end(), const_cast<heap_waiter*>(&which), static_cast<heap_waiter*>(nullptr));
}

bool heap_waits::poll(time_point now) {
    bool progress = false;
    const bool asks_for_trouble = now >= m_next_trouble;
    if (asks_for_trouble) m_next_trouble = now + between_looks;
    // One that ends may begin others, which are looked at the next time.
    const auto count = m_all.size();
    for (std::size_t i = 0; i < count; ++i) {
        auto* const each = m_all[i];
        if (each == nullptr) continue;
        if (each->look()) {
            progress = true;
            m_all[i] = nullptr;
        } else if (const auto why = asks_for_trouble ? each->trouble(now) : failure{}) {
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
