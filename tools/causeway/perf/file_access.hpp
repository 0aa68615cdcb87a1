// SPDX-License-Identifier: Apache-2.0
// Files to measure with: made, read and written in parallel, taken out of the page cache.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace perf {

/// Throws std::system_error of errno.
[[noreturn]] void throw_errno(const std::string& what);

/// One file, open as a stream, as a descriptor, and, where the file system can, as one for direct input and output.
class bench_file {
  public:
    /// A new, already unlinked file in `directory`, so that nothing is left behind however the program ends.
    static bench_file make(const std::filesystem::path& directory);
    /// An existing file, to read.
    static bench_file open_existing(const std::filesystem::path& path);

    ~bench_file();
    bench_file(bench_file&& other) noexcept;
    bench_file& operator=(bench_file&&) = delete;

    /// Replaces the contents. On return they are in the page cache and on the disk, and the disk is idle.
    void fill(const std::byte* bytes, std::size_t size);
    void truncate();
    void seek(std::size_t offset);
    void sync();

    /// Asks the system to forget the contents. False if they are still in memory, as on tmpfs.
    bool drop_cache();

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::FILE* stream() const { return m_stream; }
    [[nodiscard]] int descriptor() const { return m_descriptor; }
    /// -1 if the file system has no direct input and output.
    [[nodiscard]] int direct_descriptor() const { return m_direct; }

  private:
    bench_file(const std::filesystem::path& path, const char* mode, int flags);
    [[nodiscard]] bool is_cached() const;

    std::string m_path;
    std::FILE* m_stream = nullptr;
    int m_descriptor = -1, m_direct = -1;
};

/// Reads or writes blocks of a file with a pool of threads, started beforehand so that starting them is not part of the
/// limit. The caller is one of them.
class parallel_access {
  public:
    enum class direction { read, write };
    /// Direct input and output moves whole pages: the last block is padded, and a read may end with the file. With
    /// by_faults, page faults of a mapping bring each block into the page cache before it is read (madvise(2),
    /// MADV_POPULATE_READ).
    enum class manner { plain, whole_pages, by_faults };

    /// Linux may wake two threads on one processor while others idle. Bound threads avoid that, but cannot make way for
    /// other programs. So which is faster has to be measured.
    enum class processors { any, own };

    /// `processors::own` needs at least as many processors as threads.
    parallel_access(unsigned threads, std::size_t block_bytes, processors where = processors::any);
    ~parallel_access();

    /// Returns seconds. In whole pages, offset and memory must be aligned to pages, and memory padded to whole ones; by
    /// faults the offset as well. Null `memory`: each thread reads into two blocks of its own, in turn, which its
    /// caches hold, or writes what fill() has left there.
    double run(direction way, int file, std::size_t offset, std::byte* memory, std::size_t bytes,
               manner how = manner::plain);

    /// Before run(): sets all bytes of the threads' own blocks.
    void fill(std::byte with);

    [[nodiscard]] unsigned threads() const { return unsigned(m_threads.size()); }
    /// "14 threads of 4 MiB", "14 threads of 4 MiB, a processor each"
    [[nodiscard]] std::string text() const;

  private:
    using own_blocks = std::vector<std::byte>; // two
    void work(own_blocks& own);
    void move(std::size_t at, std::size_t end, std::byte* into);
    void move_block(std::size_t at, own_blocks& own);

    std::size_t m_block;
    processors m_where;
    std::barrier<> m_turn; // twice for each run; orders all below
    direction m_way = direction::read;
    manner m_how = manner::plain;
    std::byte* m_mapped = nullptr; // by faults: the file from m_offset on
    int m_file = -1;
    std::size_t m_offset = 0, m_bytes = 0;
    std::byte* m_memory = nullptr;
    bool m_ended = false;
    std::atomic<std::size_t> m_next = 0;
    std::atomic<int> m_error = 0;
    std::vector<own_blocks> m_own; // one for each thread; the caller uses the first
    std::vector<std::thread> m_threads;
};

} // namespace perf
