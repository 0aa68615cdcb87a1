// SPDX-License-Identifier: Apache-2.0
// Asks the kernel by cachestat(2) or mincore(2), and reads what it says of memory.
#include "endpoints/file/page_cache.hpp"

#include "base/cgroup.hpp"
#include "base/whole_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::endpoints {

namespace {

namespace fs = std::filesystem;

constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

/// Pages that these bytes touch.
std::size_t pages_of(std::uint64_t offset, std::size_t bytes) {
    return (offset + bytes - 1) / page_bytes() - offset / page_bytes() + 1;
}

/// None where the kernel does not have it (before Linux 6.5), or a container's filter refuses it.
std::optional<std::uint64_t> cached_pages(int fd, std::uint64_t offset, std::size_t bytes) {
    constexpr long number = 451; // not in the headers of Debian 12
    const struct {
        std::uint64_t offset, bytes;
    } range{offset, bytes};
    struct {
        std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } pages{};
    if (::syscall(number, fd, &range, &pages, 0) != 0) return {};
    return pages.cached;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t value = 0;
    const auto digits = std::min(text.find_first_of("0123456789"), text.size());
    const auto [end, error] = std::from_chars(text.data() + digits, text.data() + text.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
}

/// The number in the line that begins with `name`.
std::optional<std::uint64_t> number_of(const fs::path& file, std::string_view name) {
    std::istringstream lines(read_file(file).value_or(""));
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(name)) return number_in(std::string_view(line).substr(name.size()));
    return {};
}

/// What a cgroup still allows, its pages of files included, which make room for others: not those of shared memory,
/// which count as pages of files.
std::uint64_t room_of(const fs::path& folder) {
    auto room = unlimited;
    const auto look = [&](const char* limit, const char* usage, const char* cached, const char* shared) {
        const auto most = number_in(first_line_of(folder / limit)), used = number_in(first_line_of(folder / usage));
        if (!most || !used) return;
        const auto files = number_of(folder / "memory.stat", cached).value_or(0);
        const auto reclaimable = files - std::min(files, number_of(folder / "memory.stat", shared).value_or(0));
        const auto kept = *used - std::min(*used, reclaimable);
        room = std::min(room, *most - std::min(*most, kept));
    };
    look("memory.max", "memory.current", "file ", "shmem ");
    look("memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache ", "total_shmem ");
    return room;
}

} // namespace

bool tells_of_pages(int fd) {
    // Linux 5.2: the rest is nobody else's business.
    struct stat facts{};
    if (::fstat(fd, &facts) == 0 && facts.st_uid == ::geteuid()) return true;
    return ::access(("/proc/self/fd/" + std::to_string(fd)).c_str(), W_OK) == 0;
}

bool is_cached_by_mapping(int fd, std::uint64_t offset, std::size_t bytes) {
    if (bytes == 0 || !tells_of_pages(fd)) return false;
    const auto before = offset % page_bytes(), mapped_bytes = before + bytes;
    void* const mapped = ::mmap(nullptr, mapped_bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset - before));
    if (mapped == MAP_FAILED) return false;
    // Asked for, never touched: a file that is cut off meanwhile does no harm.
    std::vector<unsigned char> pages(pages_of(offset, bytes));
    const bool told = ::mincore(mapped, mapped_bytes, pages.data()) == 0;
    ::munmap(mapped, mapped_bytes);
    return told && std::ranges::all_of(pages, [](unsigned char page) { return (page & 1U) != 0; });
}

bool is_cached(int fd, std::uint64_t offset, std::size_t bytes) {
    const auto pages = cached_pages(fd, offset, bytes);
    return pages ? *pages >= pages_of(offset, bytes) : is_cached_by_mapping(fd, offset, bytes);
}

std::uint64_t find_cache_room(const fs::path& root) {
    auto room = unlimited;
    if (const auto kibibytes = number_of(root / "proc/meminfo", "MemAvailable:")) room = *kibibytes * 1024;
    cgroup::for_each_folder(root, "memory",
                            [&room](const fs::path& folder) { room = std::min(room, room_of(folder)); });
    return room;
}

std::uint64_t cache_room() {
    using clock = std::chrono::steady_clock;
    static std::mutex mutex; // guards room, asked
    static std::uint64_t room = 0;
    static std::optional<clock::time_point> asked;
    const auto now = clock::now();
    const std::lock_guard lock(mutex);
    if (!asked || now - *asked >= std::chrono::seconds(1)) {
        room = find_cache_room();
        asked = now;
    }
    return room;
}

} // namespace causeway::endpoints
