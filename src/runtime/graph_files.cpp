// SPDX-License-Identifier: Apache-2.0
// A few tokens of a file in flight, each a transfer between the file and host memory.
#include "runtime/graph_files.hpp"

#include "base/descriptor.hpp"
#include "runtime/runtime.hpp"
#include "runtime/token_transfer.hpp"
#include "graph/description.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace causeway::core {

namespace {

using endpoints::access;

/// Where each run begins in a file, or at_end_of_file.
using beginning = std::shared_ptr<std::int64_t>;
/// Makes the file's endpoint for `bytes` that are the `number`th such piece.
using endpoint_maker = std::function<std::unique_ptr<transfer::endpoint>(std::uint64_t number, std::size_t bytes)>;

class file_reader {
  public:
    /// `stream`: what was read of it and not taken is given back at the end of a run. Without one each run begins at
    /// token 0.
    file_reader(endpoint_maker file, std::FILE* stream, std::uint64_t total_bytes, std::size_t token_bytes,
                std::shared_ptr<graph::doorbell> bell)
        : m_file(std::move(file)), m_stream(stream), m_line(token_bytes, std::move(bell)), m_total_bytes(total_bytes) {}

    /// Nobody wants what a pipe may or may not bring yet.
    ~file_reader() { m_line.cancel_all(); }
    file_reader(const file_reader&) = delete;
    file_reader& operator=(const file_reader&) = delete;

    void use_token(std::size_t bytes) { m_line.use_token(bytes); }

    bool ready() {
        if (!m_refused) read_ahead();
        return m_refused || m_line.empty() || m_line.first_is_over();
    }

    std::size_t read(std::span<std::byte> to) {
        if (const auto refused = std::exchange(m_refused, {})) throw transfer_error(refused);
        if (m_line.empty()) return 0;
        auto first = m_line.pop();
        const auto error = first->wait();
        const auto bytes = first->bytes_moved();
        if (!error || error.status == status::end_of_file) std::memcpy(to.data(), first->memory().data(), bytes);
        m_line.put_back(std::move(first));
        if (error && error.status != status::end_of_file) throw transfer_error(error);
        ++m_read;
        m_ended = m_ended || bytes < to.size();
        if (bytes == 0 && m_total_bytes != graph::endless)
            throw transfer_error(status::end_of_file,
                                 "the file ended before the " + bytes_text(m_total_bytes) + " that the stream has");
        return bytes;
    }

    /// Tokens that were read ahead are nobody's any more.
    void close() {
        m_was_ahead = !m_line.empty();
        m_line.cancel_all();
    }

    bool finished() {
        while (!m_line.empty()) {
            if (!m_line.first_is_over()) return false;
            auto first = m_line.pop();
            (void)first->wait(); // the next run meets the failure again
            const auto& memory = first->memory();
            m_left.insert(m_left.end(), memory.begin(),
                          memory.begin() + static_cast<std::ptrdiff_t>(first->bytes_moved()));
            m_line.put_back(std::move(first));
        }
        // What an earlier run has left and this one did not take is behind what it read of that.
        m_left.insert(m_left.end(), m_held.begin(), m_held.end());
        m_held = std::exchange(m_left, {});
        if (m_stream == nullptr) {
            m_held.clear();
        } else if (m_was_ahead) {
            give_back();
        }
        m_was_ahead = false;
        m_next = m_read = 0;
        m_ended = false;
        m_refused = {};
        return true;
    }

  private:
    void read_ahead() {
        try {
            while (
                !m_line.full() && !m_ended &&
                (m_total_bytes == graph::endless || (m_read + m_line.size()) * m_line.token_bytes() < m_total_bytes)) {
                auto next = m_line.take_spare();
                const auto held = std::min(m_held.size(), next->memory().size());
                next->hold(std::span(m_held).first(held));
                m_held.erase(m_held.begin(), m_held.begin() + static_cast<std::ptrdiff_t>(held));
                if (held < next->memory().size())
                    next->begin(m_next, m_file(m_next, m_line.token_bytes()), token_transfer::direction::in,
                                uses_mpi::no);
                ++m_next;
                m_line.push(std::move(next));
            }
        } catch (...) {
            m_refused = current_failure();
        }
    }

    /// Puts the stream behind the last token that was taken. Where it cannot seek, the next run begins with what was
    /// read.
    void give_back() {
        // Also at that offset: reading ahead may have met the end, which the program has not.
        if (::fseeko(m_stream, -static_cast<off_t>(m_held.size()), SEEK_CUR) == 0) {
            m_held.clear();
        } else if (!m_ended) {
            std::clearerr(m_stream);
        }
    }

    endpoint_maker m_file;
    std::FILE* m_stream;
    token_line m_line;
    std::uint64_t m_total_bytes; // of a run
    std::vector<std::byte> m_held; // read in an earlier run from what cannot seek, and not taken yet
    std::vector<std::byte> m_left; // the same of this run, while it ends
    bool m_was_ahead = false;
    std::uint64_t m_next = 0; // of the run
    std::uint64_t m_read = 0; // in this run
    bool m_ended = false;
    failure m_refused; // told when the token is read
};

class file_writer {
  public:
    /// Without an offset to `begin` at each token goes where the one before ended: without that one it would be at the
    /// wrong offset.
    file_writer(endpoint_maker file, std::size_t token_bytes, beginning begin, std::shared_ptr<graph::doorbell> bell)
        : m_file(std::move(file)), m_begin(std::move(begin)), m_line(token_bytes, std::move(bell)) {}

    void use_token(std::size_t bytes) { m_line.use_token(bytes); }

    bool ready() { return !m_line.full() || m_line.first_is_over(); }

    void write(std::uint64_t number, std::span<const std::byte> from) {
        while (!m_line.empty() && (m_line.full() || m_line.first_is_over())) end_first();
        auto next = m_line.take_spare();
        std::memcpy(next->memory().data(), from.data(), from.size());
        next->begin(number, m_file(number, m_line.token_bytes()), token_transfer::direction::out, uses_mpi::no,
                    is_chained() ? m_line.last() : nullptr);
        m_line.push(std::move(next));
    }

    bool finished() {
        while (!m_line.empty() && m_line.first_is_over()) end_first();
        return m_line.empty();
    }

  private:
    [[nodiscard]] bool is_chained() const { return m_begin == nullptr || *m_begin == endpoints::at_end_of_file; }

    void end_first() {
        auto first = m_line.pop();
        const auto error = first->wait();
        const auto number = first->number();
        m_line.put_back(std::move(first));
        if (!error) return;
        // One failure is told; what comes after it is nowhere.
        m_line.wait_for_all();
        throw graph::token_error(number, error);
    }

    endpoint_maker m_file;
    beginning m_begin;
    token_line m_line;
};

graph::stream_end input_end(endpoint_maker file, std::FILE* stream, std::uint64_t total_bytes, std::size_t token_bytes,
                            std::shared_ptr<graph::doorbell> bell) {
    const auto reader = std::make_shared<file_reader>(std::move(file), stream, total_bytes, token_bytes,
                                                      std::move(bell));
    return {.read = [reader](std::uint64_t, std::span<std::byte> token) { return reader->read(token); },
            .use_token = [reader](std::size_t bytes) { reader->use_token(bytes); },
            .ready = [reader] { return reader->ready(); },
            .close = [reader](const failure&) { reader->close(); },
            .finished = [reader] { return reader->finished(); }};
}

graph::stream_end output_end(endpoint_maker file, std::size_t token_bytes, beginning begin,
                             std::shared_ptr<graph::doorbell> bell) {
    const auto writer = std::make_shared<file_writer>(std::move(file), token_bytes, std::move(begin), std::move(bell));
    return {.write = [writer](std::uint64_t number, std::span<const std::byte> token) { writer->write(number, token); },
            .use_token = [writer](std::size_t bytes) { writer->use_token(bytes); },
            .ready = [writer] { return writer->ready(); },
            .close = [](const failure&) {},
            .finished = [writer] { return writer->finished(); }};
}

endpoint_maker stream_maker(std::FILE* file, access mode) {
    // Refuses a wrong file now, not at the first token.
    (void)endpoints::make_stdio_endpoint(runtime::instance().files(), file, mode);
    return [file, mode](std::uint64_t, std::size_t) {
        return endpoints::make_stdio_endpoint(runtime::instance().files(), file, mode);
    };
}

std::unique_ptr<transfer::endpoint> at_offset(int fd, std::int64_t offset, std::size_t bytes, access mode) {
    if (mode == access::write && offset == endpoints::at_end_of_file)
        return endpoints::make_append_endpoint(runtime::instance().files(), fd, bytes);
    return endpoints::make_descriptor_endpoint(runtime::instance().files(), fd, offset, bytes, mode);
}

endpoint_maker descriptor_maker(int fd, const beginning& offset, std::size_t token_bytes, access mode) {
    (void)at_offset(fd, *offset, token_bytes, mode);
    return [own = std::make_shared<descriptor>(descriptor::copy_of(fd)), offset, mode](std::uint64_t number,
                                                                                       std::size_t bytes) {
        const bool appends = *offset == endpoints::at_end_of_file;
        return at_offset(own->get(), appends ? *offset : *offset + static_cast<std::int64_t>(number * bytes), bytes,
                         mode);
    };
}

graph::stream_end with_offset(graph::stream_end end, const beginning& offset, access mode) {
    end.use_offset = [offset, mode](std::int64_t next) {
        if (next < 0 && (mode == access::read || next != endpoints::at_end_of_file))
            throw transfer_error(status::invalid_value, "the file offset " + std::to_string(next) + " is negative");
        *offset = next;
    };
    return end;
}

} // namespace

graph::stream_end file_input(FILE* file, std::uint64_t total_bytes, std::size_t token_bytes,
                             std::shared_ptr<graph::doorbell> bell) {
    return input_end(stream_maker(file, access::read), file, total_bytes, token_bytes, std::move(bell));
}

graph::stream_end file_output(std::FILE* file, std::size_t token_bytes, std::shared_ptr<graph::doorbell> bell) {
    return output_end(stream_maker(file, access::write), token_bytes, nullptr, std::move(bell));
}

graph::stream_end descriptor_input(int fd, std::int64_t offset, std::uint64_t total_bytes, std::size_t token_bytes,
                                   std::shared_ptr<graph::doorbell> bell) {
    const auto begin = std::make_shared<std::int64_t>(offset);
    return with_offset(input_end(descriptor_maker(fd, begin, token_bytes, access::read), nullptr, total_bytes,
                                 token_bytes, std::move(bell)),
                       begin, access::read);
}

graph::stream_end descriptor_output(int fd, std::int64_t offset, std::size_t token_bytes,
                                    std::shared_ptr<graph::doorbell> bell) {
    const auto begin = std::make_shared<std::int64_t>(offset);
    return with_offset(
        output_end(descriptor_maker(fd, begin, token_bytes, access::write), token_bytes, begin, std::move(bell)), begin,
        access::write);
}

} // namespace causeway::core
