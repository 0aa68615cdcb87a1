// SPDX-License-Identifier: Apache-2.0
// Small transfers at once, large ones by I/O threads; what is too large for the page cache past it.
#include "endpoints/file/file_blocks.hpp"

#include "endpoints/file/file_system.hpp"
#include "endpoints/file/page_cache.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>

namespace causeway::endpoints {

namespace {

using transfer::outcome;
using transfer::step;

/// A transfer of less gains nothing from direct access.
constexpr std::size_t smallest_direct = std::size_t{4} << 20;
/// Of less a fault of 2 MiB, and as much ahead, would bring too much beyond the end.
constexpr std::size_t smallest_cold = std::size_t{8} << 20;
/// A disk likes large requests.
constexpr std::size_t cold_piece_bytes = std::size_t{4} << 20;
/// And not too many: 256 MiB took 136 ms with 8 readers, 156 with 16 (virtual disk, 16 processors).
constexpr std::size_t most_cold_pieces = 8;
/// So long the engine's thread reads for one transfer before it looks after the others: some 40 us.
constexpr std::size_t largest_shared_piece = std::size_t{512} << 10;
/// What direct access wants offsets, and often addresses, to be a multiple of; some disks are content with 512.
constexpr std::size_t direct_alignment = 4096;
/// Of more bytes all but the last leave the processors' own caches by themselves before a device comes for them, and
/// pushing takes time.
constexpr std::size_t largest_pushed = std::size_t{64} << 20, last_pushed = std::size_t{32} << 20;
constexpr std::size_t cache_line = 64;
/// What is written in a moment may as well be overwritten, or its file be gone, before the kernel would send it to the
/// disk.
constexpr std::size_t smallest_behind = std::size_t{64} << 20;

enum direct_choice : std::uint64_t { automatic, never, always };

/// Reads what is in the page cache of the start of `block`. Never waits for a disk. -1, and errno, if nothing is.
ssize_t read_cached(const file_range& whole, std::size_t offset, std::span<std::byte> block) {
    const iovec part{block.data(), block.size()};
    return ::preadv2(whole.fd, &part, 1, whole.start + static_cast<off_t>(offset), RWF_NOWAIT);
}

/// Moves the block from this processor's own cache to the cache that all processors share. A device fetches modified
/// lines from a processor's own cache at half the speed (PCIe 5: 17 instead of 30 GB/s for 16 MiB).
void push_out([[maybe_unused]] std::span<const std::byte> block) {
#ifdef __x86_64__
    for (std::size_t line = 0; line < block.size(); line += cache_line)
        asm volatile("cldemote %0" : : "m"(block[line])); // processors that do not know it do nothing
#endif
}

/// Files in memory may then be on a disk after all.
bool swaps() {
    struct sysinfo facts{};
    static const bool any = ::sysinfo(&facts) != 0 || facts.totalswap > 0;
    return any;
}

/// Whether so much of a file of this size had better not pass through the page cache. A file that fits is read from
/// there the next time; of a larger one, read again from its start, nothing would be there any more.
bool is_for_direct(const options& settings, const file_range& whole, bool users_choice, bool is_in_memory) {
    const auto choice = settings[option::direct_io];
    if (choice == never || whole.bytes < smallest_direct) return false;
    if (choice == always || users_choice) return true;
    if (is_in_memory) return false;
    struct stat facts{};
    if (::fstat(whole.fd, &facts) != 0) return false;
    const auto size = std::max<std::uint64_t>(static_cast<std::uint64_t>(facts.st_size),
                                              static_cast<std::uint64_t>(whole.start) + whole.bytes);
    return size > cache_room();
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

/// Moves the aligned middle of a block by `move(part, descriptor)` past the page cache, and the rest, or what direct
/// access refuses, through it. The parts go in order, so that what is done is a prefix.
template <class Block, class Move> outcome move_directly(const file_range& whole, const descriptor& direct,
                                                         std::size_t offset, Block block, Move move,
                                                         std::atomic<bool>& refused) {
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
        // The disk or file system refuses this memory or offset for O_DIRECT (EINVAL, EFAULT), or the file ends at an
        // unaligned offset: the page cache takes everything. Only a refusal of aligned memory rules O_DIRECT out for
        // later blocks.
        if (result.error.error_number == EINVAL || result.error.error_number == EFAULT) {
            const auto address = reinterpret_cast<std::uintptr_t>(block.data()) + middle.head;
            if (address % direct_alignment == 0) refused = true;
            result = {};
        } else if (result.error.status == status::end_of_file) {
            result = {};
        }
    }
    if (!result.error) result = part(whole, block.size() - done);
    return {done, std::move(result.error)};
}

} // namespace

/// A block whose pieces are read by several I/O threads.
struct file_blocks::split_read {
    struct piece final : transfer::step_owner {
        explicit piece(split_read& of) : whole(of), work(*this) {}
        void step_finished() override { whole.piece_finished(); }
        split_read& whole;
        step work;
    };

    explicit split_read(file_blocks& of) : blocks(of) {}

    void begin(std::size_t offset, std::span<std::byte> block, std::size_t piece_bytes, sharing with_engine,
               step& told) {
        done = &told;
        const auto count = (block.size() + piece_bytes - 1) / piece_bytes;
        while (pieces.size() < count) pieces.push_back(std::make_unique<piece>(*this));
        used = left = count;
        for (std::size_t i = 0; i < count; ++i) {
            const auto first = i * piece_bytes;
            pieces[i]->work.begin();
            blocks.read_piece(offset + first, block.subspan(first, std::min(piece_bytes, block.size() - first)),
                              with_engine, pieces[i]->work);
        }
    }

    void piece_finished() {
        if (--left > 0) return;
        outcome result;
        for (std::size_t i = 0; i < used; ++i) {
            auto one = pieces[i]->work.take();
            if (result.error) continue;
            // What is done is what a sequential reader would have got.
            result.bytes += one.bytes;
            result.error = std::move(one.error);
        }
        auto& told = *done;
        const auto self = std::find_if(blocks.m_reads.begin(), blocks.m_reads.end(),
                                       [this](const auto& each) { return each.get() == this; });
        blocks.m_spare.push_back(std::move(*self));
        blocks.m_reads.erase(self);
        told.finish(std::move(result));
    }

    file_blocks& blocks;
    std::vector<std::unique_ptr<piece>> pieces;
    std::size_t used = 0, left = 0;
    step* done = nullptr;
};

/// The end of a transfer where closing a descriptor may wait for another machine: an I/O thread does it, not the
/// engine's thread.
class file_blocks::slow_close final : transfer::step_owner {
  public:
    slow_close(file_blocks& of, step& told, descriptor own)
        : m_of(of), m_told(told), m_own(std::move(own)), m_work(*this) {
        m_work.begin();
    }
    /// Finished when nobody else uses the descriptors, and again when they are closed.
    [[nodiscard]] step& work() { return m_work; }

  private:
    enum class by { nobody, own_worker, file_worker };

    void step_finished() override {
        auto result = m_work.take();
        if (m_is_closed) {
            m_told.finish(std::move(result));
            return;
        }
        if (m_tried == by::nobody) m_result = std::move(result); // else there was no thread
        m_work.begin();
        auto& workers = m_of.m_services.workers;
        // All bytes have moved: that fails no more because no thread can be made. There are those that have moved them.
        switch (m_tried) {
        case by::nobody:
            m_tried = by::own_worker;
            workers.run_waiting([this] { return close(); }, m_work);
            return;
        case by::own_worker:
            m_tried = by::file_worker;
            workers.run(m_of.m_origin, [this] { return close(); }, m_work);
            return;
        case by::file_worker: m_work.finish(close());
        }
    }
    outcome close() {
        m_is_closed = true;
        for (auto* const each : {&m_of.m_direct, &m_own}) {
            auto closed = close_written(std::move(*each), m_of.m_whole);
            if (m_of.m_is_target && !m_result.error) m_result.error = std::move(closed.error);
        }
        return std::move(m_result);
    }

    file_blocks& m_of;
    step& m_told;
    descriptor m_own;
    step m_work;
    outcome m_result; // of the transfer
    by m_tried = by::nobody;
    bool m_is_closed = false;
};

file_blocks::file_blocks(file_services services, int fd) : m_services(services), m_origin{this} {
    struct stat file{};
    struct statfs system{};
    if (::fstat(fd, &file) == 0) m_origin.device = file.st_dev;
    const bool known = ::fstatfs(fd, &system) == 0;
    const auto type = static_cast<unsigned long>(system.f_type);
    m_is_in_memory = known && type == TMPFS_MAGIC;
    m_is_of_this_machine = known && endpoints::is_of_this_machine(type);
    m_has_one_writer = known && has_one_writer(file.st_mode, type);
    m_waits_for_disk = (::fcntl(fd, F_GETFL) & (O_SYNC | O_DSYNC | O_DIRECT)) != 0;
}
file_blocks::~file_blocks() = default;

unsigned file_blocks::most_writers() const {
    const auto& settings = m_services.settings;
    const bool has_one = m_has_one_writer && !m_waits_for_disk && m_direct.get() < 0 &&
                         settings[option::direct_io] != always && settings[option::lanes] == 0; // who says how many
                                                                                                // gets them
    return has_one ? 1 : std::numeric_limits<unsigned>::max();
}

void file_blocks::prepare(const file_range& whole, bool direct) {
    m_whole = whole;
    if (!is_for_direct(m_services.settings, whole, direct, m_is_in_memory)) return;
    // The user's descriptor keeps its flags. Not every file system has it, and not everybody may open the file again.
    const auto path = "/proc/self/fd/" + std::to_string(whole.fd);
    const int kept = ::fcntl(whole.fd, F_GETFL) & (O_ACCMODE | O_SYNC | O_DSYNC);
    m_direct = descriptor(::open(path.c_str(), kept | O_DIRECT | O_CLOEXEC));
    if (m_direct.get() < 0 && m_services.settings[option::direct_io] == always)
        warn_once("direct_io is always, but " + file_name(whole.fd) +
                  " goes through the page cache: opening it for direct access: " + errno_text(errno) +
                  ". Its file system must have that, and this user must be allowed to open it");
}

void file_blocks::open(const transfer::open_request& request) {
    // A disk likes large requests, and its bytes do not pass through a processor's copying.
    const bool whole_blocks = request.piece_bytes == 0 || m_direct.get() >= 0;
    m_piece_bytes = m_workers_piece_bytes = whole_blocks ? request.block_bytes : request.piece_bytes;
    m_is_target = !request.is_source;
    // What is past the page cache after all was planned for one writer, if it is a stream.
    if (m_is_target && m_direct.get() < 0) m_origin.at_once = request.io_threads;
    if (m_is_target && !m_is_in_memory && !m_waits_for_disk && m_direct.get() < 0 && m_whole.bytes >= smallest_behind)
        m_behind.emplace(m_whole, m_services.workers, std::make_shared<monotonic_clock>());
    // ZFS, where writers do not wait for each other, keeps files in a cache of its own.
    if (!m_is_target && m_direct.get() < 0 && !m_is_in_memory && m_has_one_writer && m_whole.bytes >= smallest_cold) {
        m_cold.emplace(m_whole);
        if (m_cold->lack(0)) m_origin.at_once = most_cold_pieces;
    }
    const bool is_cold = m_cold && m_cold->lack(0);
    m_shared_until = 0;
    if (!m_is_target && m_direct.get() < 0 && !is_cold && m_is_of_this_machine) {
        if (request.other.maps_at_once && !request.window) {
            // Into memory where it lies: the engine has nothing to do for it meanwhile.
            m_shared_until = m_whole.bytes;
            m_piece_bytes = std::min(m_piece_bytes, largest_shared_piece);
            m_origin.at_once = request.io_threads;
        } else if (request.for_device && m_piece_bytes <= largest_shared_piece) {
            // Until the first block is there, the device has nothing to do either.
            m_shared_until = request.block_bytes;
        }
    }
    if (request.for_device) m_pushed_from = m_whole.bytes <= largest_pushed ? 0 : m_whole.bytes - last_pushed;
}

std::size_t file_blocks::first_block(std::size_t block_bytes) const {
    const auto beyond = static_cast<std::size_t>(m_whole.start) % direct_alignment;
    return m_direct.get() < 0 || block_bytes % direct_alignment != 0 ? block_bytes : block_bytes - beyond;
}

void file_blocks::read(std::size_t offset, transfer::block_reference block, step& done) {
    if (m_whole.bytes <= small_transfer && is_read_at_once(offset, block)) {
        done.finish({block.size(), {}});
        return;
    }
    const bool is_cold = m_cold && m_cold->lack(offset);
    m_expects_cached = !is_cold;
    const auto piece_bytes = is_cold ? cold_piece_bytes : m_piece_bytes;
    const auto with_engine = !is_cold && offset < m_shared_until ? sharing::yes : sharing::no;
    if (block.size() <= piece_bytes) {
        read_piece(offset, block, with_engine, done);
    } else {
        if (m_spare.empty()) m_spare.push_back(std::make_unique<split_read>(*this));
        m_reads.push_back(std::move(m_spare.back()));
        m_spare.pop_back();
        m_reads.back()->begin(offset, block, piece_bytes, with_engine, done);
    }
}

void file_blocks::read_piece(std::size_t offset, std::span<std::byte> piece, sharing with_engine, step& done) {
    auto by_worker = [this, offset, piece] { return read_now(offset, piece); };
    if (with_engine == sharing::yes) {
        m_services.workers.run_shared(
            m_origin, by_worker, [this, offset, piece] { return read_here(offset, piece); }, done);
    } else {
        m_services.workers.run(m_origin, by_worker, done);
    }
}

void file_blocks::expect_write() {
    if (m_whole.bytes > small_write || !m_is_in_memory) m_services.workers.expect_job();
}

void file_blocks::write(std::size_t offset, transfer::block_reference block, step& done) {
    outcome here;
    if (m_whole.bytes <= small_write && m_direct.get() < 0) here = written_at_once(offset, block);
    if (here.error || here.bytes == block.size()) {
        done.finish(std::move(here));
        return;
    }
    if (here.bytes > 0) {
        const auto rest = [this, offset, block, before = here.bytes] {
            auto result = write_now(offset + before, block.host().subspan(before));
            result.bytes += before;
            return result;
        };
        m_services.workers.run(m_origin, rest, done);
        return;
    }
    m_services.workers.run(m_origin, [this, offset, block] { return write_now(offset, block); }, done);
    if (m_behind) m_behind->go_on();
}

void file_blocks::close(outcome result, step& done, descriptor own) {
    auto* told = &done;
    if (own.get() >= 0 || (!m_is_of_this_machine && m_direct.get() >= 0)) {
        m_closing = std::make_unique<slow_close>(*this, done, std::move(own));
        told = &m_closing->work();
    }
    if (m_behind) {
        m_behind->close(std::move(result), *told);
    } else {
        told->finish(std::move(result));
    }
}

std::optional<outcome> file_blocks::read_here(std::size_t offset, std::span<std::byte> piece) {
    const bool is_there = m_is_in_memory && !swaps()
                              ? !read_at(m_whole, offset, piece).error
                              : read_cached(m_whole, offset, piece) == static_cast<ssize_t>(piece.size());
    if (!is_there) {
        // So the rest may not be either.
        m_shared_until = 0;
        m_piece_bytes = m_workers_piece_bytes;
        return {};
    }
    if (offset >= m_pushed_from) push_out(piece);
    return outcome{piece.size(), {}};
}

bool file_blocks::is_read_at_once(std::size_t offset, std::span<std::byte> piece) const {
    return m_is_in_memory ? !read_at(m_whole, offset, piece).error
                          : read_cached(m_whole, offset, piece) == static_cast<ssize_t>(piece.size());
}

outcome file_blocks::written_at_once(std::size_t offset, std::span<const std::byte> block) const {
    if (m_is_in_memory) return swaps() ? outcome{} : write_at(m_whole, offset, block);
    const iovec part{const_cast<std::byte*>(block.data()), block.size()};
    const auto count = m_waits_for_disk
                           ? -1
                           : ::pwritev2(m_whole.fd, &part, 1, m_whole.start + static_cast<off_t>(offset), RWF_NOWAIT);
    return {static_cast<std::size_t>(std::max<ssize_t>(count, 0)), {}};
}

outcome file_blocks::read_now(std::size_t offset, std::span<std::byte> piece) {
    if (m_direct.get() < 0 || m_refuses_direct) {
        auto result = m_cold ? read_or_bring(offset, piece) : read_at(m_whole, offset, piece);
        if (offset >= m_pushed_from) push_out(piece.first(result.bytes));
        return result;
    }
    // A read that does not wait is no way to ask: the kernel begins to read what is missing (measured, Linux 6.18), so
    // that the disk would be read twice.
    if (is_cached(m_whole.fd, static_cast<std::uint64_t>(m_whole.start) + offset, piece.size()))
        return read_at(m_whole, offset, piece);
    return move_directly(m_whole, m_direct, offset, piece, read_at, m_refuses_direct);
}

outcome file_blocks::read_or_bring(std::size_t offset, std::span<std::byte> piece) {
    // To ask mincore(2) of each piece takes 2 % of the time of reading it. One that is not there after all begins to be
    // read ahead by the kernel, through the cache as what is brought: that is the price once in a block.
    std::size_t done = 0;
    if (m_expects_cached) {
        done = static_cast<std::size_t>(std::max<ssize_t>(read_cached(m_whole, offset, piece), 0));
        if (done == piece.size()) return {done, {}};
        m_expects_cached = false;
    }
    m_cold->bring(offset + done, piece.size() - done);
    auto result = read_at(m_whole, offset + done, piece.subspan(done));
    result.bytes += done;
    return result;
}

outcome file_blocks::write_now(std::size_t offset, std::span<const std::byte> block) {
    if (m_direct.get() < 0 || m_refuses_direct) {
        auto result = write_at(m_whole, offset, block);
        if (m_behind) m_behind->wrote(m_whole.start + static_cast<off_t>(offset), result.bytes);
        return result;
    }
    return move_directly(m_whole, m_direct, offset, block, write_at, m_refuses_direct);
}

} // namespace causeway::endpoints
