// SPDX-License-Identifier: Apache-2.0
// The blocks of one transfer in a file that has offsets: read and written in any order, several at once.
#pragma once

#include "endpoints/file/file_endpoint.hpp"
#include "endpoints/file/file_io.hpp"

#include <memory>
#include <vector>

namespace causeway::endpoints {

/// Engine's thread, but for open().
class file_blocks {
  public:
    explicit file_blocks(file_services services);
    ~file_blocks();

    /// Before the first block; a worker may do it. `whole.fd` stays open.
    void open(const file_range& whole, const transfer::open_request& request);

    void read(std::size_t offset, std::span<std::byte> block, transfer::step& done);
    void write(std::size_t offset, std::span<const std::byte> block, transfer::step& done);

  private:
    struct split_read;

    void read_piece(std::size_t offset, std::span<std::byte> piece, transfer::step& done);
    /// In a worker.
    [[nodiscard]] transfer::outcome read_now(std::size_t offset, std::span<std::byte> piece) const;
    [[nodiscard]] transfer::outcome write_now(std::size_t offset, std::span<const std::byte> block) const;

    file_services m_services;
    file_range m_whole;
    std::size_t m_piece_bytes = 0;
    bool m_pushes = false; // what is read out of the processor's own cache
    descriptor m_direct; // of the same file, past the page cache; none where that is not wanted or not possible
    std::vector<std::unique_ptr<split_read>> m_reads, m_spare;
};

} // namespace causeway::endpoints
