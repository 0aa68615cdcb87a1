// SPDX-License-Identifier: Apache-2.0
// Memory that processes of one node can share without a collective call and without a name in any file system.
#pragma once

#include "base/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace causeway::comm {

/// What another process needs to find a segment: whose it is, under which descriptor, and a number that only it has.
struct segment_address {
    std::int32_t process = 0; ///< as its own PID namespace counts; 0 for none
    std::int32_t descriptor = -1;
    std::uint64_t key = 0;
    std::uint64_t bytes = 0; ///< whole pages
};

/// Anonymous memory of the kernel (memfd_create(2)), mapped shared. Its owner keeps a descriptor open, which processes
/// of the same user reopen through /proc while they know that the owner lives. Its size is sealed, so that mapping it
/// never leads to SIGBUS. The kernel frees it with the last process that maps it, however that one ends.
class shared_segment {
  public:
    /// Makes a segment with all its pages. Throws transfer_error.
    [[nodiscard]] static std::unique_ptr<shared_segment> create(std::size_t bytes);
    /// Makes a segment without pages. commit() adds them, else the first touch does, which ends the process if the node
    /// has no free memory. Throws transfer_error if the node never has so much memory.
    [[nodiscard]] static std::unique_ptr<shared_segment> reserve(std::size_t bytes);
    /// Makes pages of the segment that this process has made. Throws transfer_error.
    void commit(std::size_t offset, std::size_t bytes);
    /// Parts [first, end) that hold all pages of the segment that this process has made. The rest is zero.
    [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> parts_with_pages() const;
    /// The segment of another process, or null if that process or its memory cannot be reached from here.
    [[nodiscard]] static std::unique_ptr<shared_segment> open(const segment_address& where) noexcept;
    ~shared_segment();
    shared_segment(const shared_segment&) = delete;
    shared_segment& operator=(const shared_segment&) = delete;

    /// Page-aligned.
    [[nodiscard]] std::byte* memory() const { return m_memory; }
    [[nodiscard]] const segment_address& address() const { return m_address; }

  private:
    enum class pages { all, none };
    [[nodiscard]] static std::unique_ptr<shared_segment> make(std::size_t bytes, pages at_once);
    shared_segment(const segment_address& address, std::byte* memory) : m_address(address), m_memory(memory) {}

    segment_address m_address;
    std::byte* m_memory;
    descriptor m_descriptor; // open in the process that owns the segment only
};

} // namespace causeway::comm
