// SPDX-License-Identifier: Apache-2.0
// System calls on files.
#include "perf/file_access.hpp"

#include "perf/measurement.hpp"
#include "words.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace perf {

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

bench_file::bench_file(const std::filesystem::path& path, const char* mode, int flags)
    : m_path(path), m_stream(std::fopen(m_path.c_str(), mode)) {
    if (m_stream == nullptr) throw_errno("opening " + m_path);
    m_descriptor = open(m_path.c_str(), flags | O_CLOEXEC);
    if (m_descriptor < 0) {
        std::fclose(m_stream);
        throw_errno("opening " + m_path);
    }
    m_direct = open(m_path.c_str(), flags | O_CLOEXEC | O_DIRECT);
}

bench_file bench_file::make(const std::filesystem::path& directory) {
    std::string path = directory / "causeway-perf-XXXXXX";
    const int made = mkstemp(path.data());
    if (made < 0) throw_errno("making a file in " + directory.string());
    close(made);
    try {
        bench_file file(path, "w+b", O_RDWR);
        unlink(path.c_str());
        return file;
    } catch (...) {
        unlink(path.c_str());
        throw;
    }
}

bench_file bench_file::open_existing(const std::filesystem::path& path) { return {path, "rb", O_RDONLY}; }

bench_file::bench_file(bench_file&& other) noexcept
    : m_path(std::move(other.m_path)), m_stream(std::exchange(other.m_stream, nullptr)),
      m_descriptor(std::exchange(other.m_descriptor, -1)), m_direct(std::exchange(other.m_direct, -1)) {}

bench_file::~bench_file() {
    if (m_direct >= 0) close(m_direct);
    if (m_descriptor >= 0) close(m_descriptor);
    if (m_stream != nullptr) std::fclose(m_stream);
}

void bench_file::fill(const std::byte* bytes, std::size_t size) {
    truncate();
    seek(0);
    if (std::fwrite(bytes, 1, size, m_stream) != size || std::fflush(m_stream) != 0) throw_errno("writing " + m_path);
    sync();
}

void bench_file::truncate() {
    if (ftruncate(m_descriptor, 0) != 0) throw_errno("truncating " + m_path);
}

void bench_file::seek(std::size_t offset) {
    if (fseeko(m_stream, off_t(offset), SEEK_SET) != 0) throw_errno("seeking in " + m_path);
}

void bench_file::sync() {
    if (fdatasync(m_descriptor) != 0) throw_errno("writing " + m_path + " to its disk");
}

std::size_t bench_file::size() const {
    struct stat status{};
    if (fstat(m_descriptor, &status) != 0) throw_errno("asking for the size of " + m_path);
    return std::size_t(status.st_size);
}

bool bench_file::drop_cache() {
    // The stream's own buffer holds a page too.
    seek(0);
    sync(); // only clean pages can be forgotten
    if (posix_fadvise(m_descriptor, 0, 0, POSIX_FADV_DONTNEED) != 0) return false;
    return !is_cached();
}

bool bench_file::is_cached() const {
    const auto bytes = size();
    if (bytes == 0) return false;
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, m_descriptor, 0);
    if (mapped == MAP_FAILED) throw_errno("mapping " + m_path);
    const auto page = std::size_t(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((bytes + page - 1) / page);
    const int code = mincore(mapped, bytes, pages.data());
    munmap(mapped, bytes);
    if (code != 0) throw_errno("asking for the cached pages of " + m_path);
    const auto cached = std::ranges::count_if(pages, [](unsigned char flags) { return (flags & 1U) != 0; });
    return std::size_t(cached) * 50 > pages.size();
}

namespace {

constexpr int populate_read = 22; // MADV_POPULATE_READ (Linux 5.14), not in older headers

/// The processors that the calling thread may run on; none if that cannot be told.
std::vector<std::size_t> usable_processors() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::vector<std::size_t> all;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return all;
    for (std::size_t each = 0; each < CPU_SETSIZE; ++each)
        if (CPU_ISSET(each, &allowed)) all.push_back(each);
    return all;
}

void bind(std::thread& thread, std::size_t processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    (void)pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
}

} // namespace

parallel_access::parallel_access(unsigned threads, std::size_t block_bytes, processors where)
    : m_block(block_bytes), m_where(where), m_turn(threads + 1), m_own(threads) {
    const auto all = where == processors::own ? usable_processors() : std::vector<std::size_t>();
    for (auto& each : m_own) {
        m_threads.emplace_back([this, &each] { work(each); });
        // Neighbours in number are often one core: those that are few are spread over all.
        if (!all.empty()) bind(m_threads.back(), all[(m_threads.size() - 1) * all.size() / threads]);
    }
}

parallel_access::~parallel_access() {
    m_ended = true;
    m_turn.arrive_and_wait();
    for (auto& each : m_threads) each.join();
}

void parallel_access::fill(std::byte with) {
    for (auto& each : m_own) each.assign(2 * m_block, with);
}

double parallel_access::run(direction way, int file, std::size_t offset, std::byte* memory, std::size_t bytes,
                            manner how) {
    m_how = how;
    m_way = way;
    m_file = file;
    m_offset = offset;
    m_memory = memory;
    m_bytes = bytes;
    m_next = 0;
    m_error = 0;
    if (how == manner::by_faults) {
        void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, off_t(offset));
        if (mapped == MAP_FAILED) throw_errno("mapping a file");
        (void)madvise(mapped, bytes, MADV_HUGEPAGE);
        m_mapped = static_cast<std::byte*>(mapped);
    }
    const double seconds = seconds_of([this] {
        if (m_threads.size() == 1 || m_bytes <= m_block) { // waking a thread would only cost
            for (std::size_t at = 0; at < m_bytes; at += m_block) move_block(at, m_own.front());
            return;
        }
        m_turn.arrive_and_wait();
        m_turn.arrive_and_wait();
    });
    if (how == manner::by_faults) (void)munmap(m_mapped, bytes);
    if (m_error != 0) throw std::system_error(m_error, std::generic_category(), "raw access to the file");
    return seconds;
}

std::string parallel_access::text() const {
    return std::to_string(m_threads.size()) + (m_threads.size() == 1 ? " thread" : " threads") + " of " +
           causeway_tool::size_text(m_block) + (m_where == processors::own ? ", a processor each" : "");
}

void parallel_access::work(own_blocks& own) {
    for (;;) {
        m_turn.arrive_and_wait();
        if (m_ended) return;
        for (std::size_t at = m_next++ * m_block; at < m_bytes; at = m_next++ * m_block) move_block(at, own);
        m_turn.arrive_and_wait();
    }
}

void parallel_access::move_block(std::size_t at, own_blocks& own) {
    if (m_memory == nullptr) own.resize(2 * m_block);
    auto* const into = m_memory != nullptr ? m_memory + at : own.data() + at / m_block % 2 * m_block;
    move(at, std::min(at + m_block, m_bytes), into);
}

void parallel_access::move(std::size_t at, std::size_t end, std::byte* into) {
    constexpr std::size_t page = 4096;
    if (m_how == manner::by_faults) {
        (void)madvise(m_mapped + at, end - at, populate_read);
        (void)madvise(m_mapped + at, end - at, MADV_DONTNEED);
    }
    while (at < end) {
        const auto position = off_t(m_offset + at);
        const auto left = m_how == manner::whole_pages ? (end - at + page - 1) / page * page : end - at;
        const auto moved = m_way == direction::read ? pread(m_file, into, left, position)
                                                    : pwrite(m_file, into, left, position);
        if (moved <= 0) {
            m_error = moved < 0 ? errno : EIO;
            return;
        }
        at += std::size_t(moved);
        into += moved;
    }
}

} // namespace perf
