// SPDX-License-Identifier: Apache-2.0
// Reading and writing descriptors to the last byte, with errors that name the file, the offset and the cause.
#pragma once

#include "base/descriptor.hpp"
#include "transfer/step.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <span>
#include <string>

namespace causeway::endpoints {

/// The path behind a descriptor, or "descriptor 7"; a negative one is that of a stream in memory.
[[nodiscard]] std::string file_name(int fd);
/// The same from a cache, if the file and its name have not changed since the last call.
[[nodiscard]] std::string known_file_name(int fd);

/// The part of a file that one transfer reads or writes; error texts name it whole, whatever block failed.
struct file_range {
    int fd = -1;
    off_t start = -1; ///< in the file; negative where the file has no offsets
    std::size_t bytes = 0;
};

/// The failure of a system call after the transfer's first `stopped` bytes. `what` is its verb, "reading".
[[nodiscard]] failure io_failure(const char* what, const file_range& whole, std::size_t stopped, int error);
[[nodiscard]] failure end_of_file(const file_range& whole, std::size_t stopped);

/// Fills `block` from `offset` of the range. Fails with end_of_file or io_error, and the bytes read before. Blocks.
[[nodiscard]] transfer::outcome read_at(const file_range& whole, std::size_t offset, std::span<std::byte> block);
[[nodiscard]] transfer::outcome write_at(const file_range& whole, std::size_t offset, std::span<const std::byte> block);

/// The same at the descriptor's own position, for pipes, sockets, devices and append mode; `offset` is for error texts
/// only. Blocks, but looks at `cancelled` now and then.
[[nodiscard]] transfer::outcome read_next(const file_range& whole, std::size_t offset, std::span<std::byte> block,
                                          const std::atomic<bool>& cancelled);
[[nodiscard]] transfer::outcome write_next(const file_range& whole, std::size_t offset,
                                           std::span<const std::byte> block, const std::atomic<bool>& cancelled);

/// Closes `own`, through which `whole` was written. A remote file system may report only now that it has no room.
/// Blocking.
[[nodiscard]] transfer::outcome close_written(descriptor own, const file_range& whole);

} // namespace causeway::endpoints
