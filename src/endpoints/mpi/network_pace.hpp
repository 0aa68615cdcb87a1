// SPDX-License-Identifier: Apache-2.0
// How large the blocks of messages from a rank of another node are, by how fast they come.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace causeway::endpoints {

/// What ranks tell one another, and MPI's own handshakes, wait for the blocks under way: Open MPI has one TCP
/// connection for both directions. A block takes about a quarter of a millisecond, whatever the network: at 1 Gbit/s 32
/// KiB, which Open MPI sends without a handshake, at 10 Gbit/s 256 KiB. Four of those at a time keep both directions
/// busy (64 MiB both ways: 565 and 60 ms; in blocks of 4 MiB 1120 and 108).
class network_pace {
  public:
    static constexpr std::size_t first = std::size_t{256} << 10;
    static constexpr std::size_t smallest = std::size_t{32} << 10, largest = std::size_t{4} << 20;

    [[nodiscard]] std::size_t block_bytes() const { return m_block_bytes; }

    /// A block came. Returns all bytes of blocks that have come so far, of whatever messages: those side by side share
    /// the network.
    std::uint64_t came(std::size_t bytes) { return m_came += bytes; }

    /// Blocks of one message came back to back: `bytes` of this and other messages in the time `took`. A message at
    /// most doubles or halves the blocks of the next, so that one that was held up changes little.
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
