// SPDX-License-Identifier: Apache-2.0
// The system calls of the file endpoints, each repeated until all is done or an error is certain.
#include "endpoints/file/file_io.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace causeway::endpoints {

namespace {

using transfer::outcome;

/// How long a wait for a pipe lasts before the cancel flag is looked at again.
constexpr int poll_milliseconds = 50;

outcome io_failure(const char* what, int fd, std::size_t done, std::size_t bytes, off_t offset, int error) {
    auto text = std::string(what) + " " + bytes_text(bytes);
    if (offset >= 0) text += " at " + bytes_text(static_cast<unsigned long long>(offset));
    text += " of " + file_name(fd) + ": " + errno_text(error);
    return {done, {status::io_error, error, 0, text}};
}

outcome end_of(int fd, std::size_t done, std::size_t bytes, off_t offset) {
    auto text = "reading " + bytes_text(bytes);
    if (offset >= 0) text += " at " + bytes_text(static_cast<unsigned long long>(offset));
    text += " of " + file_name(fd) + ": the file ended after " + bytes_text(done);
    return {done, {status::end_of_file, 0, 0, text}};
}

outcome cancelled_after(std::size_t done) { return {done, {status::cancelled, 0, 0, "the transfer was cancelled"}}; }

/// Whether one system call may be made now; false if cancelled.
bool wait_ready(int fd, short events, const std::atomic<bool>& cancelled) {
    while (!cancelled) {
        pollfd which{fd, events, 0};
        const int ready = ::poll(&which, 1, poll_milliseconds);
        if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    }
    return false;
}

} // namespace

descriptor::~descriptor() {
    if (m_number >= 0) ::close(m_number);
}

std::string file_name(int fd) {
    char path[PATH_MAX];
    const auto link = "/proc/self/fd/" + std::to_string(fd);
    const auto length = ::readlink(link.c_str(), path, sizeof path);
    if (fd < 0 || length <= 0) return "descriptor " + std::to_string(fd);
    return std::string(path, static_cast<std::size_t>(length));
}

outcome read_at(int fd, std::span<std::byte> block, off_t offset) {
    std::size_t done = 0;
    while (done < block.size()) {
        const auto count = ::pread(fd, block.data() + done, block.size() - done, offset + static_cast<off_t>(done));
        if (count > 0) {
            done += static_cast<std::size_t>(count);
        } else if (count == 0) {
            return end_of(fd, done, block.size(), offset);
        } else if (errno != EINTR) {
            return io_failure("reading", fd, done, block.size(), offset, errno);
        }
    }
    return {done, {}};
}

outcome write_at(int fd, std::span<const std::byte> block, off_t offset) {
    std::size_t done = 0;
    // A full disk shows as a short write first, and as an error at the next call.
    while (done < block.size()) {
        const auto count = ::pwrite(fd, block.data() + done, block.size() - done, offset + static_cast<off_t>(done));
        if (count >= 0) {
            done += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            return io_failure("writing", fd, done, block.size(), offset, errno);
        }
    }
    return {done, {}};
}

outcome read_next(int fd, std::span<std::byte> block, const std::atomic<bool>& cancelled) {
    std::size_t done = 0;
    while (done < block.size()) {
        if (!wait_ready(fd, POLLIN, cancelled)) return cancelled_after(done);
        const auto count = ::read(fd, block.data() + done, block.size() - done);
        if (count > 0) {
            done += static_cast<std::size_t>(count);
        } else if (count == 0) {
            return end_of(fd, done, block.size(), -1);
        } else if (errno != EINTR && errno != EAGAIN) {
            return io_failure("reading", fd, done, block.size(), -1, errno);
        }
    }
    return {done, {}};
}

outcome write_next(int fd, std::span<const std::byte> block, const std::atomic<bool>& cancelled) {
    struct stat facts {};
    if (::fstat(fd, &facts) != 0) return io_failure("writing", fd, 0, block.size(), -1, errno);
    // poll() promises room for PIPE_BUF bytes; more could block for as long as nobody reads.
    const std::size_t most = S_ISFIFO(facts.st_mode) ? PIPE_BUF : block.size();
    std::size_t done = 0;
    while (done < block.size()) {
        if (!wait_ready(fd, POLLOUT, cancelled)) return cancelled_after(done);
        const auto* const bytes = block.data() + done;
        const auto wanted = std::min(most, block.size() - done);
        const auto count = S_ISSOCK(facts.st_mode) ? ::send(fd, bytes, wanted, MSG_NOSIGNAL | MSG_DONTWAIT)
                                                   : ::write(fd, bytes, wanted);
        if (count >= 0) {
            done += static_cast<std::size_t>(count);
        } else if (errno != EINTR && errno != EAGAIN) {
            return io_failure("writing", fd, done, block.size(), -1, errno);
        }
    }
    return {done, {}};
}

} // namespace causeway::endpoints
