// SPDX-License-Identifier: Apache-2.0
// Addresses that stand for memory which the host does not reach.
#pragma once

#include <cstddef>

namespace causeway::core {

/// Reserved addresses without memory. A load or store there ends the program with SIGSEGV, after a message that says
/// so.
class untouchable_range {
  public:
    /// Throws transfer_error(out_of_host_memory).
    explicit untouchable_range(std::size_t bytes);
    ~untouchable_range();
    untouchable_range(const untouchable_range&) = delete;
    untouchable_range& operator=(const untouchable_range&) = delete;

    [[nodiscard]] std::byte* first() const { return m_first; }

  private:
    std::byte* m_first;
    std::size_t m_bytes;
};

} // namespace causeway::core
