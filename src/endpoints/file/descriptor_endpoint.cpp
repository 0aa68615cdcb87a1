// SPDX-License-Identifier: Apache-2.0
// A file by descriptor and offset: blocks go through pread and pwrite, several at once.
#include "endpoints/file/file_endpoint.hpp"

#include "endpoints/file/file_blocks.hpp"
#include "endpoints/file/file_system.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace causeway::endpoints {

namespace {

using transfer::step;

class descriptor_endpoint final : public transfer::endpoint {
  public:
    descriptor_endpoint(file_services services, descriptor fd, off_t offset, std::size_t bytes, access mode,
                        bool direct)
        : m_fd(std::move(fd)), m_range{m_fd.get(), offset, bytes}, m_blocks(services, m_fd.get()),
          m_resource(file_system_of(m_fd.get())), m_mode(mode) {
        m_blocks.prepare(m_range, direct);
    }

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        transfer::endpoint_traits known{.kind = transfer::medium::file, .resource = m_resource};
        if (m_mode == access::write) known.most_io_threads = m_blocks.most_writers();
        return known;
    }
    [[nodiscard]] std::string name() const override { return m_fd.get() < 0 ? m_name : known_file_name(m_fd.get()); }

    void open(const transfer::open_request& request, step& done) override {
        m_blocks.open(request);
        done.finish({request.bytes, {}});
    }

    std::size_t prepare(std::size_t block_bytes) override {
        if (m_mode == access::write) m_blocks.expect_write();
        return m_blocks.first_block(block_bytes);
    }

    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        m_blocks.read(offset, block, done);
    }

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        m_blocks.write(offset, block, done);
    }

    void close(std::size_t, const failure&, step& done) override {
        if (m_blocks.is_of_this_machine()) {
            m_blocks.close({}, done);
        } else {
            m_name = name(); // what is closed has none
            m_blocks.close({}, done, std::move(m_fd));
        }
    }

  private:
    descriptor m_fd;
    std::string m_name; // once it is closed
    file_range m_range;
    file_blocks m_blocks;
    std::string_view m_resource;
    access m_mode;
};

/// Opens the file again without O_APPEND and O_DIRECT; the user's descriptor stays as it is. On an O_APPEND descriptor
/// Linux's pwrite appends whatever the offset (pwrite(2), BUGS). With O_DIRECT it refuses the unaligned begin and end
/// of a range.
descriptor reopen_plain(int fd, int flags, access mode) {
    const auto path = "/proc/self/fd/" + std::to_string(fd);
    const int kept = flags & (O_SYNC | O_DSYNC);
    descriptor again(::open(path.c_str(), kept | (mode == access::write ? O_WRONLY : O_RDONLY) | O_CLOEXEC));
    if (again.get() < 0)
        throw transfer_error(status::invalid_value,
                             std::string("cannot ") + (mode == access::write ? "write" : "read") +
                                 " at any offset of " + file_name(fd) + ", which is open " +
                                 ((flags & O_APPEND) != 0 ? "in append mode" : "for direct access") +
                                 " and cannot be opened again: " + errno_text(errno),
                             errno);
    return again;
}

} // namespace

std::unique_ptr<transfer::endpoint> make_descriptor_endpoint(file_services services, int fd, std::int64_t offset,
                                                             std::size_t bytes, access mode) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0)
        throw transfer_error(status::invalid_value, "descriptor " + std::to_string(fd) + ": " + errno_text(errno),
                             errno);
    const int wrong = mode == access::read ? O_WRONLY : O_RDONLY;
    if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == wrong)
        throw transfer_error(status::invalid_value,
                             file_name(fd) + " is not open for " + (mode == access::read ? "reading" : "writing"));
    if (::lseek(fd, 0, SEEK_CUR) < 0)
        throw transfer_error(status::invalid_value,
                             file_name(fd) + " has no offsets (a pipe or socket): use the FILE forms", errno);
    if (offset < 0)
        throw transfer_error(status::invalid_value, "the file offset " + std::to_string(offset) + " is negative");
    if (bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max() - offset))
        throw transfer_error(status::invalid_value, bytes_text(bytes) + " at " + std::to_string(offset) +
                                                        " reach beyond what a file can hold");
    descriptor own;
    if ((mode == access::write && (flags & O_APPEND) != 0) || (flags & O_DIRECT) != 0) {
        own = reopen_plain(fd, flags, mode);
    } else {
        own = descriptor::copy_of(fd);
    }
    return std::make_unique<descriptor_endpoint>(services, std::move(own), static_cast<off_t>(offset), bytes, mode,
                                                 (flags & O_DIRECT) != 0);
}

} // namespace causeway::endpoints
