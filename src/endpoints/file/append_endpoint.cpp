// SPDX-License-Identifier: Apache-2.0
// The end of a file, wherever it is at the time of each write: the kernel places the bytes, as others may append
// meanwhile.
#include "endpoints/file/file_endpoint.hpp"

#include "endpoints/file/file_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace causeway::endpoints {

namespace {

using transfer::outcome;
using transfer::step;

/// A file's line in the ordered_gate. Streams have theirs by address, with zeros behind it.
transfer::turn_key key_of(const struct stat& facts) {
    return {static_cast<std::uintptr_t>(facts.st_ino), static_cast<int>(facts.st_dev), -1};
}

/// One transfer after the other, so that the bytes of each lie together.
class append_endpoint final : public transfer::endpoint, transfer::waiting_end {
  public:
    append_endpoint(file_services services, descriptor fd, const struct stat& facts, std::size_t bytes)
        : m_services(services), m_fd(std::move(fd)), m_range{m_fd.get(), -1, bytes}, m_origin{this, facts.st_dev},
          m_turn(services.turns, key_of(facts)) {}

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        return {
            .kind = transfer::medium::file, .ordered = true, .in_flight = 1, .largest_block = std::size_t{16} << 20};
    }
    [[nodiscard]] std::string name() const override { return m_fd.get() < 0 ? m_name : known_file_name(m_fd.get()); }

    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }

    void abandoned() override { m_turn.leave(); }

    void open(const transfer::open_request& request, step& done) override {
        m_waiting = &done;
        m_turn.join();
        m_turn.wait([this, bytes = request.bytes] { std::exchange(m_waiting, nullptr)->finish({bytes, {}}); });
    }

    void cancel() override {
        if (m_waiting == nullptr) return;
        m_turn.leave();
        std::exchange(m_waiting, nullptr)->finish({0, {status::cancelled, 0, 0, "the transfer was cancelled"}});
    }

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        m_services.workers.run(m_origin, [this, offset, block] { return append(offset, block); }, done);
    }

    void close(std::size_t, const failure&, step& done) override {
        m_name = name(); // what is closed has none
        m_turn.leave();
        m_services.workers.run(m_origin, [this] { return close_written(std::move(m_fd), m_range); }, done);
    }

  private:
    [[nodiscard]] outcome append(std::size_t offset, std::span<const std::byte> block) const {
        std::size_t done = 0;
        while (done < block.size()) {
            // Of a descriptor in append mode pwrite appends, whatever the offset, and leaves the position alone, which
            // the program's descriptor has in common with this one (pwrite(2), BUGS).
            const auto count = ::pwrite(m_range.fd, block.data() + done, block.size() - done, 0);
            if (count > 0) {
                done += static_cast<std::size_t>(count);
            } else if (count == 0 || errno != EINTR) {
                return {done, io_failure("appending to", m_range, offset + done, count == 0 ? EIO : errno)};
            }
        }
        return {done, {}};
    }

    file_services m_services;
    descriptor m_fd;
    std::string m_name; // once it is closed
    file_range m_range;
    transfer::job_origin m_origin;
    transfer::turn m_turn;
    step* m_waiting = nullptr; // open() until the turn comes
};

} // namespace

std::unique_ptr<transfer::endpoint> make_append_endpoint(file_services services, int fd, std::size_t bytes) {
    const int flags = ::fcntl(fd, F_GETFL);
    struct stat facts{};
    if (flags < 0 || ::fstat(fd, &facts) != 0)
        throw transfer_error(status::invalid_value, "descriptor " + std::to_string(fd) + ": " + errno_text(errno),
                             errno);
    if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_RDONLY)
        throw transfer_error(status::invalid_value, file_name(fd) + " is not open for writing");
    if (!S_ISREG(facts.st_mode))
        throw transfer_error(status::invalid_value,
                             file_name(fd) + " is no regular file, at whose end bytes could be appended");
    if ((flags & O_APPEND) != 0 && (flags & O_DIRECT) == 0)
        return std::make_unique<append_endpoint>(services, descriptor::copy_of(fd), facts, bytes);
    const auto path = "/proc/self/fd/" + std::to_string(fd);
    descriptor own(::open(path.c_str(), O_WRONLY | O_APPEND | (flags & (O_SYNC | O_DSYNC)) | O_CLOEXEC));
    if (own.get() < 0)
        throw transfer_error(status::invalid_value,
                             file_name(fd) + " cannot be opened again to append to it: " + errno_text(errno), errno);
    return std::make_unique<append_endpoint>(services, std::move(own), facts, bytes);
}

} // namespace causeway::endpoints
