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

/// A transfer of at most this size is copied from memory at once, because handing it to an I/O thread takes longer.
inline constexpr std::size_t small_transfer = std::size_t{256} << 10;
/// The same for one to a file, which takes longer.
inline constexpr std::size_t small_write = std::size_t{64} << 10;

/// Engine's thread, but for the constructor and prepare(), which ask the file system.
class file_blocks {
  public:
    file_blocks(file_services services, int fd);
    ~file_blocks();

    /// Once, before open(); any thread that may wait. `whole.fd` stays open. `direct`: the user opened the file for
    /// direct access.
    void prepare(const file_range& whole, bool direct = false);
    void open(const transfer::open_request& request);
    /// For direct access: what makes the blocks after the first begin at aligned offsets, as their memory does.
    [[nodiscard]] std::size_t first_block(std::size_t block_bytes) const;

    /// A block is on its way here, to be written.
    void expect_write();
    void read(std::size_t offset, transfer::block_reference block, transfer::step& done);
    void write(std::size_t offset, transfer::block_reference block, transfer::step& done);
    /// Of jobs for workers.
    [[nodiscard]] const transfer::job_origin& origin() const { return m_origin; }
    /// How many may write at once. Linux lets one writer at a time into the pages of a file; more would wait at its
    /// lock. Past the page cache, or where a disk or another machine is waited for, many are faster.
    [[nodiscard]] unsigned most_writers() const;
    /// False if whatever is done to the file may wait for another machine.
    [[nodiscard]] bool is_of_this_machine() const { return m_is_of_this_machine; }
    /// Finishes `done` with `result` once nobody uses the descriptor any more. `own`, if it is given, is closed by a
    /// worker before; a failure of that is the result.
    void close(transfer::outcome result, transfer::step& done, descriptor own = {});

  private:
    struct split_read;
    class slow_close;

    enum class sharing { no, yes };
    void read_piece(std::size_t offset, std::span<std::byte> piece, sharing with_engine, transfer::step& done);
    /// Whether that needed no disk; else nothing is known of `piece`.
    [[nodiscard]] bool is_read_at_once(std::size_t offset, std::span<std::byte> piece) const;
    /// By whoever drives the engine; nothing if a worker has to do it.
    [[nodiscard]] std::optional<transfer::outcome> read_here(std::size_t offset, std::span<std::byte> piece);
    /// What could be written without waiting for a disk; nothing unless the file system says so (xfs and btrfs do).
    [[nodiscard]] transfer::outcome written_at_once(std::size_t offset, std::span<const std::byte> block) const;
    /// In a worker.
    [[nodiscard]] transfer::outcome read_now(std::size_t offset, std::span<std::byte> piece);
    /// With m_cold.
    [[nodiscard]] transfer::outcome read_or_bring(std::size_t offset, std::span<std::byte> piece);
    [[nodiscard]] transfer::outcome write_now(std::size_t offset, std::span<const std::byte> block);

    file_services m_services;
    transfer::job_origin m_origin;
    bool m_is_in_memory; // the file system is, and knows no RWF_NOWAIT
    bool m_is_of_this_machine;
    bool m_has_one_writer;
    bool m_waits_for_disk; // each write does (O_SYNC, O_DSYNC, O_DIRECT)
    file_range m_whole;
    std::size_t m_piece_bytes = 0, m_workers_piece_bytes = 0; // the latter where they read alone
    bool m_is_target = false;
    std::size_t m_shared_until = 0; // what lies before is read by whoever drives the engine, too
    std::size_t m_pushed_from = std::numeric_limits<std::size_t>::max(); // what is read from here on, out of the
                                                                         // processor's own cache
    std::atomic<bool> m_refuses_direct{false}; // the disk, these offsets and addresses
    std::optional<write_behind> m_behind;
    std::optional<cold_pages> m_cold;
    std::atomic<bool> m_expects_cached{false}; // as the last block that was begun, until a piece is not
    descriptor m_direct; // of the same file, past the page cache; none where that is not wanted or not possible
    std::vector<std::unique_ptr<split_read>> m_reads, m_spare;
    std::unique_ptr<slow_close> m_closing;
};

} // namespace causeway::endpoints
