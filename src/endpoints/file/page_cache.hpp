// SPDX-License-Identifier: Apache-2.0
// The kernel's page cache: what of a file is in it, and how much it could hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace causeway::endpoints {

/// Whether all of these bytes of the file are in the page cache. False if the kernel does not say.
[[nodiscard]] bool is_cached(int fd, std::uint64_t offset, std::size_t bytes);
/// The same by mapping it, for kernels without cachestat(2). The kernel tells it only of files that the user owns or
/// may write to.
[[nodiscard]] bool is_cached_by_mapping(int fd, std::uint64_t offset, std::size_t bytes);

/// Whether mincore(2) tells which pages are cached. Unless the user owns or may write the file, all seem cached.
[[nodiscard]] bool tells_of_pages(int fd);

/// How many bytes the page cache could hold: memory that is free or reclaimable, in the machine and in this process's
/// cgroups. `root` has the folders proc and sys.
[[nodiscard]] std::uint64_t find_cache_room(const std::filesystem::path& root = "/");
/// The same, asked for at most once in a second. Any thread.
[[nodiscard]] std::uint64_t cache_room();

} // namespace causeway::endpoints
