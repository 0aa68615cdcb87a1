// SPDX-License-Identifier: Apache-2.0
// Accounts for staging memory and hands it out in order.
#include "transfer/staging.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <utility>

namespace causeway::transfer {

namespace {
constexpr std::size_t page = 4096;
/// Of a smaller cap nothing is set aside for small receives, and for what begins early.
constexpr std::size_t smallest_shared_cap = std::size_t{16} << 20;
/// The quota of small receives holds as many of their blocks at least.
constexpr std::size_t least_small_receives = 8;
/// Blocks that a flow uses before it hands its last one to another: memory of another size has to be allocated first.
constexpr unsigned blocks_of_a_turn = 4;
/// A flow of several blocks is passed by so many that need one.
constexpr unsigned most_passed = 8;
/// The most blocks that are read ahead of their turn. Each is a live event, and with more of them every call of
/// NVIDIA's driver (580) takes longer (256 messages of 8 bytes at once: 60 us each without reading ahead, 36 with 4
/// blocks, 90 with all).
constexpr std::size_t most_early = 4;
} // namespace

std::byte* host_allocator::allocate(std::size_t bytes) {
    void* const memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<std::byte*>(memory);
}

void host_allocator::release(std::byte* memory, std::size_t) noexcept { std::free(memory); }

staging_share::staging_share(staging_pool& pool, std::shared_ptr<staging_allocator> allocator, std::size_t block_bytes,
                             waits_for whom, std::function<void()> available, needs wanted)
    : m_pool(pool), m_allocator(allocator ? std::move(allocator) : pool.m_host), m_block_bytes(block_bytes),
      m_waits_for(whom), m_available(std::move(available)), m_needs(wanted) {}

staging_share::~staging_share() {
    leave_early();
    for (auto* const block : m_idle) m_pool.give(*this, block);
    for (auto& line : m_pool.m_line) std::erase(line, this);
    m_pool.wake();
}

bool staging_share::waiting_for_first() const {
    const auto& line = m_pool.m_line[kind()];
    return std::find(line.begin(), line.end(), this) != line.end();
}

std::byte* staging_share::acquire() {
    if (!m_idle.empty()) {
        auto* const block = m_idle.back();
        m_idle.pop_back();
        return block;
    }
    auto& line = m_pool.m_line[kind()];
    if (m_held == 0) {
        if (!waiting_for_first()) stand_in_line();
        const bool is_next = line.front() == this && m_pool.fits(*this, own_quota());
        if (!is_next && !(is_small_receive() && m_pool.fits(*this, quota::small_receive))) return nullptr;
        m_counted_as = is_next ? own_quota() : quota::small_receive;
        auto* const block = m_pool.take_first(*this);
        m_pool.wake();
        return block;
    }
    // More than one block only while everybody who wants one has one.
    if (m_pool.anybody_waits() || !m_pool.fits(*this, own_quota())) return nullptr;
    return m_pool.take(*this);
}

bool staging_share::is_small_receive() const {
    return m_waits_for == waits_for::sender && m_needs == needs::one_block &&
           m_block_bytes <= m_pool.quota(quota::small_receive) / least_small_receives;
}

void staging_share::stand_in_line() {
    auto& line = m_pool.m_line[kind()];
    auto position = line.end();
    if (m_needs == needs::one_block)
        for (; position != line.begin(); --position) {
            auto& before = **std::prev(position);
            if (before.m_needs == needs::one_block || before.m_passed == most_passed) break;
            ++before.m_passed;
        }
    line.insert(position, this);
}

staging_share* staging_share::gives_last_block_to() const {
    const auto& line = m_pool.m_line[kind()];
    if (m_waits_for != waits_for::nobody || m_held > 1 || line.empty()) return nullptr;
    auto* const next = line.front();
    if (next->m_needs != needs::one_block && m_used < blocks_of_a_turn) return nullptr;
    // Neither of the two may end up without memory.
    const bool only_one = m_pool.held(own_quota()) == m_block_bytes;
    const bool enough = m_pool.m_held - m_block_bytes + next->m_block_bytes <= m_pool.cap();
    return only_one || enough ? next : nullptr;
}

std::byte* staging_share::acquire_early(early how) {
    auto& line = m_pool.m_early_line;
    if (how == early::in_turn) {
        const bool is_next = line.empty() || line.front() == this;
        if (!is_next || m_pool.m_early == most_early) {
            if (!std::exchange(m_in_early_line, true)) line.push_back(this);
            return nullptr;
        }
        if (std::exchange(m_in_early_line, false)) line.pop_front();
    }
    // It will count in its class, and may not pass who stands in line there.
    const auto held_there = m_pool.held(own_quota());
    const bool fits_its_class = held_there == 0 || held_there + m_block_bytes <= m_pool.quota(own_quota());
    std::byte* block = nullptr;
    if (fits_its_class && !m_pool.anybody_waits() && m_pool.fits(*this, quota::early)) {
        m_counted_as = quota::early;
        block = m_pool.take(*this);
    }
    if (how == early::in_turn) {
        if (block != nullptr) {
            m_early = true;
            ++m_pool.m_early;
        }
        m_pool.wake_early();
    }
    return block;
}

void staging_share::leave_early() {
    const bool was_early = std::exchange(m_early, false), waited = std::exchange(m_in_early_line, false);
    if (was_early) --m_pool.m_early;
    if (waited) std::erase(m_pool.m_early_line, this);
    if (was_early || waited) m_pool.wake_early();
}

void staging_share::started() {
    leave_early();
    if (m_counted_as != quota::early) return;
    m_counted_as = own_quota();
    m_pool.held(quota::early) -= m_held * m_block_bytes;
    m_pool.held(own_quota()) += m_held * m_block_bytes;
}

void staging_share::release(std::byte* block) {
    ++m_used;
    if ((m_pool.anybody_waits() && m_held > 1) || !m_allocator->reusable(block)) {
        m_pool.give(*this, block);
        m_pool.wake();
    } else if (auto* const next = gives_last_block_to()) {
        m_pool.give(*this, block);
        try {
            // At once, or flows that wait for others could take the room.
            next->m_idle.push_back(m_pool.take_first(*next));
        } catch (...) {
            // It meets that again when it asks, and reports it.
        }
        next->m_available();
    } else {
        m_idle.push_back(block);
    }
}

void staging_share::lose(std::byte* block) {
    m_pool.uncount(*this);
    m_pool.m_lost.push_back({m_allocator, block, m_block_bytes, {}});
    m_pool.wake();
}

staging_pool::staging_pool(const options& settings, const monotonic_clock& clock, std::size_t cap)
    : m_options(settings), m_clock(clock), m_cap(cap), m_host(std::make_shared<host_allocator>()) {}

staging_pool::~staging_pool() {
    for (auto* const list : {&m_cache, &m_lost})
        for (auto& block : *list) block.allocator->release(block.memory, block.bytes);
}

std::size_t staging_pool::largest_block() const {
    // Half of the cap may be held by flows that wait for senders, and a sixteenth by those that began early.
    const std::size_t cap = this->cap();
    return cap < smallest_shared_cap ? cap / 2 : cap / 16 * 7;
}

bool staging_pool::anybody_waits() const {
    return std::any_of(std::begin(m_line), std::end(m_line), [](const auto& line) { return !line.empty(); });
}

bool staging_pool::has_room(const staging_share& share) {
    if (m_held == 0 || share.m_allocator->has_room(share.m_block_bytes) || find_cached(share) != m_cache.rend())
        return true;
    make_room(share);
    return share.m_allocator->has_room(share.m_block_bytes);
}

std::size_t staging_pool::quota(staging_share::quota of) const {
    using quota = staging_share::quota;
    const std::size_t cap = this->cap(), sixteenth = cap < smallest_shared_cap ? 0 : cap / 16;
    // Memory with a cap of its own is only for what arrives.
    const bool is_for_arrivals = m_cap != 0;
    switch (of) {
    case quota::waits_for_nobody: return cap;
    case quota::waits_for_sender: return is_for_arrivals ? cap : cap / 2 - sixteenth;
    case quota::waits_for_receiver: return cap / 2;
    case quota::small_receive: return is_for_arrivals ? 0 : sixteenth;
    case quota::early: return sixteenth;
    }
    return 0;
}

bool staging_pool::fits(const staging_share& share, staging_share::quota as) {
    if (!has_room(share)) return false;
    // Flows of other classes may all be waiting, and for this one; or hold more than a cap that was lowered since.
    if (as == share.own_quota() && held(as) == 0) return true;
    return m_held + share.m_block_bytes <= cap() && held(as) + share.m_block_bytes <= quota(as);
}

std::vector<staging_pool::cached_block>::reverse_iterator staging_pool::find_cached(const staging_share& share) {
    return std::find_if(m_cache.rbegin(), m_cache.rend(), [&](const cached_block& block) {
        return block.allocator == share.m_allocator && block.bytes == share.m_block_bytes;
    });
}

std::byte* staging_pool::take(staging_share& share) {
    const auto cached = find_cached(share);
    std::byte* memory = nullptr;
    if (cached != m_cache.rend()) {
        memory = cached->memory;
        m_cached -= cached->bytes;
        m_cache.erase(std::next(cached).base());
    } else {
        make_room(share);
        memory = share.m_allocator->allocate(share.m_block_bytes);
    }
    m_held += share.m_block_bytes;
    held(share.m_counted_as) += share.m_block_bytes;
    ++share.m_held;
    return memory;
}

std::byte* staging_pool::take_first(staging_share& share) {
    auto* const block = take(share);
    std::erase(m_line[share.kind()], &share);
    share.m_used = share.m_passed = 0;
    return block;
}

void staging_pool::uncount(staging_share& share) {
    m_held -= share.m_block_bytes;
    held(share.m_counted_as) -= share.m_block_bytes;
    --share.m_held;
}

void staging_pool::give(staging_share& share, std::byte* block) {
    uncount(share);
    if (!share.m_allocator->reusable(block)) {
        share.m_allocator->release(block, share.m_block_bytes);
        return;
    }
    m_cached += share.m_block_bytes;
    m_cache.push_back({share.m_allocator, block, share.m_block_bytes, m_clock.now()});
}

void staging_pool::make_room(const staging_share& share) {
    const auto is_short = [&] {
        return m_held + m_cached + share.m_block_bytes > cap() || !share.m_allocator->has_room(share.m_block_bytes);
    };
    while (!m_cache.empty() && is_short()) drop_oldest();
}

void staging_pool::drop_oldest() {
    auto& oldest = m_cache.front();
    oldest.allocator->release(oldest.memory, oldest.bytes);
    m_cached -= oldest.bytes;
    m_cache.erase(m_cache.begin());
}

void staging_pool::wake() {
    for (auto& line : m_line)
        if (!line.empty() && fits(*line.front(), line.front()->own_quota())) line.front()->m_available();
    const auto& receives = m_line[static_cast<std::size_t>(staging_share::waits_for::sender)];
    const auto small = std::ranges::find_if(receives, [this](const auto* each) {
        return each->is_small_receive() && fits(*each, staging_share::quota::small_receive);
    });
    if (small != receives.end()) (*small)->m_available();
}

void staging_pool::wake_early() {
    if (!m_early_line.empty() && m_early < most_early) m_early_line.front()->m_available();
}

bool staging_pool::trim() {
    const auto keep = std::chrono::milliseconds(m_options[option::keep]);
    const auto now = m_clock.now();
    while (!m_cache.empty() && now - m_cache.front().since >= keep) drop_oldest();
    return !m_cache.empty();
}

} // namespace causeway::transfer
