// SPDX-License-Identifier: Apache-2.0
// Listens, speaks, and keeps the numbers of conversations and tags.
#include "endpoints/mpi/messenger.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace causeway::endpoints {

namespace {

constexpr std::size_t listener_count = 4;
constexpr std::size_t message_bytes = sizeof(wire_header) + largest_eager;
/// How long a new gated receive makes the engine poll; what comes later is found when the gates open.
constexpr auto early_time = std::chrono::milliseconds(100);

} // namespace

/// A message on its way out; owns its bytes and itself.
struct messenger::utterance final : comm::operation {
    void over(const comm::arrival& result) override {
        const std::unique_ptr<utterance> self(this);
        --speaker->m_saying;
        speaker->m_spoken.erase(this);
        if (done != nullptr) done->over(result);
    }

    messenger* speaker = nullptr;
    comm::operation* done = nullptr;
    std::vector<std::byte> bytes;
};

/// What is known of one communicator.
struct messenger::space_state {
    explicit space_state(messenger& owner, int which) : self(owner), number(which) {}
    messenger& self;
    int number;
    message_matcher matcher;
    std::vector<std::unique_ptr<listener>> listeners; // in the order in which messages meet them
    std::size_t next_listener = 0;
    std::set<std::pair<int, int>> data_tags; // in use: source, tag
    int next_data_tag = 0;
    bool closed = false;
};

/// A receive that is always there for what other ranks say.
struct messenger::listener final : comm::operation {
    explicit listener(space_state& where) : space(where), bytes(message_bytes) {}
    void over(const comm::arrival& result) override {
        heard = true;
        what = result;
        if (space.closed) {
            std::vector<std::byte>().swap(bytes);
        } else {
            space.self.hear(space);
        }
    }

    space_state& space;
    std::vector<std::byte> bytes;
    bool heard = false;
    comm::arrival what;
};

messenger::messenger(const options& settings, comm::port& port) : m_options(settings), m_port(port) {}

messenger::~messenger() = default;

message_matcher& messenger::matcher(int space) { return at(space).matcher; }

messenger::space_state& messenger::at(int space) {
    auto& state = m_spaces[space];
    if (!state) state = std::make_unique<space_state>(*this, space);
    return *state;
}

void messenger::listen(int space) {
    auto& where = at(space);
    if (!where.listeners.empty() || where.closed) return;
    for (std::size_t i = 0; i < listener_count; ++i) {
        where.listeners.push_back(std::make_unique<listener>(where));
        auto& added = *where.listeners.back();
        m_port.receive(where.number, comm::any_source, m_port.largest_tag(), added.bytes, added);
    }
}

void messenger::hear(space_state& where) {
    // Messages meet the listeners in turn, but a long one may end after a short one behind it: keep the order.
    while (!where.closed && where.listeners[where.next_listener]->heard) {
        auto& next = *where.listeners[where.next_listener];
        next.heard = false;
        where.next_listener = (where.next_listener + 1) % listener_count;
        if (!next.what.error && !next.what.cancelled)
            take(where, next.what.source, std::span(next.bytes).first(next.what.bytes));
        // Without an end of the error there is no end to listening either: a broken communicator is left alone.
        if (next.what.error) {
            where.closed = true;
            warn_once("transfers stop listening on a communicator: " + next.what.error.message);
        } else if (!where.closed) {
            m_port.receive(where.number, comm::any_source, m_port.largest_tag(), next.bytes, next);
        }
    }
}

void messenger::take(space_state& where, int source, std::span<const std::byte> bytes) {
    wire_header header;
    const auto expected = header.magic;
    const auto version = header.version;
    if (bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != expected || header.version != version) {
        warn_once("rank " + std::to_string(source) + " speaks another version of the protocol, or its message is the "
                  "application's; tags above half of MPI_TAG_UB are the library's");
        return;
    }
    if (m_peers && header.node == m_node) m_peers->met(m_port.job_rank(where.number, source));
    switch (header.what) {
    case wire_header::kind::eager:
    case wire_header::kind::request: {
        message announced{.source = source, .tag = header.tag, .bytes = header.bytes,
                          .block_bytes = header.block_bytes, .sender = header.sender};
        announced.eager = header.what == wire_header::kind::eager;
        if (announced.eager) {
            const auto payload = bytes.subspan(sizeof header);
            announced.payload.assign(payload.begin(), payload.end());
        }
        where.matcher.arrived(std::move(announced));
        return;
    }
    case wire_header::kind::withdraw:
        if (where.matcher.withdrawn(source, header.sender)) {
            header.what = wire_header::kind::gone;
            say(where.number, source, header, {}, nullptr);
        }
        return;
    case wire_header::kind::accept:
    case wire_header::kind::refuse:
    case wire_header::kind::gone:
    case wire_header::kind::stop: break;
    }
    m_withdrawn.erase(header.sender);
    const auto known = m_conversations.find(header.sender);
    if (known != m_conversations.end()) {
        known->second.talk->heard(header);
    } else if (header.what == wire_header::kind::accept) {
        // The send gave up while the answer was on its way: an empty block releases the receive.
        struct release final : comm::operation {
            void over(const comm::arrival&) override {
                const std::unique_ptr<release> self(this);
                --speaker->m_saying;
            }
            messenger* speaker = nullptr;
        };
        auto empty = std::make_unique<release>();
        empty->speaker = this;
        ++m_saying;
        m_port.send(where.number, source, header.data_tag, {}, *empty.release());
    }
}

std::uint64_t messenger::begin(conversation& talk, int space, int peer) {
    m_conversations.emplace(m_next_number, known_conversation{&talk, space, peer});
    return m_next_number++;
}

void messenger::end(std::uint64_t number) { m_conversations.erase(number); }

void messenger::say(int space, int rank, wire_header header, std::span<const std::byte> payload,
                    comm::operation* done) {
    auto spoken = std::make_unique<utterance>();
    spoken->speaker = this;
    spoken->done = done;
    header.node = m_node;
    spoken->bytes.resize(sizeof header + payload.size());
    std::memcpy(spoken->bytes.data(), &header, sizeof header);
    if (!payload.empty()) std::memcpy(spoken->bytes.data() + sizeof header, payload.data(), payload.size());
    ++m_saying;
    auto& out = *spoken.release();
    m_spoken.insert(&out);
    m_port.send(space, rank, m_port.largest_tag(), out.bytes, out);
}

void messenger::disown(comm::operation& done) {
    const auto found =
        std::find_if(m_spoken.begin(), m_spoken.end(), [&](const auto* each) { return each->done == &done; });
    if (found == m_spoken.end()) return;
    // MPI may still hold its memory, and will never say when it does not: the message stays.
    m_port.abandon(**found);
    m_disowned.emplace_back(*found);
    m_spoken.erase(found);
    --m_saying;
}

void messenger::withdraw(int space, int rank, wire_header header) {
    m_withdrawn.insert(header.sender);
    header.what = wire_header::kind::withdraw;
    say(space, rank, header, {}, nullptr);
}

int messenger::take_data_tag(int space, int source) {
    auto& where = at(space);
    // The upper half of the tags is the library's; the highest is the listeners'.
    const int first = m_port.largest_tag() / 2 + 1;
    const int count = m_port.largest_tag() - first;
    for (int tries = 0; tries < count; ++tries) {
        const int tag = first + where.next_data_tag;
        where.next_data_tag = (where.next_data_tag + 1) % count;
        if (where.data_tags.emplace(source, tag).second) return tag;
    }
    throw transfer_error(status::out_of_resources,
                         "more than " + std::to_string(count) + " messages from one rank at once");
}

void messenger::give_data_tag(int space, int source, int tag) { at(space).data_tags.erase({source, tag}); }

void messenger::close(int space) {
    const auto found = m_spaces.find(space);
    if (found == m_spaces.end()) return;
    found->second->closed = true;
    // The buffers of those that cannot be cancelled any more go when they are over.
    for (auto& each : found->second->listeners) {
        if (each->heard) {
            std::vector<std::byte>().swap(each->bytes);
        } else {
            m_port.cancel_receive(*each);
        }
    }
}

void messenger::close_all() {
    for (auto& [number, state] : m_spaces) close(number);
    m_ended = true;
}

bool messenger::poll(time_point now) {
    const bool progress = m_port.poll();
    if (m_expecting) {
        if (m_expect_until == time_point{}) m_expect_until = now + early_time;
        m_expecting = now < m_expect_until;
    }
    check_peers(now);
    return progress;
}

void messenger::check_peers(time_point now) {
    if (!m_peers || m_conversations.empty() || now < m_next_check) return;
    m_next_check = now + std::chrono::milliseconds(m_options[option::peer_check]);
    std::set<int> gone, seen;
    for (const auto& [number, known] : m_conversations) {
        const int rank = m_port.job_rank(known.space, known.peer);
        if (rank == comm::no_rank || !seen.insert(rank).second || !m_peers->is_gone(rank)) continue;
        // What the rank sent before it went is still being delivered: act one check later.
        if (!m_gone.insert(rank).second) gone.insert(rank);
    }
    for (const int rank : gone) rank_gone(rank);
}

void messenger::rank_gone(int job_rank) {
    // A conversation that ends may end others.
    const auto all = m_conversations;
    for (const auto& [number, known] : all) {
        if (m_port.job_rank(known.space, known.peer) != job_rank || m_conversations.count(number) == 0) continue;
        known.talk->peer_gone({status::peer_failed, 0, 0,
                               "rank " + std::to_string(known.peer) + " (rank " + std::to_string(job_rank) +
                                   " of the job) is gone"});
    }
}

} // namespace causeway::endpoints
