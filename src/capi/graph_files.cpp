// SPDX-License-Identifier: Apache-2.0
// A few tokens of a file in flight, each a transfer between the file and host memory.
#include "capi/graph_files.hpp"

#include "base/descriptor.hpp"
#include "runtime/runtime.hpp"
#include "runtime/token_transfer.hpp"
#include "graph/description.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace causeway::capi {

namespace {

using endpoints::access;

/// Makes the file's endpoint for `bytes` that are the `number`th such piece.
using endpoint_maker = std::function<std::unique_ptr<transfer::endpoint>(std::uint64_t number, std::size_t bytes)>;

class file_reader {
  public:
    /// `again`: each run begins at token 0 of the file, not where the one before it ended.
    file_reader(endpoint_maker file, std::uint64_t total_bytes, std::size_t token_bytes, bool again,
                std::shared_ptr<graph::doorbell> bell)
        : m_file(std::move(file)), m_line(token_bytes, std::move(bell)), m_total_bytes(total_bytes), m_again(again) {}

    /// Nobody wants what a pipe may or may not bring yet.
    ~file_reader() { m_line.cancel_all(); }
    file_reader(const file_reader&) = delete;
    file_reader& operator=(const file_reader&) = delete;

    void use_token(std::size_t bytes) { m_line.use_token(bytes); }
    [[nodiscard]] bool holds_tokens() const { return !m_line.empty(); }

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
            throw transfer_error(status::end_of_file, "the file ended before the " + bytes_text(m_total_bytes) +
                                                          " that the stream has");
        return bytes;
    }

    /// What was read ahead for a run that ended early comes first in the next.
    void close() {
        if (m_again || m_ended) m_line.wait_for_all();
        if (m_again) m_next = 0;
        m_read = 0;
        m_ended = false;
    }

  private:
    void read_ahead() {
        try {
            while (
                !m_line.full() && !m_ended &&
                (m_total_bytes == graph::endless || (m_read + m_line.size()) * m_line.token_bytes() < m_total_bytes)) {
                auto next = m_line.take_spare();
                next->begin(m_next, m_file(m_next, m_line.token_bytes()), token_transfer::direction::in, uses_mpi::no);
                ++m_next;
                m_line.push(std::move(next));
            }
        } catch (...) {
            m_refused = current_failure();
        }
    }

    endpoint_maker m_file;
    token_line m_line;
    std::uint64_t m_total_bytes; // of a run
    bool m_again;
    std::uint64_t m_next = 0; // of the file
    std::uint64_t m_read = 0; // in this run
    bool m_ended = false;
    failure m_refused; // told when the token is read
};

class file_writer {
  public:
    /// `chained`: each token goes where the one before ended, so that without that one it would be in the wrong place.
    file_writer(endpoint_maker file, std::size_t token_bytes, bool chained, std::shared_ptr<graph::doorbell> bell)
        : m_file(std::move(file)), m_chained(chained), m_line(token_bytes, std::move(bell)) {}

    void use_token(std::size_t bytes) { m_line.use_token(bytes); }

    bool ready() { return !m_line.full() || m_line.first_is_over(); }

    void write(std::uint64_t number, std::span<const std::byte> from) {
        while (!m_line.empty() && (m_line.full() || m_line.first_is_over())) end_first();
        auto next = m_line.take_spare();
        std::memcpy(next->memory().data(), from.data(), from.size());
        next->begin(number, m_file(number, m_line.token_bytes()), token_transfer::direction::out, uses_mpi::no,
                    m_chained ? m_line.last() : nullptr);
        m_line.push(std::move(next));
    }

    bool finished() {
        while (!m_line.empty() && m_line.first_is_over()) end_first();
        return m_line.empty();
    }

  private:
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
    bool m_chained;
    token_line m_line;
};

graph::stream_end input_end(endpoint_maker file, std::uint64_t total_bytes, std::size_t token_bytes, bool again,
                            std::shared_ptr<graph::doorbell> bell) {
    const auto reader =
        std::make_shared<file_reader>(std::move(file), total_bytes, token_bytes, again, std::move(bell));
    return {.read = [reader](std::uint64_t, std::span<std::byte> token) { return reader->read(token); },
            .use_token = [reader](std::size_t bytes) { reader->use_token(bytes); },
            .ready = [reader] { return reader->ready(); },
            .close = [reader](const failure&) { reader->close(); },
            .holds_tokens = [reader] { return reader->holds_tokens(); },
            .finished = [] { return true; }};
}

graph::stream_end output_end(endpoint_maker file, std::size_t token_bytes, bool chained,
                             std::shared_ptr<graph::doorbell> bell) {
    const auto writer = std::make_shared<file_writer>(std::move(file), token_bytes, chained, std::move(bell));
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

endpoint_maker descriptor_maker(int fd, std::int64_t offset, std::size_t token_bytes, access mode) {
    (void)endpoints::make_descriptor_endpoint(runtime::instance().files(), fd, offset, token_bytes, mode);
    return [own = std::make_shared<descriptor>(descriptor::copy_of(fd)), offset, mode](std::uint64_t number, std::size_t bytes) {
        const auto at = offset + static_cast<std::int64_t>(number * bytes);
        return endpoints::make_descriptor_endpoint(runtime::instance().files(), own->get(), at, bytes, mode);
    };
}

} // namespace

graph::stream_end file_input(FILE* file, std::uint64_t total_bytes, std::size_t token_bytes,
                             std::shared_ptr<graph::doorbell> bell) {
    return input_end(stream_maker(file, access::read), total_bytes, token_bytes, false, std::move(bell));
}

graph::stream_end file_output(std::FILE* file, std::size_t token_bytes, std::shared_ptr<graph::doorbell> bell) {
    return output_end(stream_maker(file, access::write), token_bytes, true, std::move(bell));
}

graph::stream_end descriptor_input(int fd, std::int64_t offset, std::uint64_t total_bytes, std::size_t token_bytes,
                                   std::shared_ptr<graph::doorbell> bell) {
    return input_end(descriptor_maker(fd, offset, token_bytes, access::read), total_bytes, token_bytes, true,
                     std::move(bell));
}

graph::stream_end descriptor_output(int fd, std::int64_t offset, std::size_t token_bytes,
                                    std::shared_ptr<graph::doorbell> bell) {
    return output_end(descriptor_maker(fd, offset, token_bytes, access::write), token_bytes, false, std::move(bell));
}

} // namespace causeway::capi
