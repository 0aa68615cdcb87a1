// SPDX-License-Identifier: Apache-2.0
// Shared windows: staging memory of a receive that the sender's process maps too, so that both devices reach it.
#pragma once

#include "base/clock.hpp"
#include "base/options.hpp"
#include "comm/shared_segment.hpp"
#include "transfer/staging.hpp"

#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace causeway::endpoints {

/// Where a block lies: the window's segment, and the offset in bytes there.
struct block_address {
    comm::segment_address segment;
    std::uint64_t offset = 0;
};

/// Staging memory of receives, which other processes can map. The device's own allocator page-locks it. Blocks of one
/// size share segments, because each segment costs a descriptor. A new segment is made only when none has a free block
/// of that size. It has at most a sixteenth of the option `staging`, or one block, so that little unused memory is
/// page-locked.
class window_allocator final : public transfer::staging_allocator {
  public:
    /// If `device` is null, memory is not page-locked.
    window_allocator(const options& settings, std::shared_ptr<transfer::staging_allocator> device)
        : m_options(settings), m_device(std::move(device)) {}

    [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
    void release(std::byte* memory, std::size_t bytes) noexcept override;
    /// Makes a window with blocks of that size, unless there is one. Throws transfer_error.
    void secure(std::size_t bytes);
    [[nodiscard]] bool reusable(const std::byte* memory) const override { return m_given_up.count(memory) == 0; }

    /// The address of a block that allocate() gave.
    [[nodiscard]] block_address address_of(const std::byte* memory) const;
    /// The block is never reused, because nobody knows when the other process stops writing to it.
    void give_up(const std::byte* memory) override { m_given_up.insert(memory); }

  private:
    struct window {
        std::unique_ptr<comm::shared_segment> segment;
        std::shared_ptr<void> pinned;
        std::size_t block_bytes = 0;
        std::vector<std::byte*> free;
        std::size_t used = 0;
    };
    /// A window with a free block of `bytes`; made if there is none.
    [[nodiscard]] window& window_for(std::size_t bytes);
    using all_windows = std::map<const std::byte*, window>; // by first byte
    [[nodiscard]] all_windows::const_iterator window_of(const std::byte* memory) const {
        return std::prev(m_windows.upper_bound(memory));
    }

    const options& m_options;
    std::shared_ptr<transfer::staging_allocator> m_device;
    all_windows m_windows;
    std::set<const std::byte*> m_given_up;
};

/// A segment of another process's window, mapped here.
class mapped_window {
  public:
    explicit mapped_window(std::unique_ptr<comm::shared_segment> segment) : m_segment(std::move(segment)) {}
    [[nodiscard]] std::byte* memory() const { return m_segment->memory(); }
    [[nodiscard]] std::size_t bytes() const { return m_segment->address().bytes; }
    /// Page-locks it for the device of `allocator`, which may be null.
    void pin(const std::shared_ptr<transfer::staging_allocator>& allocator);

  private:
    friend class windows;
    std::unique_ptr<comm::shared_segment> m_segment;
    std::map<std::shared_ptr<transfer::staging_allocator>, std::shared_ptr<void>> m_pinned;
    bool m_touched = false; // since the last trim()
    time_point m_last_used;
};

/// All windows of a process, its own and others'. Engine's thread only.
class windows {
  public:
    /// How segments of other processes are found; comm::shared_segment::open().
    using finder = std::unique_ptr<comm::shared_segment> (*)(const comm::segment_address&) noexcept;
    windows(const options& settings, finder open) : m_options(settings), m_open(open) {}

    /// The allocator of windows; `device` page-locks them unless it is null. Gives null, after a warning, if no window
    /// with blocks of that size can be made.
    [[nodiscard]] std::shared_ptr<window_allocator>
    allocator_for(const std::shared_ptr<transfer::staging_allocator>& device, std::size_t block_bytes);

    /// A segment of another process, or null if it cannot be reached.
    [[nodiscard]] std::shared_ptr<mapped_window> find(const comm::segment_address& where);

    /// Unmaps segments that nobody used for a while. True if something is left.
    bool trim(time_point now);

  private:
    const options& m_options;
    finder m_open;
    std::map<std::shared_ptr<transfer::staging_allocator>, std::shared_ptr<window_allocator>> m_allocators;
    std::map<std::uint64_t, std::shared_ptr<mapped_window>> m_mapped; // by key
};

} // namespace causeway::endpoints
