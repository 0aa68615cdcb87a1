// SPDX-License-Identifier: Apache-2.0
// Staged: the source fills a block of staging memory, the target empties it.
#include "transfer/carrier/staged.hpp"

#include <cassert>

namespace causeway::transfer {

namespace {

std::shared_ptr<staging_allocator> allocator_for(const carrier_request& wanted) {
    const auto of_target = wanted.target.allocator();
    auto found = wanted.source.allocator(of_target);
    return found ? found : of_target;
}

staging_share::waits_for whom(const carrier_request& wanted) {
    using waits_for = staging_share::waits_for;
    return wanted.source_traits.waits != waits_for::nobody ? wanted.source_traits.waits : wanted.target_traits.waits;
}

} // namespace

staged_carrier::staged_carrier(const carrier_request& wanted, const device_memory& window)
    : carrier(wanted.source, wanted.target),
      m_share(window.pool != nullptr ? *window.pool : wanted.pool,
              window.allocator ? window.allocator : allocator_for(wanted), wanted.block_bytes, whom(wanted),
              wanted.more,
              wanted.bytes > wanted.block_bytes ? staging_share::needs::several : staging_share::needs::one_block),
      m_kind(window.allocator ? memory_kind::window : memory_kind::host), m_is_secured(wanted.bytes == 0) {}

carrier_traits staged_carrier::traits() const {
    return {.name = "staged", .works_at_once = true, .has_fixed_blocks = false, .kind = m_kind};
}

bool staged_carrier::secure(std::size_t block_bytes) {
    assert(block_bytes <= m_share.block_bytes());
    (void)block_bytes;
    m_share.started();
    if (m_is_secured) return true;
    auto* const first = m_share.acquire();
    if (first == nullptr) return false;
    m_share.keep(first);
    m_is_secured = true;
    return true;
}

std::optional<block_memory> staged_carrier::acquire(std::size_t) {
    auto* const first = m_share.acquire();
    return first != nullptr ? std::optional(block_memory{first, m_kind}) : std::nullopt;
}

block_memory staged_carrier::acquire_early(staging_share::early how) {
    try {
        auto* const first = m_share.acquire_early(how);
        m_is_secured = m_is_secured || first != nullptr;
        return {first, m_kind};
    } catch (...) {
        return {};
    }
}

} // namespace causeway::transfer
