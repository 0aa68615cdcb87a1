// SPDX-License-Identifier: Apache-2.0
// memfd_create(2), and /proc/PID/fd to find it again.
#include "comm/shared_segment.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

namespace causeway::comm {

namespace {

constexpr std::size_t page = 4096;
/// More than any machine has, and far from where sums overflow.
constexpr std::size_t largest = std::size_t{1} << 50;

/// The last page says whose memory it is, so that a number of a process or descriptor that is used again cannot
/// deceive.
struct label {
    std::uint64_t magic = 0xCA05E3A157EE7000;
    std::uint64_t key = 0;
};

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

/// With all its pages, if it has them: else whoever copies meets a fault at each of them, 64 in a block of 256 KiB,
/// which takes ten times as long then.
std::byte* map(int descriptor, std::size_t bytes) {
    constexpr std::size_t block = 512; // of st_blocks
    struct stat facts{};
    const bool has_all = ::fstat(descriptor, &facts) == 0 && static_cast<std::size_t>(facts.st_blocks) * block >= bytes;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (has_all ? MAP_POPULATE : 0),
                                descriptor, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

/// False, and errno. A step at a time: a signal has the kernel undo what one call has made.
bool make_pages(int descriptor, std::size_t offset, std::size_t bytes) {
    constexpr std::size_t step = std::size_t{2} << 20;
    while (bytes != 0) {
        const auto now = std::min(bytes, step);
        if (::fallocate(descriptor, 0, static_cast<off_t>(offset), static_cast<off_t>(now)) == 0) {
            offset += now;
            bytes -= now;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

[[noreturn]] void refuse(std::size_t bytes) {
    const int cause = errno;
    throw transfer_error(status::out_of_host_memory,
                         "making " + bytes_text(bytes) + " of memory that processes share: " + errno_text(cause),
                         cause);
}

/// -1, and errno.
int make_memory_file() {
#ifndef MFD_NOEXEC_SEAL
    constexpr unsigned MFD_NOEXEC_SEAL = 8; // since Linux 6.3
#endif
    // Where programs may have no other memory files (sysctl vm.memfd_noexec=2) a plain one is EACCES.
    const int made = ::memfd_create("causeway-window", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (made >= 0 || errno != EINVAL) return made;
    return ::memfd_create("causeway-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

std::uint64_t new_key() {
    static std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

} // namespace

std::unique_ptr<shared_segment> shared_segment::create(std::size_t bytes) { return make(bytes, pages::all); }
std::unique_ptr<shared_segment> shared_segment::reserve(std::size_t bytes) { return make(bytes, pages::none); }

std::unique_ptr<shared_segment> shared_segment::make(std::size_t bytes, pages at_once) {
    const auto size = whole_pages(bytes);
    const auto in_file = size + page;
    descriptor made(make_memory_file());
    // One that the node had no memory for later would end the process.
    if (made.get() < 0 || !(at_once == pages::all ? make_pages(made.get(), 0, in_file)
                                                  : ::ftruncate(made.get(), static_cast<off_t>(in_file)) == 0))
        refuse(bytes);
    const label mark{.key = new_key()};
    if (::pwrite(made.get(), &mark, sizeof mark, static_cast<off_t>(size)) != sizeof mark) refuse(bytes);
    if (::fcntl(made.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) refuse(bytes);
    auto* const memory = map(made.get(), size);
    if (memory == nullptr) refuse(bytes);
    std::unique_ptr<shared_segment> segment(
        new shared_segment({static_cast<std::int32_t>(::getpid()), made.get(), mark.key, size}, memory));
    segment->m_descriptor = std::move(made);
    return segment;
}

void shared_segment::commit(std::size_t offset, std::size_t bytes) {
    if (!make_pages(m_descriptor.get(), offset, bytes)) refuse(bytes);
}

std::vector<std::pair<std::size_t, std::size_t>> shared_segment::parts_with_pages() const {
    const std::vector<std::pair<std::size_t, std::size_t>> whole{{0, m_address.bytes}};
    const auto bytes = static_cast<off_t>(m_address.bytes);
    const int file = m_descriptor.get();
    // Programs close descriptors that they do not know, and open others under their numbers.
    label mark;
    if (::pread(file, &mark, sizeof mark, bytes) != sizeof mark || mark.magic != label{}.magic ||
        mark.key != m_address.key)
        return whole;
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (off_t end = 0; end < bytes;) {
        const off_t first = ::lseek(file, end, SEEK_DATA);
        end = first < 0 ? first : ::lseek(file, first, SEEK_HOLE);
        if (end <= first) return whole;
        if (first < bytes) found.emplace_back(first, std::min(end, bytes));
    }
    return found;
}

std::unique_ptr<shared_segment> shared_segment::open(const segment_address& where) noexcept {
    const std::size_t size = where.bytes;
    if (size == 0 || size % page != 0 || size > largest || where.process <= 0 || where.descriptor < 0) return nullptr;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", where.process, where.descriptor);
    const auto is_memory = [&](const struct stat& facts) {
        return S_ISREG(facts.st_mode) && facts.st_size == static_cast<off_t>(size + page);
    };
    struct stat facts{};
    // Of anything but memory of the right size not even the label is read. Opening a device would do something, and the
    // number may be another file's by then.
    if (::stat(path, &facts) != 0 || !is_memory(facts)) return nullptr;
    const descriptor found(::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (found.get() < 0 || ::fstat(found.get(), &facts) != 0 || !is_memory(facts)) return nullptr;
    // What can shrink would end the process that maps it.
    const int seals = ::fcntl(found.get(), F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return nullptr;
    label mark;
    if (::pread(found.get(), &mark, sizeof mark, static_cast<off_t>(size)) != sizeof mark) return nullptr;
    if (mark.magic != label{}.magic || mark.key != where.key) return nullptr;
    auto* const memory = map(found.get(), size);
    if (memory == nullptr) return nullptr;
    return std::unique_ptr<shared_segment>(new shared_segment(where, memory));
}

shared_segment::~shared_segment() { ::munmap(m_memory, m_address.bytes); }

} // namespace causeway::comm
