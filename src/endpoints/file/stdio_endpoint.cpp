// SPDX-License-Identifier: Apache-2.0
// A stdio stream: regular files by position, everything else (pipes, sockets, append mode) in order.
#include "endpoints/file/file_endpoint.hpp"

#include "endpoints/file/file_blocks.hpp"
#include "endpoints/file/file_io.hpp"
#include "endpoints/file/file_system.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace causeway::endpoints {

namespace {

using transfer::outcome;
using transfer::step;

#if defined(__GLIBC__) && !defined(_IO_EOF_SEEN)
constexpr int _IO_EOF_SEEN = 0x0010;
#endif

outcome stream_failure(const char* what, std::FILE* file, int error) {
    const auto text = std::string(what) + " " + file_name(::fileno(file)) + ": " + errno_text(error);
    return {0, {status::io_error, error, 0, text}};
}

/// What both kinds have in common: commands on one stream take effect one after the other.
class stdio_endpoint : public transfer::endpoint, transfer::waiting_end {
  public:
    stdio_endpoint(file_services services, std::FILE* file, access mode)
        : m_services(services), m_file(file), m_mode(mode),
          m_turn(services.turns, {reinterpret_cast<std::uintptr_t>(file), 0, 0}) {}

    [[nodiscard]] std::string name() const override { return known_file_name(::fileno(m_file)); }

    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }

    void enqueued() override { m_turn.join(); }
    void abandoned() override { m_turn.leave(); }

    void open(const transfer::open_request& request, step& done) override {
        m_waiting = &done;
        m_turn.wait([this, bytes = request.bytes] {
            auto& opened = *std::exchange(m_waiting, nullptr);
            // Only the position matters to a transfer of nothing, and that stays.
            if (bytes == 0) {
                opened.finish({});
            } else {
                start_settling(bytes, opened);
            }
        });
    }

    void cancel() override {
        m_cancelled = true;
        if (m_waiting == nullptr) return;
        m_turn.leave();
        std::exchange(m_waiting, nullptr)->finish({0, {status::cancelled, 0, 0, "the transfer was cancelled"}});
    }

  protected:
    [[nodiscard]] std::FILE* file() const { return m_file; }
    [[nodiscard]] access mode() const { return m_mode; }
    [[nodiscard]] file_services& services() { return m_services; }
    [[nodiscard]] const std::atomic<bool>& cancelled() const { return m_cancelled; }
    void leave() { m_turn.leave(); }

    virtual void start_settling(std::size_t bytes, step& done) {
        start([this, bytes] { return settle(bytes); }, done);
    }
    /// Runs `job` where it may block.
    virtual void start(transfer::worker_pool::work job, step& done) = 0;
    /// On an I/O thread: brings stream and descriptor together before the first byte moves; its outcome is open()'s.
    virtual outcome settle(std::size_t bytes) = 0;

  private:
    file_services m_services;
    std::FILE* m_file;
    access m_mode;
    transfer::turn m_turn;
    step* m_waiting = nullptr; // open() until the turn comes
    std::atomic<bool> m_cancelled{false};
};

/// Blocks go to offsets of their own, several at once; at the end the stream is put where fread or fwrite would have
/// left it.
class regular_file_endpoint final : public stdio_endpoint {
  public:
    regular_file_endpoint(file_services services, std::FILE* file, access mode)
        : stdio_endpoint(services, file, mode), m_blocks(services, ::fileno(file)) {}

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        transfer::endpoint_traits known{.kind = transfer::medium::file, .resource = m_resource};
        if (mode() == access::write) known.most_io_threads = m_blocks.most_writers();
        return known;
    }

    void open(const transfer::open_request& request, step& done) override {
        m_asked = request;
        stdio_endpoint::open(request, done);
    }

    std::size_t prepare(std::size_t block_bytes) override {
        if (mode() == access::write) m_blocks.expect_write();
        return m_blocks.first_block(block_bytes);
    }

    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        m_blocks.read(offset, block, done);
    }

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        m_blocks.write(offset, block, done);
    }

    void close(std::size_t moved, const failure& error, step& done) override {
        m_left.emplace(*this, done);
        m_left->work.begin();
        if (m_range.start < 0) {
            m_left->work.finish({});
            return;
        }
        const bool ended = error.status == status::end_of_file;
        if (!ended && moved == m_range.bytes && own_at_once(moved)) {
            auto result = reposition(moved, false);
            ::funlockfile(file());
            m_left->work.finish(std::move(result));
        } else {
            start([this, moved, ended] { return reposition(moved, ended); }, m_left->work);
        }
    }

  private:
    /// Lets the next command on the stream pass once this one is really done with it.
    struct closing final : transfer::step_owner {
        closing(regular_file_endpoint& closed, step& done) : self(closed), told(done), work(*this) {}
        void step_finished() override {
            if (!std::exchange(at_rest, true)) {
                auto result = work.take();
                work.begin();
                self.m_blocks.close(std::move(result), work);
            } else {
                self.leave();
                told.finish(work.take());
            }
        }
        regular_file_endpoint& self;
        step& told;
        step work; // the stream's position, then what still uses its descriptor
        bool at_rest = false;
    };

    void start(transfer::worker_pool::work job, step& done) override {
        services().workers.run(m_blocks.origin(), std::move(job), done);
    }

    void start_settling(std::size_t bytes, step& done) override {
        if (own_at_once(bytes)) {
            auto result = settle(bytes);
            ::funlockfile(file());
            done.finish(std::move(result));
        } else {
            stdio_endpoint::start_settling(bytes, done);
        }
    }

    /// Takes the stream's lock if settle() and reposition() cannot block for a transfer of `bytes`. They cannot if
    /// nobody else uses the stream, and stdio has no byte to write. Setting the position reads the page around the
    /// transfer's end. That page is in the page cache, because the transfer has just read or written it.
    [[nodiscard]] bool own_at_once(std::size_t bytes) const {
        const bool is_small = mode() == access::read ? bytes <= small_transfer
                                                     : bytes <= small_write && ::__fbufsize(file()) <= 4096;
        if (!is_small || !m_blocks.is_of_this_machine()) return false;
        if (::ftrylockfile(file()) != 0) return false;
        if (::__fpending(file()) == 0) return true;
        ::funlockfile(file());
        return false;
    }

    outcome settle(std::size_t bytes) override {
        // What the program wrote through stdio must be in the file; what stdio read ahead is given back.
        if (std::fflush(file()) != 0) return stream_failure("flushing", file(), errno);
        m_range = {::fileno(file()), ::ftello(file()), bytes};
        if (m_range.start < 0) return stream_failure("asking for the position of", file(), errno);
        m_blocks.prepare(m_range);
        m_blocks.open(m_asked);
        return {bytes, {}};
    }

    outcome reposition(std::size_t moved, bool ended) {
        if (::fseeko(file(), m_range.start + static_cast<off_t>(moved), SEEK_SET) != 0)
            return stream_failure("setting the position of", file(), errno);
        if (ended) {
            // Reading at the end is what sets feof(); unless the file has grown meanwhile.
            const int next = std::getc(file());
            if (next != EOF) std::ungetc(next, file());
        }
        return {};
    }

    transfer::open_request m_asked;
    std::string_view m_resource = file_system_of(::fileno(file()));
    file_range m_range;
    file_blocks m_blocks;
    std::optional<closing> m_left;
};

/// Bytes pass one block after the other through whatever is at the other end.
class stream_endpoint final : public stdio_endpoint {
  public:
    stream_endpoint(file_services services, std::FILE* file, access mode, bool waits, std::uint64_t device)
        : stdio_endpoint(services, file, mode), m_waits(waits), m_origin{this, device} {}

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        using waits_for = transfer::staging_share::waits_for;
        return {.kind = m_waits ? transfer::medium::stream : transfer::medium::file,
                .ordered = true,
                .waits = !m_waits                 ? waits_for::nobody
                         : mode() == access::read ? waits_for::sender
                                                  : waits_for::receiver,
                .in_flight = 1,
                .largest_block = m_waits ? std::size_t{64} << 10 : std::size_t{16} << 20};
    }

    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        start([this, offset, block] { return read_block(offset, block); }, done);
    }

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        start([this, offset, block] { return write_block(offset, block); }, done);
    }

    void close(std::size_t, const failure& error, step& done) override {
        if (error.status == status::end_of_file && ::fileno(file()) >= 0) mark_end();
        const bool appended = mode() == access::write && !m_waits && ::fileno(file()) >= 0;
        if (appended) (void)::fseeko(file(), ::lseek(::fileno(file()), 0, SEEK_CUR), SEEK_SET);
        leave();
        done.finish({});
    }

  private:
    void start(transfer::worker_pool::work job, step& done) override {
        if (m_waits) {
            services().workers.run_waiting(std::move(job), done);
        } else {
            services().workers.run(m_origin, std::move(job), done);
        }
    }

    outcome settle(std::size_t bytes) override {
        m_range = {::fileno(file()), -1, bytes};
        if (mode() == access::write && std::fflush(file()) != 0) return stream_failure("flushing", file(), errno);
        return {bytes, {}};
    }

    /// Sets feof() without another read: a terminal or a pipe with a new writer would wait, or give up a byte.
    void mark_end() const {
#ifdef __GLIBC__
        file()->_flags |= _IO_EOF_SEEN;
#else
        (void)std::getc(file());
#endif
    }

    /// Bytes that stdio has read from the descriptor and the program has not taken yet.
    [[nodiscard]] std::size_t buffered_bytes() const {
#ifdef __GLIBC__
        return static_cast<std::size_t>(file()->_IO_read_end - file()->_IO_read_ptr);
#else
        return __freadahead(file());
#endif
    }

    outcome read_block(std::size_t offset, std::span<std::byte> block) {
        const bool has_descriptor = m_range.fd >= 0;
        const auto ahead = has_descriptor ? std::min(block.size(), buffered_bytes()) : block.size();
        errno = 0; // a stream of the program's own functions need not set it
        const std::size_t done = ahead == 0 ? 0 : std::fread(block.data(), 1, ahead, file());
        if (has_descriptor) {
            auto rest = read_next(m_range, offset + done, block.subspan(done), cancelled());
            rest.bytes += done;
            return rest;
        }
        if (done == block.size()) return {done, {}};
        if (std::ferror(file()) != 0)
            return {done, io_failure("reading", m_range, offset + done, errno != 0 ? errno : EIO)};
        return {done, end_of_file(m_range, offset + done)};
    }

    outcome write_block(std::size_t offset, std::span<const std::byte> block) {
        if (m_range.fd >= 0) return write_next(m_range, offset, block, cancelled());
        errno = 0;
        const auto done = std::fwrite(block.data(), 1, block.size(), file());
        if (done == block.size() && std::fflush(file()) == 0) return {done, {}};
        return {done, io_failure("writing", m_range, offset + done, errno != 0 ? errno : ENOSPC)};
    }

    bool m_waits; // for another process or device, for any time
    transfer::job_origin m_origin;
    file_range m_range;
};

} // namespace

std::unique_ptr<transfer::endpoint> make_stdio_endpoint(file_services services, std::FILE* file, access mode) {
    if (file == nullptr) throw transfer_error(status::invalid_value, "the file is null");
    if (mode == access::read ? __freadable(file) == 0 : __fwritable(file) == 0)
        throw transfer_error(status::invalid_value, file_name(::fileno(file)) + " is not open for " +
                                                        (mode == access::read ? "reading" : "writing"));
    const int fd = ::fileno(file);
    if (fd < 0) return std::make_unique<stream_endpoint>(services, file, mode, false, 0);
    const int flags = ::fcntl(fd, F_GETFL);
    struct stat facts{};
    if (flags < 0 || ::fstat(fd, &facts) != 0)
        throw transfer_error(status::invalid_value,
                             "the file's descriptor " + std::to_string(fd) + ": " + errno_text(errno), errno);
    const bool by_position = S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode);
    // Appending is for the kernel to place, write by write.
    if (by_position && !(mode == access::write && (flags & O_APPEND) != 0))
        return std::make_unique<regular_file_endpoint>(services, file, mode);
    return std::make_unique<stream_endpoint>(services, file, mode, !by_position, facts.st_dev);
}

} // namespace causeway::endpoints
