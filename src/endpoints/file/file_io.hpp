// SPDX-License-Identifier: Apache-2.0
// Reading and writing descriptors to the last byte, with errors that name the file, the place and the cause.
#pragma once

#include "transfer/step.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <span>
#include <string>

namespace causeway::endpoints {

/// An owned descriptor.
class descriptor {
  public:
    descriptor() = default;
    explicit descriptor(int number) : m_number(number) {}
    descriptor(descriptor&& other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(m_number, other.m_number);
        return *this;
    }
    ~descriptor();
    [[nodiscard]] int get() const { return m_number; }

  private:
    int m_number = -1;
};

/// The path behind a descriptor, or "descriptor 7".
[[nodiscard]] std::string file_name(int fd);

/// Fills `block` from `offset` of `fd`; end_of_file or io_error with the bytes before. Blocking.
[[nodiscard]] transfer::outcome read_at(int fd, std::span<std::byte> block, off_t offset);
[[nodiscard]] transfer::outcome write_at(int fd, std::span<const std::byte> block, off_t offset);

/// The same at the descriptor's own position, for pipes, sockets, devices and append mode. Waits for the other end
/// without blocking in a system call for long, so that `cancelled` is seen.
[[nodiscard]] transfer::outcome read_next(int fd, std::span<std::byte> block, const std::atomic<bool>& cancelled);
[[nodiscard]] transfer::outcome write_next(int fd, std::span<const std::byte> block, const std::atomic<bool>& cancelled);

} // namespace causeway::endpoints
