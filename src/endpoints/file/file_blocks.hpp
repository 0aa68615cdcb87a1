// SPDX-License-Identifier: Apache-2.0
// The blocks of one transfer in a file that has offsets: read and written in any order, several at once.
#pragma once

#include "endpoints/file/file_endpoint.hpp"
#include "endpoints/file/file_io.hpp"

namespace causeway::endpoints {

/// Engine's thread, but for open(), after which it does not change.
class file_blocks {
  public:
    explicit file_blocks(file_services services) : m_services(services) {}

    /// Before the first block; a worker may do it. `whole.fd` stays open. `for_device`: see transfer::open_request.
    void open(const file_range& whole, bool for_device);

    void read(std::size_t offset, std::span<std::byte> block, transfer::step& done);
    void write(std::size_t offset, std::span<const std::byte> block, transfer::step& done);

  private:
    /// In a worker.
    [[nodiscard]] transfer::outcome read_block(std::size_t offset, std::span<std::byte> block) const;
    [[nodiscard]] transfer::outcome write_block(std::size_t offset, std::span<const std::byte> block) const;

    file_services m_services;
    file_range m_whole;
    bool m_for_device = false;
    descriptor m_direct; ///< of the same file, past the page cache; none where that is not wanted or not possible
};

} // namespace causeway::endpoints
