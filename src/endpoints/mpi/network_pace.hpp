// SPDX-License-Identifier: Apache-2.0
// Chooses the block size of messages from a rank of another node by how fast blocks come.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace causeway::endpoints {

/// Blocks are chosen to take about 250 us on any network: 32 KiB at 1 Gbit/s, which Open MPI sends without a handshake,
/// and 256 KiB at 10 Gbit/s. Larger ones hold up the protocol's headers and MPI's own handshakes, because Open MPI has
/// one TCP connection for both directions. Four blocks in flight keep both directions busy (64 MiB both ways at 1 and
/// 10 Gbit/s: 565 and 60 ms; in blocks of 4 MiB 1120 and 108 ms).
class network_pace {
  public:
    static constexpr std::size_t first = std::size_t{256} << 10;
    static constexpr std::size_t smallest = std::size_t{32} << 10, largest = std::size_t{4} << 20;

    [[nodiscard]] std::size_t block_bytes() const { return m_block_bytes; }

    /// A block of `bytes` came. Returns the bytes of all blocks so far, of all messages: concurrent ones share the
    /// network.
    std::uint64_t came(std::size_t bytes) { return m_came += bytes; }

    /// While the blocks of one message came back to back, `bytes` of this and other messages came in the time `took`.
    /// One message at most doubles or halves the block size, so that one that was held up changes little.
    void saw(std::uint64_t bytes, std::chrono::nanoseconds took) {
        if (took.count() <= 0) return;
        const double wanted = static_cast<double>(bytes) *
                              (static_cast<double>(block_time.count()) / static_cast<double>(took.count()));
        const auto nearest = std::exp2(std::round(std::log2(std::max(wanted, 1.0))));
        const auto limited = std::clamp(nearest, static_cast<double>(smallest), static_cast<double>(largest));
        m_block_bytes = std::clamp(static_cast<std::size_t>(limited), m_block_bytes / 2, m_block_bytes * 2);
    }

  private:
    static constexpr std::chrono::nanoseconds block_time = std::chrono::microseconds(250);
    std::size_t m_block_bytes = first;
    std::uint64_t m_came = 0;
};

} // namespace causeway::endpoints
