// SPDX-License-Identifier: Apache-2.0
// The system calls of the file endpoints, each repeated until all is done or an error is certain.
#include "endpoints/file/file_io.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <mutex>

namespace causeway::endpoints {

namespace {

using transfer::outcome;

/// How long a wait for a pipe lasts before the cancel flag is looked at again.
constexpr int poll_milliseconds = 50;

/// "reading 4 MiB at 12 MiB of input.dat"
std::string range_text(const char* what, const file_range& whole) {
    auto text = std::string(what) + " " + bytes_text(whole.bytes);
    if (whole.start >= 0) text += " at " + bytes_text(static_cast<unsigned long long>(whole.start));
    return text + " of " + file_name(whole.fd);
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

std::string file_name(int fd) {
    char path[PATH_MAX];
    const auto link = "/proc/self/fd/" + std::to_string(fd);
    const auto length = ::readlink(link.c_str(), path, sizeof path);
    if (fd < 0) return "a stream without a descriptor";
    if (length <= 0) return "descriptor " + std::to_string(fd);
    return std::string(path, static_cast<std::size_t>(length));
}

std::string known_file_name(int fd) {
    struct known_file {
        struct stat facts{};
        std::string name;
    };
    static std::mutex mutex; // guards files
    static auto& files = *new std::array<known_file, 16>; // threads may ask while the process ends
    struct stat now{};
    if (fd < 0 || ::fstat(fd, &now) != 0) return file_name(fd);
    const std::lock_guard lock(mutex);
    auto& known = files[now.st_ino % files.size()];
    // Renaming, unlinking and a new file in its place all change the time of the last change.
    const bool is_same = known.facts.st_dev == now.st_dev && known.facts.st_ino == now.st_ino &&
                         known.facts.st_ctim.tv_sec == now.st_ctim.tv_sec &&
                         known.facts.st_ctim.tv_nsec == now.st_ctim.tv_nsec && !known.name.empty();
    if (!is_same) known = {now, file_name(fd)};
    return known.name;
}

failure io_failure(const char* what, const file_range& whole, std::size_t stopped, int error) {
    return {status::io_error, error, 0,
            range_text(what, whole) + ": " + errno_text(error) + " after " + bytes_text(stopped)};
}

failure end_of_file(const file_range& whole, std::size_t stopped) {
    return {status::end_of_file, 0, 0, range_text("reading", whole) + ": the file ended after " + bytes_text(stopped)};
}

outcome read_at(const file_range& whole, std::size_t offset, std::span<std::byte> block) {
    std::size_t done = 0;
    while (done < block.size()) {
        const auto count = ::pread(whole.fd, block.data() + done, block.size() - done,
                                   whole.start + static_cast<off_t>(offset + done));
        if (count > 0) {
            done += static_cast<std::size_t>(count);
        } else if (count == 0) {
            return {done, end_of_file(whole, offset + done)};
        } else if (errno != EINTR) {
            return {done, io_failure("reading", whole, offset + done, errno)};
        }
    }
    return {done, {}};
}

outcome write_at(const file_range& whole, std::size_t offset, std::span<const std::byte> block) {
    std::size_t done = 0;
    // A full disk shows as a short write first, and as an error at the next call.
    while (done < block.size()) {
        const auto count = ::pwrite(whole.fd, block.data() + done, block.size() - done,
                                    whole.start + static_cast<off_t>(offset + done));
        if (count > 0) {
            done += static_cast<std::size_t>(count);
        } else if (count == 0 || errno != EINTR) {
            return {done, io_failure("writing", whole, offset + done, count == 0 ? EIO : errno)};
        }
    }
    return {done, {}};
}

outcome read_next(const file_range& whole, std::size_t offset, std::span<std::byte> block,
                  const std::atomic<bool>& cancelled) {
    std::size_t done = 0;
    while (done < block.size()) {
        if (!wait_ready(whole.fd, POLLIN, cancelled)) return cancelled_after(done);
        const auto count = ::read(whole.fd, block.data() + done, block.size() - done);
        if (count > 0) {
            done += static_cast<std::size_t>(count);
        } else if (count == 0) {
            return {done, end_of_file(whole, offset + done)};
        } else if (errno != EINTR && errno != EAGAIN) {
            return {done, io_failure("reading", whole, offset + done, errno)};
        }
    }
    return {done, {}};
}

outcome write_next(const file_range& whole, std::size_t offset, std::span<const std::byte> block,
                   const std::atomic<bool>& cancelled) {
    struct stat facts{};
    if (::fstat(whole.fd, &facts) != 0) return {0, io_failure("writing", whole, offset, errno)};
    // poll() promises room for PIPE_BUF bytes; more could block for as long as nobody reads.
    const std::size_t most = S_ISFIFO(facts.st_mode) ? PIPE_BUF : block.size();
    std::size_t done = 0;
    while (done < block.size()) {
        if (!wait_ready(whole.fd, POLLOUT, cancelled)) return cancelled_after(done);
        const auto* const bytes = block.data() + done;
        const auto wanted = std::min(most, block.size() - done);
        const auto count = S_ISSOCK(facts.st_mode) ? ::send(whole.fd, bytes, wanted, MSG_NOSIGNAL | MSG_DONTWAIT)
                                                   : ::write(whole.fd, bytes, wanted);
        if (count > 0) {
            done += static_cast<std::size_t>(count);
        } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
            return {done, io_failure("writing", whole, offset + done, count == 0 ? EIO : errno)};
        }
    }
    return {done, {}};
}

outcome close_written(descriptor own, const file_range& whole) {
    const auto text = range_text("writing", whole); // it has no name any more once it is closed
    const int error = own.close();
    if (error == 0) return {};
    return {0, {status::io_error, error, 0, text + ": closing it: " + errno_text(error)}};
}

} // namespace causeway::endpoints
