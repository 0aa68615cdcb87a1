// SPDX-License-Identifier: Apache-2.0
// Staged: blocks of staging memory, filled by the source and emptied by the target. It suits any two ends. A flow may
// take its first block while its command is still gated.
#pragma once

#include "transfer/carrier.hpp"

#include <optional>

namespace causeway::transfer {

class staged_carrier final : public carrier {
  public:
    /// Memory of `window`, if it has an allocator; else of the pool.
    explicit staged_carrier(const carrier_request& wanted, const device_memory& window = {});

    [[nodiscard]] carrier_traits traits() const override;
    [[nodiscard]] bool secure(std::size_t block_bytes) override;
    [[nodiscard]] std::optional<block_memory> acquire(std::size_t offset) override;
    void release(block_memory memory) override { m_share.release(memory.first); }
    void lose(block_memory memory) override { m_share.lose(memory.first); }

    /// Memory for a first block while the command is gated; see staging_share. Null if there is none now, or if the
    /// allocator fails; secure() then tries again, and throws.
    [[nodiscard]] block_memory acquire_early(staging_share::early how);
    [[nodiscard]] bool waits_to_be_early() const { return m_share.waits_to_be_early(); }
    [[nodiscard]] std::size_t block_bytes() const { return m_share.block_bytes(); }
    void started() { m_share.started(); }

  private:
    staging_share m_share;
    memory_kind m_kind;
    bool m_is_secured; // it has had a block
};

} // namespace causeway::transfer
