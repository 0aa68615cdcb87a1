// SPDX-License-Identifier: Apache-2.0
// Maps the file chunk by chunk.
#include "trace/part.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "trace/file_limit.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace causeway::trace {

namespace {

template <class Clock> std::int64_t nanoseconds_of() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

template <std::size_t Size> void copy_text(char (&to)[Size], const std::string& from) {
    *std::copy_n(from.begin(), std::min(from.size(), Size - 1), to) = '\0';
}

/// Processes of one number on hosts of one name: containers, or those that came before and were killed.
constexpr int most_namesakes = 1000;

std::string host_name() {
    utsname host{};
    (void)::uname(&host);
    return host.nodename;
}

} // namespace

part::part(const std::string& timeline, const identity& who, std::uint64_t most_bytes) : m_most_bytes(most_bytes) {
    const auto refuse = [&](const char* what) {
        const int reason = errno;
        if (m_file >= 0) {
            ::unlink(m_path.c_str());
            ::close(m_file);
        }
        throw transfer_error(status::invalid_value, std::string(what) + " " + m_path + ": " + errno_text(reason),
                             reason);
    };
    const auto own_name = timeline + "." + host_name() + "." + std::to_string(::getpid());
    for (int namesakes = 0; m_file < 0; ++namesakes) {
        m_path = own_name;
        if (namesakes > 0) m_path.append(".").append(std::to_string(namesakes));
        m_path += ".part";
        if (!claim() && (errno != EEXIST || namesakes == most_namesakes)) refuse("making");
    }
    // Room first: a page that the disk has none for would end the process.
    errno = may_reach(record::header_bytes) ? ::posix_fallocate(m_file, 0, record::header_bytes) : EFBIG;
    if (errno != 0) refuse("making room in");
    void* const mapped = ::mmap(nullptr, record::header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m_file, 0);
    if (mapped == MAP_FAILED) refuse("mapping");
    m_header = static_cast<record::file_header*>(mapped);
    m_header->rank = who.rank;
    m_header->ranks = who.ranks;
    m_header->node = who.node;
    m_header->is_job_guessed = who.is_job_guessed ? 1 : 0;
    m_header->process = ::getpid();
    m_header->begun = nanoseconds_of<std::chrono::steady_clock>();
    m_header->begun_since_1970 = nanoseconds_of<std::chrono::system_clock>();
    copy_text(m_header->job, who.job);
    copy_text(m_header->host, host_name());
    copy_text(m_header->version, who.version);
    std::memcpy(m_header->magic, record::magic, sizeof record::magic);
}

bool part::claim() {
    m_file = above_standard(::open(m_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (m_file < 0) return false;
    // Tells others that this process lives. Where no lock can be had, nobody is taken for dead.
    const bool is_taken = ::flock(m_file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    // Who collects parts may have found it before it was locked, and takes it for left.
    struct stat made{}, named{};
    if (!is_taken && ::fstat(m_file, &made) == 0 && ::stat(m_path.c_str(), &named) == 0 && made.st_ino == named.st_ino)
        return true;
    ::close(std::exchange(m_file, -1));
    errno = EEXIST;
    return false;
}

part::~part() {
    ::munmap(m_header, record::header_bytes);
    ::close(m_file);
}

std::byte* part::take_chunk(std::uint32_t recorder) {
    const std::lock_guard lock(m_mutex);
    if (m_header->is_cut != 0) return nullptr;
    const auto at = static_cast<off_t>(m_bytes);
    const bool is_at_option = m_bytes + record::chunk_bytes > m_most_bytes;
    int reason = is_at_option || !may_reach(m_bytes + record::chunk_bytes) ? EFBIG : 0;
    void* mapped = MAP_FAILED;
    if (reason == 0) reason = ::posix_fallocate(m_file, at, record::chunk_bytes);
    if (reason == 0) {
        mapped = ::mmap(nullptr, record::chunk_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m_file, at);
        if (mapped == MAP_FAILED) reason = errno;
    }
    if (reason != 0) {
        m_header->is_cut = 1;
        warn_once("the timeline ends here: " + m_path +
                  (is_at_option      ? " has reached CAUSEWAY_TRACE_SIZE"
                   : reason == EFBIG ? " has reached the process's limit of file sizes (ulimit -f)"
                                     : ": " + errno_text(reason)));
        return nullptr;
    }
    m_bytes += record::chunk_bytes;
    auto* const chunk = static_cast<std::byte*>(mapped);
    const record::chunk_header owner{recorder, 0};
    std::memcpy(chunk, &owner, sizeof owner);
    return chunk;
}

void part::give_back(std::byte* chunk) {
    if (chunk != nullptr) ::munmap(chunk, record::chunk_bytes);
}

void part::set_rank(int rank, int ranks) {
    m_header->rank = rank;
    m_header->ranks = ranks;
}

void part::set_links(const std::string& links) { copy_text(m_header->links, links); }

void part::end() { m_header->ended = nanoseconds_of<std::chrono::steady_clock>(); }

} // namespace causeway::trace
