// SPDX-License-Identifier: Apache-2.0
// Files as ends of a graph's streams: the engine reads ahead and writes behind.
#pragma once

#include "graph/doorbell.hpp"
#include "graph/work.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>

namespace causeway::core {

/// Throw transfer_error(invalid_value) for a file that is null, closed or not open for this, as the file commands do.
/// `total_bytes` may be endless: the input then ends with its file.
[[nodiscard]] graph::stream_end file_input(std::FILE* file, std::uint64_t total_bytes, std::size_t token_bytes,
                                           std::shared_ptr<graph::doorbell> bell);
[[nodiscard]] graph::stream_end file_output(std::FILE* file, std::size_t token_bytes,
                                            std::shared_ptr<graph::doorbell> bell);
[[nodiscard]] graph::stream_end descriptor_input(int fd, std::int64_t offset, std::uint64_t total_bytes,
                                                 std::size_t token_bytes, std::shared_ptr<graph::doorbell> bell);
[[nodiscard]] graph::stream_end descriptor_output(int fd, std::int64_t offset, std::size_t token_bytes,
                                                  std::shared_ptr<graph::doorbell> bell);

} // namespace causeway::core
