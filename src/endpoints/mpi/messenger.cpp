// SPDX-License-Identifier: Apache-2.0
// Listens, speaks, and keeps the numbers of exchanges and tags.
#include "endpoints/mpi/messenger.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

namespace causeway::endpoints {

namespace {

constexpr std::size_t listener_count = 4;
/// Control sends and payloads of at most `small_bytes` are kept for reuse, at most `most_idle` of each.
constexpr std::size_t small_bytes = sizeof(wire_header) + 1024, most_idle = 64;
constexpr auto repeat_time = std::chrono::milliseconds(10);
constexpr std::size_t message_bytes = sizeof(wire_header) + transfer::largest_eager;
/// How long a new gated receive makes the engine poll; what comes later is found when the gates open.
constexpr auto early_time = std::chrono::milliseconds(100);

failure closed_space() { return {status::cancelled, 0, 0, "the communicator was freed, or MPI has ended"}; }

} // namespace

/// A message on its way out; owns its bytes, and itself while MPI has it.
struct messenger::control_send final : comm::operation {
    void over(const comm::arrival& result) override {
        std::unique_ptr<control_send> self(this);
        auto& owner = *peer;
        --owner.m_sends_under_way;
        std::erase(owner.m_control_sends, this);
        if (done != nullptr) {
            done->over(result);
        } else if (result.error) {
            owner.refused(std::move(self), result.error);
            return;
        }
        if (bytes.capacity() <= small_bytes && owner.m_idle_sends.size() < most_idle)
            owner.m_idle_sends.push_back(std::move(self));
    }

    messenger* peer = nullptr;
    int space = 0, rank = 0, tag = 0;
    std::uint64_t exchange = 0; // that gets send_failed(); 0: a failed send is repeated
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
    failure listening_failure; // why the listeners have ended
    std::map<int, failure> not_listening; // others whose listeners have ended
    std::set<int> gone; // of these, that are lost
    [[nodiscard]] bool listening() const { return !closed && !listening_failure; }
};

/// A receive that is always posted for the headers of other ranks.
struct messenger::listener final : comm::operation {
    explicit listener(space_state& where)
        : space(where), memory(std::make_unique_for_overwrite<std::byte[]>(message_bytes)) {}
    void over(const comm::arrival& result) override {
        if (!space.listening()) {
            memory.reset();
        } else if (result.error && !result.too_long) {
            space.self.go_deaf(space, result.error);
        } else {
            has_message = true;
            what = result;
            space.self.take_arrived(space);
        }
    }

    [[nodiscard]] std::span<std::byte> bytes() const { return {memory.get(), message_bytes}; }

    space_state& space;
    std::unique_ptr<std::byte[]> memory; // not touched before a message comes: most communicators see small ones only
    bool has_message = false;
    comm::arrival what;
};

messenger::messenger(const options& settings, comm::port& port, windows::finder open, std::uint64_t node,
                     bridge::windows* device_windows)
    : m_options(settings), m_port(port), m_windows(settings, open), m_devices(device_windows), m_known(settings, port),
      m_node(node) {
    m_spare_payloads.reserve(most_idle);
}

messenger::~messenger() = default;

void messenger::watch_peers(std::unique_ptr<comm::peer_liveness> peers) {
    // On a node of its own for the others, who would find nobody where they look.
    if (!peers->listens()) m_node += static_cast<std::uint64_t>(::getpid());
    m_key = peers->key();
    m_peers = std::move(peers);
}

void messenger::record(transfer::recorder& to) {
    m_recorder = &to;
    m_clocks.emplace(to);
}

message_matcher& messenger::matcher(int space) { return at(space).matcher; }

messenger::space_state& messenger::at(int space) {
    auto& state = m_spaces[space];
    if (!state) state = std::make_unique<space_state>(*this, space);
    return *state;
}

void messenger::listen(int space) {
    auto& where = at(space);
    if (!where.listeners.empty()) return;
    for (std::size_t i = 0; i < listener_count && where.listening(); ++i) {
        where.listeners.push_back(std::make_unique<listener>(where));
        auto& added = *where.listeners.back();
        m_port.receive(where.number, comm::any_source, m_port.largest_tag(), added.bytes(), added);
    }
}

failure messenger::listening_failure(int space, int peer) const {
    const auto& where = *m_spaces.at(space);
    if (where.listening_failure) return where.listening_failure;
    if (where.closed) return closed_space();
    const auto found = where.not_listening.find(peer);
    return found != where.not_listening.end() ? found->second : failure{};
}

bool messenger::hears(int space) const { return m_spaces.at(space)->listening(); }

void messenger::take_arrived(space_state& where) {
    // Messages meet the listeners in turn, but a long one may end after a short one behind it: keep the order.
    while (where.listening() && where.listeners[where.next_listener]->has_message) {
        auto& next = *where.listeners[where.next_listener];
        next.has_message = false;
        where.next_listener = (where.next_listener + 1) % listener_count;
        if (next.what.too_long) {
            // No messenger sends such; MPI has consumed it, and the next one is as good as before.
            warn_once("rank " + std::to_string(next.what.source) +
                      " sent a message longer than any of the library's, on the library's tag: it is ignored");
        } else if (!next.what.cancelled) {
            take(where, next.what.source, next.bytes().first(next.what.bytes));
        }
        if (where.listening()) m_port.receive(where.number, comm::any_source, m_port.largest_tag(), next.bytes(), next);
    }
}

void messenger::stop_listening(space_state& where) {
    // The buffers of those that cannot be cancelled any more go when they are over.
    for (auto& each : where.listeners) {
        if (each->has_message) {
            each->memory.reset();
        } else {
            m_port.cancel_receive(*each);
        }
    }
}

void messenger::go_deaf(space_state& where, const failure& cause) {
    where.listening_failure = cause;
    where.listening_failure.message = "this rank no longer hears others on the communicator: " + cause.message;
    stop_listening(where);
    const int own = m_port.own_rank(where.number);
    lose([&](const control_send& each) { return each.space == where.number && each.rank == own && is_header(each); },
         where.listening_failure);
    end_waiting(where.number, {}, where.listening_failure);
    where.matcher.forget_announced(own);
    for (int rank = 0; rank < m_port.ranks(where.number); ++rank)
        if (rank != own) send(where.number, rank, {.what = wire_header::kind::not_listening});
}

void messenger::ignored_by(space_state& where, int rank) {
    const failure why{status::peer_failed, 0, 0,
                      "rank " + std::to_string(rank) + " no longer hears others on the communicator"};
    where.not_listening.emplace(rank, why);
    lose([&](const control_send& each) { return each.space == where.number && each.rank == rank && is_header(each); },
         why);
    end_waiting(where.number, rank, why);
}

bool messenger::is_header(const control_send& which) const { return which.tag == m_port.largest_tag(); }

template <class Which> void messenger::lose(Which which, const failure& why) {
    std::erase_if(m_refused, [&](const auto& each) { return which(*each); });
    std::vector<control_send*> lost;
    for (auto* const each : m_control_sends)
        if (which(*each)) lost.push_back(each);
    for (auto* const each : lost) {
        std::erase(m_control_sends, each);
        --m_sends_under_way;
        m_port.abandon(*each);
        m_lost.emplace_back(each);
        if (each->done != nullptr) each->done->over({.error = why});
    }
}

void messenger::end_waiting(int space, std::optional<int> rank, const failure& why) {
    std::erase_if(m_withdrawn,
                  [&](const auto& each) { return each.second.space == space && (!rank || each.second.rank == *rank); });
    // An exchange that ends may end others.
    const auto all = m_exchanges;
    for (const auto& [number, known] : all)
        if (known.space == space && (!rank || known.peer == *rank) && m_exchanges.count(number) != 0)
            known.which->no_more_answers(why);
}

void messenger::given_up(space_state& where, int source, std::uint64_t sender) {
    if (where.matcher.withdrawn(source, sender)) return;
    const auto found = std::find_if(m_exchanges.begin(), m_exchanges.end(), [&](const auto& each) {
        const auto& known = each.second;
        return known.space == where.number && known.peer == source && known.matched == sender;
    });
    if (found != m_exchanges.end())
        found->second.which->received({.what = wire_header::kind::abandon, .sender = sender});
}

void messenger::take(space_state& where, int source, std::span<const std::byte> bytes) {
    wire_header header;
    const auto expected = header.magic;
    const auto version = header.version;
    if (bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != expected || header.version != version) {
        warn_once("rank " + std::to_string(source) +
                  " speaks another version of the protocol, or its message is the "
                  "application's; tags above half of MPI_TAG_UB are the library's");
        return;
    }
    const auto payload = bytes.subspan(sizeof header);
    if (const char* const fault = fault_of(header, payload.size()); fault != nullptr) {
        warn_once("a message of rank " + std::to_string(source) + " is left out, as it has " + fault);
        return;
    }
    if (m_clocks) m_clocks->add(m_port.job_rank(where.number, source), header.sent_at, header.least_transit);
    auto& peer = m_known.heard_from(where.number, source);
    peer.on_node = header.node == m_node;
    if (peer.on_node && !std::exchange(peer.is_met, true)) {
        const int who = m_port.job_rank(where.number, source);
        if (m_peers) m_peers->met(who, header.key);
        m_devices.know(who, header.key);
    }
    if (header.what == wire_header::kind::rts) peer.sends = header.end();
    if (header.what == wire_header::kind::cts) peer.receives = header.end();
    switch (header.what) {
    case wire_header::kind::eager:
    case wire_header::kind::rts: {
        message announced{.source = source,
                          .tag = header.tag,
                          .bytes = header.bytes,
                          .block_bytes = header.block_bytes,
                          .sender = header.sender};
        announced.eager = header.what == wire_header::kind::eager;
        if (announced.eager && header.bytes != payload.size()) {
            announced.fault = "another size than its header says";
            announced.bytes = payload.size();
        }
        if (!announced.eager && (header.bytes == 0 || header.block_bytes == 0 || header.block_bytes > largest_block)) {
            announced.fault = "blocks of a size that cannot be";
            announced.block_bytes = 1;
        }
        if (!peer.on_node) announced.block_bytes = std::min(announced.block_bytes, peer.pace.block_bytes());
        announced.window = !announced.eager && header.has(wire_header::fills_window) && peer.on_node &&
                           m_known.may_share(m_port.job_rank(where.number, source));
        const bool fills = header.has(wire_header::fills_device_window);
        if ((fills || header.has(wire_header::could_fill_device_window)) && peer.on_node) {
            m_devices.comes_from(m_port.job_rank(where.number, source), header.device);
            announced.has_device = true;
            announced.device_window = fills;
            announced.device = header.device;
        }
        if (announced.eager) {
            if (!payload.empty() && payload.size() <= small_bytes && !m_spare_payloads.empty()) {
                announced.payload = std::move(m_spare_payloads.back());
                m_spare_payloads.pop_back();
            }
            announced.payload.assign(payload.begin(), payload.end());
        }
        where.matcher.arrived(std::move(announced));
        return;
    }
    case wire_header::kind::withdraw:
        if (where.matcher.withdrawn(source, header.sender)) {
            header.what = wire_header::kind::gone;
            send(where.number, source, header);
        }
        return;
    case wire_header::kind::abandon: given_up(where, source, header.sender); return;
    case wire_header::kind::not_listening: ignored_by(where, source); return;
    case wire_header::kind::cts:
    case wire_header::kind::refuse:
    case wire_header::kind::gone:
    case wire_header::kind::stop:
    case wire_header::kind::grant: break;
    case wire_header::kind::filled:
    case wire_header::kind::plain:
    case wire_header::kind::done: {
        if (auto* const which = find(header.receiver, where.number, source)) which->received(header);
        return;
    }
    }
    if (const auto back = m_withdrawn.find(header.sender);
        back != m_withdrawn.end() && back->second.space == where.number && back->second.rank == source)
        m_withdrawn.erase(back);
    if (auto* const which = find(header.sender, where.number, source)) {
        which->received(header);
    } else if (header.what == wire_header::kind::cts) {
        // The send gave up while the answer was on its way.
        if (header.window.segment.process != 0 || header.device_window != 0) {
            header.what = wire_header::kind::done;
            send(where.number, source, header);
        } else {
            release(where.number, source, header.data_tag);
        }
    }
}

const char* messenger::fault_of(const wire_header& header, std::size_t payload_bytes) const {
    using kind = wire_header::kind;
    if (header.what < kind::eager || header.what > kind::done) return "a kind that does not exist";
    if (header.what != kind::eager && payload_bytes > 0) return "bytes behind its header";
    if ((header.what == kind::eager || header.what == kind::rts) && header.tag == any_tag)
        return "a wildcard for a tag";
    const int half = m_port.largest_tag() / 2;
    if (header.what == kind::cts && (header.data_tag <= half || header.data_tag >= m_port.largest_tag()))
        return "a tag for blocks that is not the library's";
    return nullptr;
}

exchange* messenger::find(std::uint64_t number, int space, int source) const {
    const auto known = m_exchanges.find(number);
    const bool is_sides = known != m_exchanges.end() && known->second.space == space && known->second.peer == source;
    return is_sides ? known->second.which : nullptr;
}

bool messenger::trim(time_point now) {
    for (const int rank : m_devices.owners())
        if (m_peers && m_peers->is_gone(rank)) m_devices.forget(rank);
    m_devices.retire();
    m_devices.look();
    return m_windows.trim(now) || m_devices.is_in_use();
}

std::uint64_t messenger::begin(exchange& which, int space, int peer, std::uint64_t matched) {
    const known_exchange known{&which, space, peer, matched};
    if (m_spare_exchange.empty()) {
        m_exchanges.emplace(m_next_number, known);
    } else {
        m_spare_exchange.key() = m_next_number;
        m_spare_exchange.mapped() = known;
        m_exchanges.insert(m_exchanges.end(), std::move(m_spare_exchange));
    }
    return m_next_number++;
}

void messenger::has_used(std::vector<std::byte> payload) {
    if (payload.capacity() > 0 && payload.capacity() <= small_bytes && m_spare_payloads.size() < most_idle)
        m_spare_payloads.push_back(std::move(payload));
}

void messenger::end(std::uint64_t number) { m_spare_exchange = m_exchanges.extract(number); }

std::unique_ptr<messenger::control_send> messenger::new_control_send(int space, int rank, int tag) {
    std::unique_ptr<control_send> made;
    if (m_idle_sends.empty()) {
        made = std::make_unique<control_send>();
    } else {
        made = std::move(m_idle_sends.back());
        m_idle_sends.pop_back();
        made->bytes.clear();
        made->exchange = 0;
        made->done = nullptr;
    }
    made->peer = this;
    made->space = space;
    made->rank = rank;
    made->tag = tag;
    return made;
}

std::unique_ptr<messenger::control_send> messenger::make_control_send(int space, int rank, wire_header header,
                                                                      std::span<const std::byte> payload) {
    auto made = new_control_send(space, rank, m_port.largest_tag());
    header.node = m_node;
    header.key = m_key;
    if (m_clocks) {
        header.sent_at = m_clocks->now();
        header.least_transit = m_clocks->least_transit(m_port.job_rank(space, rank));
    }
    made->bytes.resize(sizeof header + payload.size());
    std::memcpy(made->bytes.data(), &header, sizeof header);
    if (!payload.empty()) std::memcpy(made->bytes.data() + sizeof header, payload.data(), payload.size());
    return made;
}

void messenger::send(int space, int rank, const wire_header& header) {
    if (at(space).not_listening.count(rank) != 0) return; // and nothing waits for its answer
    auto made = make_control_send(space, rank, header, {});
    if (header.what == wire_header::kind::rts) made->exchange = header.sender;
    if (header.what == wire_header::kind::cts) made->exchange = header.receiver;
    start(std::move(made));
}

void messenger::send(int space, int rank, const wire_header& header, std::span<const std::byte> payload,
                     comm::operation& done) {
    auto made = make_control_send(space, rank, header, payload);
    made->done = &done;
    start(std::move(made));
}

void messenger::release(int space, int rank, int data_tag) { start(new_control_send(space, rank, data_tag)); }

void messenger::start(std::unique_ptr<control_send> made) {
    if (m_ended) {
        if (made->done != nullptr) made->done->over({.error = closed_space()});
        return;
    }
    ++m_sends_under_way;
    auto& out = *made.release();
    m_control_sends.push_back(&out);
    m_port.send(out.space, out.rank, out.tag, out.bytes, out);
}

void messenger::refused(std::unique_ptr<control_send> what, const failure& why) {
    if (what->exchange == 0) {
        const auto& where = at(what->space);
        if (!where.closed && !where.gone.contains(what->rank)) m_refused.push_back(std::move(what));
        return;
    }
    const auto known = m_exchanges.find(what->exchange);
    if (known == m_exchanges.end()) return;
    auto cause = why;
    cause.message = "sending to rank " + std::to_string(what->rank) + ": " + why.message;
    known->second.which->send_failed(cause);
}

void messenger::repeat(time_point now) {
    if ((m_refused.empty() && m_again.empty()) || now < m_next_repeat) return;
    m_next_repeat = now + repeat_time;
    for (auto& each : std::exchange(m_refused, {})) start(std::move(each));
    for (const auto number : std::exchange(m_again, {})) {
        const auto known = m_exchanges.find(number);
        if (known != m_exchanges.end()) known->second.which->again();
    }
}

void messenger::withdraw(int space, int rank, wire_header header) {
    m_withdrawn.emplace(header.sender, recipient{space, rank, header.tag});
    header.what = wire_header::kind::withdraw;
    send(space, rank, header);
}

void messenger::abandon(int space, int rank, wire_header header) {
    header.what = wire_header::kind::abandon;
    if (rank == m_port.own_rank(space)) {
        given_up(at(space), rank, header.sender);
    } else {
        send(space, rank, header);
    }
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
    const bool listened = found->second->listening();
    found->second->closed = true;
    if (listened) stop_listening(*found->second);
    std::erase_if(m_refused, [&](const auto& each) { return each->space == space; });
    std::erase_if(m_withdrawn, [&](const auto& each) { return each.second.space == space; });
    m_known.close(space);
}

void messenger::close_all() {
    for (auto& [number, state] : m_spaces) close(number);
    m_ended = true;
    // MPI may move bytes until it has ended.
    end_all_with([](int, int) { return true; }, comm::loss::out_of_reach, closed_space(),
                 [](int) { return closed_space(); });
}

bool messenger::poll(time_point now) {
    m_now = now;
    if (m_ended) return false; // nobody may ask MPI any more
    const bool progress = m_port.poll();
    if (m_recorder != nullptr && m_port.requests() != m_requests_told) {
        m_requests_told = m_port.requests();
        m_recorder->level_is(transfer::level::mpi_requests, m_requests_told);
    }
    if (m_expecting) {
        if (m_expect_until == time_point{}) m_expect_until = now + early_time;
        m_expecting = now < m_expect_until;
    }
    repeat(now);
    check_peers(now);
    if (!m_ending.empty()) end_exchanges_with_lost(now);
    return progress;
}

void messenger::check_peers(time_point now) {
    if (!m_peers || now < m_next_check || (m_exchanges.empty() && quiet())) return;
    m_next_check = now + std::chrono::milliseconds(m_options[option::peer_check]);
    std::set<int> wanted;
    for (const auto& [number, known] : m_exchanges) wanted.insert(m_port.job_rank(known.space, known.peer));
    for (const auto& [number, where] : m_withdrawn) wanted.insert(m_port.job_rank(where.space, where.rank));
    for (const auto* const each : m_control_sends) wanted.insert(m_port.job_rank(each->space, each->rank));
    for (const auto& each : m_refused) wanted.insert(m_port.job_rank(each->space, each->rank));
    for (const int rank : wanted) {
        if (rank == comm::no_rank || !m_peers->is_gone(rank)) continue;
        // What the rank sent before it went is still being delivered: act one check later.
        if (!m_gone.insert(rank).second) rank_gone(rank);
    }
}

template <class Which> void messenger::end_all_with(Which is_gone, comm::loss how, const failure& lost,
                                                    const std::function<failure(int)>& why) {
    std::erase_if(m_withdrawn, [&](const auto& each) { return is_gone(each.second.space, each.second.rank); });
    lose([&](const control_send& each) { return is_gone(each.space, each.rank); }, lost);
    // An exchange that ends may end others.
    const auto all = m_exchanges;
    for (const auto& [number, known] : all)
        if (is_gone(known.space, known.peer) && m_exchanges.contains(number))
            known.which->peer_gone(why(known.peer), how);
}

void messenger::rank_gone(int job_rank) {
    m_devices.forget(job_rank);
    const auto text = " (rank " + std::to_string(job_rank) + " of the job) is gone";
    end_all_with(
        [&](int space, int rank) { return m_port.job_rank(space, rank) == job_rank; }, comm::loss::process_ended,
        {status::peer_failed, 0, 0, "the rank that a message was for" + text},
        [&](int rank) -> failure { return {status::peer_failed, 0, 0, "rank " + std::to_string(rank) + text}; });
}

void messenger::peer_lost(int space, int rank, const failure& why, comm::loss how) {
    auto& where = at(space);
    if (m_ended || where.closed || !where.gone.insert(rank).second) return;
    where.not_listening.insert_or_assign(rank, why);
    const bool has_any = std::any_of(m_exchanges.begin(), m_exchanges.end(),
                                     [&](const auto& each) {
                                         return each.second.space == space && each.second.peer == rank;
                                     }) ||
                         std::any_of(m_withdrawn.begin(), m_withdrawn.end(),
                                     [&](const auto& each) {
                                         return each.second.space == space && each.second.rank == rank;
                                     }) ||
                         std::any_of(m_control_sends.begin(), m_control_sends.end(),
                                     [&](const auto* each) { return each->space == space && each->rank == rank; });
    if (has_any) m_ending.push_back({space, rank, how, why, {}});
}

void messenger::end_exchanges_with_lost(time_point now) {
    const auto delay = std::chrono::milliseconds(m_options[option::peer_check]);
    for (auto& each : m_ending)
        if (each.when == time_point{}) each.when = now + delay;
    for (const auto& ended : std::exchange(m_ending, {})) {
        if (now < ended.when) {
            m_ending.push_back(ended);
            continue;
        }
        end_all_with([&](int space, int rank) { return space == ended.space && rank == ended.rank; }, ended.how,
                     ended.why, [&](int) { return ended.why; });
    }
}

void messenger::let_go(int space, int rank, int tag, const failure& why) {
    std::erase_if(m_withdrawn, [&](const auto& each) {
        return each.second.space == space && each.second.rank == rank && each.second.tag == tag;
    });
    const auto all = m_exchanges;
    for (const auto& [number, known] : all)
        if (known.space == space && known.peer == rank && m_exchanges.contains(number)) known.which->let_go(tag, why);
}

void messenger::lose_message_of(const comm::operation& done, const failure& why) {
    lose([&](const control_send& each) { return each.done == &done; }, why);
}

} // namespace causeway::endpoints
