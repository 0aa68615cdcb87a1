// SPDX-License-Identifier: Apache-2.0
// Files as endpoints: by descriptor and offset, or as a stdio stream.
#pragma once

#include "base/options.hpp"
#include "transfer/endpoint.hpp"
#include "transfer/ordered_gate.hpp"
#include "transfer/workers.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>

namespace causeway::endpoints {

enum class access { read, write };

/// The services outlive the endpoint.
struct file_services {
    const options& settings;
    transfer::worker_pool& workers;
    transfer::ordered_gate& turns;
};

/// Duplicates `fd`. Throws transfer_error(invalid_value) if it is closed, cannot seek, does not allow `mode`, or
/// if `offset` is negative or the bytes end beyond the largest offset.
[[nodiscard]] std::unique_ptr<transfer::endpoint>
make_descriptor_endpoint(file_services services, int fd, std::int64_t offset, std::size_t bytes, access mode);

/// An offset that stands for the end of the file at the time of each write.
inline constexpr std::int64_t at_end_of_file = -0x0CA50001;

/// Appends to the file, after the transfers that were enqueued to append before. Duplicates `fd`; reopens its file with
/// O_APPEND if `fd` lacks that. Throws transfer_error(invalid_value) if `fd` is closed, not open for writing, or no
/// regular file.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_append_endpoint(file_services services, int fd,
                                                                       std::size_t bytes);

/// Begins at the stream's position after the earlier commands on the same stream, and leaves position, buffer and
/// end-of-file flag as fread or fwrite would. Throws transfer_error(invalid_value) for a null or closed stream or a
/// wrong mode.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_stdio_endpoint(file_services services, std::FILE* file,
                                                                      access mode);

} // namespace causeway::endpoints
