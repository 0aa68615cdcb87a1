// SPDX-License-Identifier: Apache-2.0
// The blocks of one transfer in a file that has offsets: read and written in any order, several at once.
#pragma once

#include "endpoints/file/cold_pages.hpp"
#include "endpoints/file/file_endpoint.hpp"
#include "endpoints/file/file_io.hpp"
#include "endpoints/file/write_behind.hpp"

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace causeway::endpoints {

/// Reads of at most this size are done by the engine's thread if the file is in memory: handing them to an I/O thread
/// takes longer.
inline constexpr std::size_t small_transfer = std::size_t{256} << 10;
/// The same for writes, which take longer.
inline constexpr std::size_t small_write = std::size_t{64} << 10;

/// Engine's thread only, but for the constructor and prepare(), which ask the file system and may block.
class file_blocks {
  public:
    file_blocks(file_services services, int fd);
    ~file_blocks();

    /// Call once, before open(); any thread that may wait. The caller keeps `whole.fd` open. `direct`: the user opened
    /// the file with O_DIRECT.
    void prepare(const file_range& whole, bool direct = false);
    void open(const transfer::open_request& request);
    /// With O_DIRECT: the size of the first block after which all blocks begin at aligned offsets and addresses.
    [[nodiscard]] std::size_t first_block(std::size_t block_bytes) const;

    /// A block is on its way here, to be written.
    void expect_write();
    void read(std::size_t offset, transfer::block_reference block, transfer::step& done);
    void write(std::size_t offset, transfer::block_reference block, transfer::step& done);
    /// The origin of its jobs for I/O threads.
    [[nodiscard]] const transfer::job_origin& origin() const { return m_origin; }
    /// How many threads may write at once. Linux locks a file for each write to its pages, so one is enough. Past the
    /// page cache, or where writes wait for a disk or another machine, many are faster.
    [[nodiscard]] unsigned most_writers() const;
    /// False for a remote file, on which each call may wait for another machine.
    [[nodiscard]] bool is_of_this_machine() const { return m_is_of_this_machine; }
    /// Finishes `done` with `result` once no job uses the descriptor any more. Before that an I/O thread closes `own`,
    /// if given; if that fails, `done` gets that failure.
    void close(transfer::outcome result, transfer::step& done, descriptor own = {});

  private:
    struct split_read;
    class slow_close;

    enum class sharing { no, yes };
    void read_piece(std::size_t offset, std::span<std::byte> piece, sharing with_engine, transfer::step& done);
    /// Reads `piece` if that needs no disk. False: it is not filled, or only in part.
    [[nodiscard]] bool is_read_at_once(std::size_t offset, std::span<std::byte> piece) const;
    /// Reads `piece` on the thread that drives the engine; nothing if an I/O thread has to.
    [[nodiscard]] std::optional<transfer::outcome> read_here(std::size_t offset, std::span<std::byte> piece);
    /// Writes what needs no wait for a disk; 0 bytes unless the file system supports that (xfs and btrfs do).
    [[nodiscard]] transfer::outcome written_at_once(std::size_t offset, std::span<const std::byte> block) const;
    /// On an I/O thread.
    [[nodiscard]] transfer::outcome read_now(std::size_t offset, std::span<std::byte> piece);
    /// As read_now(); brings missing pages by m_cold.
    [[nodiscard]] transfer::outcome read_or_bring(std::size_t offset, std::span<std::byte> piece);
    [[nodiscard]] transfer::outcome write_now(std::size_t offset, std::span<const std::byte> block);

    file_services m_services;
    transfer::job_origin m_origin;
    bool m_is_in_memory; // on tmpfs, which knows no RWF_NOWAIT
    bool m_is_of_this_machine;
    bool m_has_one_writer;
    bool m_waits_for_disk; // each write does (O_SYNC, O_DSYNC, O_DIRECT)
    file_range m_whole;
    std::size_t m_piece_bytes = 0, m_workers_piece_bytes = 0; // the latter where only I/O threads read
    bool m_is_target = false;
    std::size_t m_shared_until = 0; // before this offset the thread that drives the engine reads, too
    std::size_t m_pushed_from = std::numeric_limits<std::size_t>::max(); // from this offset on, what is read is pushed
                                                                         // out of the processor's own cache
    std::atomic<bool> m_refuses_direct{false}; // the file system refuses O_DIRECT at these offsets or addresses
    std::optional<write_behind> m_behind;
    std::optional<cold_pages> m_cold;
    std::atomic<bool> m_expects_cached{false}; // the last block begun was cached, and so was each piece since
    descriptor m_direct; // the same file with O_DIRECT; none where that is not wanted or not possible
    std::vector<std::unique_ptr<split_read>> m_reads, m_spare;
    std::unique_ptr<slow_close> m_closing;
};

} // namespace causeway::endpoints
