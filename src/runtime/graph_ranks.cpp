// SPDX-License-Identifier: Apache-2.0
// Tokens are messages. Beside them, on tags that no program has, both ends of a run say when and why it ends: the
// sender how many tokens there were, the receiver that it wants no more, and at last that it has taken all.
#include "runtime/graph_ranks.hpp"

#include "graph/description.hpp"
#include "runtime/ranks.hpp"
#include "runtime/mpi_runtime.hpp"
#include "runtime/token_transfer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace causeway::core {

namespace {

/// What ends say to each other, as it travels.
struct word {
    enum class meaning : std::int32_t { end_of_run, no_more, all_taken };
    std::uint64_t tokens = 0; ///< sent, or taken, in this run
    meaning what = meaning::end_of_run;
    std::int32_t status = 0; ///< why the run ended; 0 if it did not fail
    char text[240] = "";
};

/// Each has two tags below 0 for words.
constexpr int largest_tag = (std::numeric_limits<int>::max() - 3) / 2;

/// The other rank as both ends of a stream see it.
class rank_end {
  public:
    using direction = token_transfer::direction;

    rank_end(int rank, int tag, MPI_Comm comm, std::size_t token_bytes, const std::shared_ptr<graph::doorbell>& bell)
        : m_rank(rank), m_tag(tag), m_comm(comm), m_token_bytes(token_bytes), m_line(token_bytes, bell),
          m_heard(sizeof(word), bell), m_said(sizeof(word), bell) {}
    /// After a run that could not end as it should.
    ~rank_end() {
        if (m_open) give_up();
    }
    rank_end(const rank_end&) = delete;
    rank_end& operator=(const rank_end&) = delete;

  protected:
    /// A tag for words of those who send tokens, one for words of those who take them. Programs have none below 0.
    [[nodiscard]] int word_tag(bool of_sender) const { return -2 - 2 * m_tag - (of_sender ? 0 : 1); }

    [[nodiscard]] std::unique_ptr<transfer::endpoint> destination(int tag) const {
        auto& process = mpi_runtime::instance();
        return endpoints::make_send_endpoint(process.ranks(), process.space_of(m_comm), m_rank, tag);
    }
    [[nodiscard]] std::unique_ptr<transfer::endpoint> origin(int tag) const {
        auto& process = mpi_runtime::instance();
        return endpoints::make_receive_endpoint(process.ranks(), process.space_of(m_comm), m_rank, tag, nullptr);
    }

    void listen(bool to_sender) { m_heard.begin(0, origin(word_tag(to_sender)), direction::in, uses_mpi::yes); }
    /// What the other end said. A failure ends the exchange.
    [[nodiscard]] std::optional<word> hear() {
        if (m_broken || !m_heard.over()) return {};
        if (auto error = m_heard.wait()) {
            m_broken = std::move(error);
            return {};
        }
        word heard;
        std::memcpy(&heard, m_heard.memory().data(), sizeof heard);
        heard.text[sizeof heard.text - 1] = '\0';
        return heard;
    }
    void say(word::meaning what, std::uint64_t tokens, const failure& why) {
        (void)m_said.wait();
        word said{.tokens = tokens, .what = what, .status = why.status};
        std::memcpy(said.text, why.message.data(), std::min(why.message.size(), sizeof said.text - 1));
        std::memcpy(m_said.memory().data(), &said, sizeof said);
        m_said.begin(0, destination(word_tag(what == word::meaning::end_of_run)), direction::out, uses_mpi::yes);
    }

    [[nodiscard]] failure of_other(const word& heard, const char* did) const {
        auto text = "rank " + std::to_string(m_rank) + did;
        if (heard.status != 0) text += std::string(": ") + heard.text;
        return {status::peer_failed, 0, 0, std::move(text)};
    }

    /// Nothing of this exchange is under way afterwards.
    void give_up() {
        m_line.cancel_all();
        m_line.wait_for_all();
        for (auto* const each : {&m_heard, &m_said}) {
            each->cancel();
            (void)each->wait();
        }
        m_open = false;
    }
    /// Runs what the engine may refuse; it ends the exchange then.
    template <class Action> void attempt(Action action) {
        try {
            action();
        } catch (...) {
            m_broken = current_failure();
        }
    }

    int m_rank, m_tag;
    MPI_Comm m_comm;
    std::size_t m_token_bytes;
    token_line m_line;
    token_transfer m_heard, m_said;
    bool m_open = false;     // a run is under way
    std::uint64_t m_count = 0; // of tokens sent, or taken, in this run
    failure m_broken; // no more can be said or heard
};

class rank_reader : rank_end {
  public:
    rank_reader(int rank, int tag, MPI_Comm comm, std::uint64_t total_bytes, std::size_t token_bytes,
                std::shared_ptr<graph::doorbell> bell)
        : rank_end(rank, tag, comm, token_bytes, std::move(bell)),
          m_tokens(total_bytes == graph::endless ? graph::endless : total_bytes / token_bytes) {}

    bool ready() {
        receive_ahead();
        return m_broken || at_end() || (!m_line.empty() && m_line.first_is_over());
    }

    std::size_t read(std::span<std::byte> to) {
        if (m_broken) throw transfer_error(m_broken);
        if (at_end()) {
            if (m_end->status != 0) throw transfer_error(of_other(*m_end, " ended its run"));
            if (m_tokens == graph::endless) return 0;
            throw transfer_error(status::end_of_file, "rank " + std::to_string(m_rank) + " ended its run after " +
                                                          std::to_string(m_count) + " of " + std::to_string(m_tokens) +
                                                          " tokens");
        }
        auto first = m_line.pop();
        ++m_count;
        const auto error = first->wait();
        const auto bytes = first->bytes_moved();
        if (!error) std::memcpy(to.data(), first->memory().data(), bytes);
        m_line.put_back(std::move(first));
        if (error) throw transfer_error(error);
        if (bytes != to.size())
            throw transfer_error(status::io_error, "rank " + std::to_string(m_rank) + " sent " + bytes_text(bytes) +
                                                       ", the stream has tokens of " + bytes_text(to.size()));
        return bytes;
    }

    void close(const failure& why) {
        receive_ahead();
        m_told = static_cast<bool>(why);
        m_fault = {};
        m_discarding = false;
        if (why && !at_end()) discard(why);
        m_closed = true;
    }

    bool finished() {
        receive_ahead();
        while (!m_broken && !m_line.empty() && m_line.first_is_over()) {
            m_line.put_back(m_line.pop());
            ++m_count;
            if (m_discarding) continue;
            // Stopped early, or another stream was shorter.
            if (m_tokens == graph::endless || m_count <= m_tokens) {
                discard({});
                continue;
            }
            m_fault = {status::io_error, 0, 0,
                       "rank " + std::to_string(m_rank) + " sends more than the " + std::to_string(m_tokens) +
                           " tokens of the stream"};
            discard(m_fault);
        }
        receive_ahead();
        if (m_broken) {
            give_up();
            if (!m_fault) m_fault = m_broken;
        } else {
            if (!at_end()) return false;
            if (!m_thanked) {
                // The next run's tokens are for the next run.
                m_line.cancel_all();
                m_line.wait_for_all();
                attempt([this] { say(word::meaning::all_taken, m_count, {}); });
                m_thanked = true;
                return false;
            }
            if (!m_said.over()) return false;
            m_open = false;
        }
        const auto fault = std::exchange(m_fault, {});
        if (fault && !m_told) throw graph::token_error(std::min(m_count, m_tokens), fault);
        return true;
    }

  private:
    void open() {
        m_open = true;
        m_broken = {};
        m_end.reset();
        m_count = 0;
        m_closed = m_thanked = false;
        attempt([this] { listen(true); });
    }

    [[nodiscard]] bool at_end() const { return m_end && m_count >= m_end->tokens; }

    void receive_ahead() {
        if (!m_open) open();
        if (!m_end)
            if (const auto heard = hear()) m_end = heard;
        attempt([this] {
            // Beyond the last token too, once the run is over: there must be none.
            while (!m_broken && !m_line.full() &&
                   (m_closed || m_tokens == graph::endless || m_count + m_line.size() < m_tokens) &&
                   !(m_end && m_count + m_line.size() >= m_end->tokens)) {
                auto next = m_line.take_spare();
                next->begin(0, origin(m_tag), direction::in, uses_mpi::yes);
                m_line.push(std::move(next));
            }
        });
    }

    void discard(const failure& why) {
        m_discarding = true;
        if (!m_broken) attempt([&] { say(word::meaning::no_more, m_count, why); });
    }

    std::uint64_t m_tokens;
    std::optional<word> m_end;
    bool m_closed = false, m_discarding = false, m_thanked = false;
    bool m_told = false; // the run has failed, or will
    failure m_fault;     // found after the last token
};

class rank_writer : rank_end {
  public:
    using rank_end::rank_end;

    bool ready() {
        listen_for_stop();
        return m_broken || m_stop || !m_line.full() || m_line.first_is_over();
    }

    void write(std::uint64_t number, std::span<const std::byte> from) {
        listen_for_stop();
        if (m_broken) throw transfer_error(m_broken);
        if (m_stop) throw transfer_error(of_other(*std::exchange(m_stop, {}), " takes no more tokens"));
        while (!m_line.empty() && (m_line.full() || m_line.first_is_over())) {
            if (const auto error = end_first()) throw graph::token_error(error->number, error->reason);
        }
        auto next = m_line.take_spare();
        std::memcpy(next->memory().data(), from.data(), from.size());
        next->begin(number, destination(m_tag), direction::out, uses_mpi::yes);
        m_line.push(std::move(next));
        ++m_count;
    }

    void close(const failure& why) {
        listen_for_stop();
        m_told = static_cast<bool>(why);
        m_fault.reset();
        if (!m_broken) attempt([&] { say(word::meaning::end_of_run, m_count, why); });
    }

    bool finished() {
        listen_for_stop();
        while (!m_line.empty() && m_line.first_is_over()) {
            const auto error = end_first();
            if (error && !m_fault) m_fault = error;
        }
        if (m_broken) {
            give_up();
            if (!m_fault) m_fault = token_fault{m_count, m_broken};
        } else {
            if (!m_thanked || !m_line.empty() || !m_said.over()) return false;
            m_open = false;
            if (m_stop && !m_fault) m_fault = token_fault{m_stop->tokens, of_other(*m_stop, " takes no more tokens")};
        }
        const auto fault = std::exchange(m_fault, {});
        if (fault && !m_told) throw graph::token_error(fault->number, fault->reason);
        return true;
    }

  private:
    struct token_fault {
        std::uint64_t number;
        failure reason;
    };

    void listen_for_stop() {
        if (!m_open) {
            m_open = true;
            m_broken = {};
            m_count = 0;
            m_stop.reset();
            m_thanked = false;
            attempt([this] { listen(false); });
        }
        if (m_thanked) return;
        const auto heard = hear();
        if (!heard) return;
        if (heard->what == word::meaning::all_taken) {
            m_thanked = true;
            return;
        }
        m_stop = heard;
        attempt([this] { listen(false); });
    }

    std::optional<token_fault> end_first() {
        auto first = m_line.pop();
        auto error = first->wait();
        const auto number = first->number();
        m_line.put_back(std::move(first));
        if (!error) return {};
        return token_fault{number, std::move(error)};
    }

    std::optional<word> m_stop; // the receiver wants no more
    bool m_thanked = false;
    bool m_told = false;
    std::optional<token_fault> m_fault;
};

/// As MPI's arguments, but for one rank and one tag.
void check_rank(int rank, int tag, MPI_Comm comm, std::size_t token_bytes) {
    (void)make_destination(rank, tag, comm);
    const auto refuse = [](const std::string& why) { throw transfer_error(status::invalid_value, why); };
    if (rank == MPI_PROC_NULL) refuse("MPI_PROC_NULL is no end of a stream");
    if (tag > largest_tag)
        refuse("tag " + std::to_string(tag) + " is above " + std::to_string(largest_tag) +
               ", the largest of a graph's streams");
    if (token_bytes == 0) refuse("two ranks must have the same token size, which the library cannot choose for both");
}

} // namespace

graph::stream_end rank_input(int source, int tag, MPI_Comm comm, std::uint64_t total_bytes, std::size_t token_bytes,
                             std::shared_ptr<graph::doorbell> bell) {
    check_rank(source, tag, comm, token_bytes);
    const auto reader = std::make_shared<rank_reader>(source, tag, comm, total_bytes, token_bytes, std::move(bell));
    return {.read = [reader](std::uint64_t, std::span<std::byte> token) { return reader->read(token); },
            .ready = [reader] { return reader->ready(); },
            .close = [reader](const failure& why) { reader->close(why); },
            .finished = [reader] { return reader->finished(); }};
}

graph::stream_end rank_output(int dest, int tag, MPI_Comm comm, std::size_t token_bytes,
                              std::shared_ptr<graph::doorbell> bell) {
    check_rank(dest, tag, comm, token_bytes);
    const auto writer = std::make_shared<rank_writer>(dest, tag, comm, token_bytes, std::move(bell));
    return {.write = [writer](std::uint64_t number, std::span<const std::byte> token) { writer->write(number, token); },
            .ready = [writer] { return writer->ready(); },
            .close = [writer](const failure& why) { writer->close(why); },
            .finished = [writer] { return writer->finished(); }};
}

} // namespace causeway::core
