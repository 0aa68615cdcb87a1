// SPDX-License-Identifier: Apache-2.0
// A few tokens of a file in flight, each a transfer between the file and host memory.
#include "capi/graph_files.hpp"

#include "capi/enqueue.hpp"
#include "capi/runtime.hpp"
#include "endpoints/host/host_endpoint.hpp"
#include "graph/description.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>

namespace causeway::capi {

namespace {

using endpoints::access;

/// Enough to hide a token that takes twice as long as the others.
constexpr std::size_t tokens_in_flight = 4;

class own_descriptor {
  public:
    explicit own_descriptor(int fd) : m_fd(dup(fd)) {
        if (m_fd < 0) throw transfer_error(status::invalid_value, "the descriptor is not open");
    }
    ~own_descriptor() { close(m_fd); }
    own_descriptor(const own_descriptor&) = delete;
    own_descriptor& operator=(const own_descriptor&) = delete;
    [[nodiscard]] int get() const { return m_fd; }

  private:
    int m_fd;
};

/// Makes the file's endpoint for a token.
using endpoint_maker = std::function<std::unique_ptr<transfer::endpoint>(std::uint64_t number)>;

/// Tokens on their way, in order.
class token_line {
  public:
    token_line(endpoint_maker file, access mode, std::size_t token_bytes)
        : m_file(std::move(file)), m_mode(mode), m_token_bytes(token_bytes) {}
    ~token_line() {
        for (auto& each : m_line) (void)each.moving->wait();
    }
    token_line(const token_line&) = delete;
    token_line& operator=(const token_line&) = delete;

  protected:
    struct token {
        std::uint64_t number = 0;
        std::vector<std::byte> memory;
        std::shared_ptr<transfer::command> moving;
    };

    [[nodiscard]] token take_spare() {
        if (m_spare.empty()) return {0, std::vector<std::byte>(m_token_bytes), nullptr};
        auto spare = std::move(m_spare.back());
        m_spare.pop_back();
        return spare;
    }

    void begin(token moved, std::uint64_t number) {
        moved.number = number;
        auto file = m_file(number);
        auto memory = endpoints::make_host_endpoint(moved.memory.data());
        auto flows = m_mode == access::read ? one_flow(std::move(file), std::move(memory), m_token_bytes)
                                            : one_flow(std::move(memory), std::move(file), m_token_bytes);
        auto& process = runtime::instance();
        moved.moving = std::make_shared<transfer::command>(std::move(flows), std::vector<std::unique_ptr<transfer::gate>>{},
                                                           std::vector<std::shared_ptr<transfer::command>>{}, nullptr);
        const std::lock_guard lock(process.enqueue_mutex());
        process.require_running();
        process.engine().submit(moved.moving);
        m_line.push_back(std::move(moved));
    }

    endpoint_maker m_file;
    access m_mode;
    std::size_t m_token_bytes;
    std::deque<token> m_line;
    std::vector<token> m_spare;
};

class reading_line : token_line {
  public:
    /// `again`: each run begins at token 0 of the file, not where the one before it ended.
    reading_line(endpoint_maker file, std::uint64_t total_bytes, std::size_t token_bytes, bool again)
        : token_line(std::move(file), access::read, token_bytes),
          m_tokens(total_bytes == graph::endless ? graph::endless : total_bytes / token_bytes), m_again(again) {}

    std::size_t read(std::uint64_t number, std::span<std::byte> to) {
        if (number == 0) restart();
        // What was read ahead for a run that ended early comes first.
        while (m_line.size() < tokens_in_flight && !m_ended && (m_tokens == graph::endless || number + m_line.size() < m_tokens))
            begin(take_spare(), m_next++);
        if (m_line.empty()) return 0;
        auto first = std::move(m_line.front());
        m_line.pop_front();
        const auto error = first.moving->wait();
        const auto bytes = first.moving->report().bytes_moved[0];
        first.moving.reset();
        if (error && error.status != status::end_of_file)
            throw transfer_error(error.status, error.message, error.error_number);
        std::memcpy(to.data(), first.memory.data(), bytes);
        m_spare.push_back(std::move(first));
        m_ended = m_ended || bytes < to.size();
        if (bytes == 0 && m_tokens != graph::endless)
            throw transfer_error(status::end_of_file, "the file ended before the " + bytes_text(m_tokens * m_token_bytes) +
                                                          " that the stream has");
        return bytes;
    }

  private:
    void restart() {
        if (m_again || m_ended) {
            for (auto& each : m_line) (void)each.moving->wait();
            std::move(m_line.begin(), m_line.end(), std::back_inserter(m_spare));
            m_line.clear();
        }
        if (m_again) m_next = 0;
        m_ended = false;
    }

    std::uint64_t m_tokens;
    bool m_again;
    std::uint64_t m_next = 0;
    bool m_ended = false;
};

class writing_line : token_line {
  public:
    writing_line(endpoint_maker file, std::size_t token_bytes) : token_line(std::move(file), access::write, token_bytes) {}

    void write(std::uint64_t number, std::span<const std::byte> from) {
        while (m_line.size() >= tokens_in_flight) end_first();
        auto next = take_spare();
        std::memcpy(next.memory.data(), from.data(), from.size());
        begin(std::move(next), number);
    }

    void finish() {
        while (!m_line.empty()) end_first();
    }

  private:
    void end_first() {
        auto first = std::move(m_line.front());
        m_line.pop_front();
        const auto error = first.moving->wait();
        first.moving.reset();
        const auto number = first.number;
        m_spare.push_back(std::move(first));
        if (!error) return;
        // One failure is told; what comes after it is nowhere.
        for (auto& each : m_line) (void)each.moving->wait();
        m_line.clear();
        throw graph::token_error(number, error);
    }
};

graph::stream_end input_end(std::shared_ptr<reading_line> line) {
    return {.read = [line](std::uint64_t number, std::span<std::byte> token) { return line->read(number, token); }};
}

graph::stream_end output_end(std::shared_ptr<writing_line> line) {
    return {.write = [line](std::uint64_t number, std::span<const std::byte> token) { line->write(number, token); },
            .finish = [line] { line->finish(); }};
}

endpoint_maker stream_maker(std::FILE* file, access mode) {
    // Refuses a wrong file now, not at the first token.
    (void)endpoints::make_stdio_endpoint(runtime::instance().files(), file, mode);
    return [file, mode](std::uint64_t) { return endpoints::make_stdio_endpoint(runtime::instance().files(), file, mode); };
}

endpoint_maker descriptor_maker(int fd, std::int64_t offset, std::size_t token_bytes, access mode) {
    (void)endpoints::make_descriptor_endpoint(runtime::instance().files(), fd, offset, token_bytes, mode);
    return [own = std::make_shared<own_descriptor>(fd), offset, token_bytes, mode](std::uint64_t number) {
        const auto at = offset + static_cast<std::int64_t>(number * token_bytes);
        return endpoints::make_descriptor_endpoint(runtime::instance().files(), own->get(), at, token_bytes, mode);
    };
}

} // namespace

graph::stream_end file_input(std::FILE* file, std::uint64_t total_bytes, std::size_t token_bytes) {
    return input_end(std::make_shared<reading_line>(stream_maker(file, access::read), total_bytes, std::max<std::size_t>(token_bytes, 1), false));
}

graph::stream_end file_output(std::FILE* file, std::size_t token_bytes) {
    return output_end(std::make_shared<writing_line>(stream_maker(file, access::write), token_bytes));
}

graph::stream_end descriptor_input(int fd, std::int64_t offset, std::uint64_t total_bytes, std::size_t token_bytes) {
    return input_end(std::make_shared<reading_line>(descriptor_maker(fd, offset, token_bytes, access::read), total_bytes,
                                                    std::max<std::size_t>(token_bytes, 1), true));
}

graph::stream_end descriptor_output(int fd, std::int64_t offset, std::size_t token_bytes) {
    return output_end(std::make_shared<writing_line>(descriptor_maker(fd, offset, token_bytes, access::write), token_bytes));
}

} // namespace causeway::capi
