// SPDX-License-Identifier: Apache-2.0
// Small transfers at once, large ones by workers; what is too large for the page cache past it.
#include "endpoints/file/file_blocks.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace causeway::endpoints {

namespace {

using transfer::outcome;
using transfer::step;

/// A transfer of no more is copied from memory at once: handing it to a worker takes longer.
constexpr std::size_t small_transfer = std::size_t{256} << 10;
/// A transfer of less gains nothing from direct access.
constexpr std::size_t smallest_direct = std::size_t{4} << 20;
/// What direct access wants offsets, and often addresses, to be a multiple of; some disks are content with 512.
constexpr std::size_t direct_alignment = 4096;
/// Larger blocks leave a processor's own cache by themselves.
constexpr std::size_t largest_pushed = std::size_t{512} << 10;
constexpr std::size_t cache_line = 64;

enum direct_choice : std::uint64_t { automatic, never, always };

/// Reads what is in the page cache of the start of `block`. Never waits for a disk. -1, and errno, if nothing is.
ssize_t read_cached(const file_range& whole, std::size_t offset, std::span<std::byte> block) {
    const iovec part{block.data(), block.size()};
    return ::preadv2(whole.fd, &part, 1, whole.start + static_cast<off_t>(offset), RWF_NOWAIT);
}

/// Fills `block` if all of it is in memory; false if not.
bool read_from_memory(const file_range& whole, std::size_t offset, std::span<std::byte> block) {
    const auto count = read_cached(whole, offset, block);
    if (count < 0 && errno == EOPNOTSUPP) {
        // A file system in memory has nothing to wait for, and does not know the flag.
        struct statfs facts {};
        return ::fstatfs(whole.fd, &facts) == 0 && facts.f_type == TMPFS_MAGIC && !read_at(whole, offset, block).error;
    }
    return count >= 0 && static_cast<std::size_t>(count) == block.size();
}

/// What lies modified in a processor's own cache comes out of it at little more than half of the link's bandwidth when a
/// device fetches it (measured: blocks of 512 KiB, PCIe 5); the cache that all processors share gives it faster.
void push_out([[maybe_unused]] std::span<const std::byte> block) {
#ifdef __x86_64__
    for (std::size_t line = 0; line < block.size(); line += cache_line)
        asm volatile("cldemote %0" : : "m"(block[line])); // processors that do not know it do nothing
#endif
}

/// Whether so much of a file of this size had better not pass through the page cache.
bool is_for_direct(const options& settings, const file_range& whole) {
    const auto choice = settings[option::direct_io];
    if (choice == never || whole.bytes < smallest_direct) return false;
    if (choice == always) return true;
    struct stat facts {};
    if (::fstat(whole.fd, &facts) != 0) return false;
    const auto size = std::max<std::uint64_t>(static_cast<std::uint64_t>(facts.st_size),
                                              static_cast<std::uint64_t>(whole.start) + whole.bytes);
    static const auto memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                               static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return size > memory / 4;
}

/// The part of a block of which the file's offsets are aligned: bytes before it, and its bytes.
struct aligned_part {
    std::size_t head = 0, bytes = 0;
};
aligned_part aligned_part_of(off_t start, std::size_t bytes) {
    const auto beyond = static_cast<std::size_t>(start) % direct_alignment;
    const auto head = std::min(bytes, beyond == 0 ? 0 : direct_alignment - beyond);
    return {head, (bytes - head) / direct_alignment * direct_alignment};
}

/// Moves the aligned middle of a block by `move(part, descriptor)` past the page cache, and the rest, or what direct access
/// refuses, through it. The parts go in order, so that what is done is a prefix.
template <class Block, class Move>
outcome move_directly(const file_range& whole, const descriptor& direct, std::size_t offset, Block block, Move move) {
    const auto middle = aligned_part_of(whole.start + static_cast<off_t>(offset), block.size());
    auto past = whole;
    past.fd = direct.get();
    std::size_t done = 0;
    const auto part = [&](const file_range& by, std::size_t bytes) {
        auto result = bytes == 0 ? outcome{} : move(by, offset + done, block.subspan(done, bytes));
        done += result.bytes;
        return result;
    };
    auto result = part(whole, middle.head);
    if (!result.error) {
        result = part(past, middle.bytes);
        // Memory or offsets that this disk or file system does not take directly (EINVAL, EFAULT), or the end of a file at an
        // odd place: the page cache takes everything.
        if (result.error.error_number == EINVAL || result.error.error_number == EFAULT || result.error.status == status::end_of_file)
            result = {};
    }
    if (!result.error) result = part(whole, block.size() - done);
    return {done, std::move(result.error)};
}

} // namespace

void file_blocks::open(const file_range& whole, bool for_device) {
    m_whole = whole;
    m_for_device = for_device;
    if (!is_for_direct(m_services.settings, whole)) return;
    // The user's descriptor keeps its flags. Not every file system has it, and not everybody may open the file again.
    const auto path = "/proc/self/fd/" + std::to_string(whole.fd);
    const int kept = ::fcntl(whole.fd, F_GETFL) & (O_ACCMODE | O_SYNC | O_DSYNC);
    m_direct = descriptor(::open(path.c_str(), kept | O_DIRECT | O_CLOEXEC));
}

void file_blocks::read(std::size_t offset, std::span<std::byte> block, step& done) {
    if (m_whole.bytes <= small_transfer && read_from_memory(m_whole, offset, block)) {
        done.finish({block.size(), {}});
    } else {
        m_services.workers.run([this, offset, block] { return read_block(offset, block); }, done);
    }
}

void file_blocks::write(std::size_t offset, std::span<const std::byte> block, step& done) {
    m_services.workers.run([this, offset, block] { return write_block(offset, block); }, done);
}

outcome file_blocks::read_block(std::size_t offset, std::span<std::byte> block) const {
    if (m_direct.get() < 0) {
        auto result = read_at(m_whole, offset, block);
        if (m_for_device && block.size() <= largest_pushed) push_out(block.first(result.bytes));
        return result;
    }
    const auto cached = std::max<ssize_t>(read_cached(m_whole, offset, block), 0);
    const auto bytes = static_cast<std::size_t>(cached);
    auto result = move_directly(m_whole, m_direct, offset + bytes, block.subspan(bytes), read_at);
    result.bytes += bytes;
    return result;
}

outcome file_blocks::write_block(std::size_t offset, std::span<const std::byte> block) const {
    if (m_direct.get() < 0) return write_at(m_whole, offset, block);
    return move_directly(m_whole, m_direct, offset, block, write_at);
}

} // namespace causeway::endpoints
