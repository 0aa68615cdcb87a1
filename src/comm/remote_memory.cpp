// SPDX-License-Identifier: Apache-2.0
// A request is one message, with its bytes if they are few. More bytes follow in a message of their own, straight from
// and to the memory of both sides; the last word of a write goes with the request.
#include "comm/remote_memory.hpp"

#include "base/error.hpp"
#include "base/give_way.hpp"
#include "base/store_once.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

namespace causeway::comm {

namespace {

enum class kind : std::uint32_t { write, read, change, tell, quiet };

/// With its request in one message, which libraries send without asking the other side first.
constexpr std::size_t few_bytes = 3072;
/// Of a larger write: the target stores them when the rest is there, as it may wait for them. MPI says nothing of the
/// order in which it writes a message to memory, nor of how often.
constexpr std::size_t last_bytes = sizeof(std::uint64_t);
/// MPI counts bytes by int.
constexpr std::size_t largest_message = std::size_t{1} << 30;
/// What a target that is slower than who writes has to keep.
constexpr std::uint64_t most_messages = 4096;
constexpr std::size_t most_started = 256;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
constexpr unsigned looks_without_pause = 1000, looks_with_short_pauses = 20000, looks_for_a_look_at_processes = 1024;
/// A yield that takes longer than this waited for another program's time slice, not for the kernel's work on a message.
constexpr std::chrono::milliseconds slow_yield{2};
constexpr unsigned sleeps_beside_large_message = 100;
constexpr std::size_t large_bytes = std::size_t{256} << 10;

void check(const char* call, int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    throw transfer_error(status::peer_failed, std::string(call) + ": " + text);
}

template <class Word> std::uint64_t change_word(word_operation what, Word* word, Word operand, Word compared) {
    switch (what) {
    case word_operation::fetch: return __atomic_load_n(word, __ATOMIC_SEQ_CST);
    case word_operation::set:
    case word_operation::swap: return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST);
    case word_operation::add: return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);
    case word_operation::increment: return __atomic_fetch_add(word, Word{1}, __ATOMIC_SEQ_CST);
    case word_operation::bit_and: return __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST);
    case word_operation::bit_or: return __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST);
    case word_operation::bit_xor: return __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST);
    case word_operation::compare_swap:
        __atomic_compare_exchange_n(word, &compared, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return compared;
    }
    return 0;
}

/// Calls `one(where, local, bytes)` for each message of a transfer.
template <class Byte, class One> void in_messages(remote_location where, Byte* local, std::size_t bytes, One one) {
    while (bytes != 0) {
        const auto now = std::min(bytes, largest_message);
        one(where, local, now);
        where.offset += now;
        local += now;
        bytes -= now;
    }
}

} // namespace

struct remote_memory::request {
    kind asks = kind::quiet;
    std::uint32_t part = 0;
    std::uint64_t offset = 0, bytes = 0;
    std::uint64_t operand = 0, compared = 0; // of a large write `operand` has the last bytes
    word_operation what = word_operation::fetch;
    int tag = 0; // of what follows or answers
};

/// A request and what follows it, or answers.
struct remote_memory::transfer {
    request what;
    std::array<MPI_Request, 2> messages{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

remote_memory::remote_memory(const process_group& all, const std::vector<bool>& far, reach own, trouble fails)
    : m_requests(process_group::duplicate(all.communicator())),
      m_payloads(process_group::duplicate(all.communicator())), m_answers(process_group::duplicate(all.communicator())),
      m_reach(std::move(own)), m_fails(std::move(fails)), m_sent(static_cast<std::size_t>(all.size())) {
    int level = MPI_THREAD_SINGLE;
    check("MPI_Query_thread", PMPI_Query_thread(&level));
    // The same everywhere, unless the launcher mixes libraries.
    if (level != MPI_THREAD_MULTIPLE)
        throw transfer_error(status::invalid_operation,
                             "PEs on several nodes need MPI with MPI_THREAD_MULTIPLE, and this one has less");
    m_watch.connect(all.all_gather(m_watch.address()), all.rank(), far);
    m_server = std::thread([this] { serve(); });
}

remote_memory::~remote_memory() {
    m_ends.store(true, std::memory_order_release);
    m_server.join();
    m_watch.leave();
}

/// An earlier form, with MPI_Wait here and MPI_Improbe in the thread that serves, stopped for good with Open MPI 4.1.
/// The cause is not known.
void remote_memory::complete(MPI_Request& what, std::size_t bytes) {
    int is_over = 0;
    for (unsigned looks = 1;; ++looks) {
        const int code = PMPI_Test(&what, &is_over, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) look_for_dead(); // the better reason
        check("MPI_Test", code);
        if (is_over != 0) return;
        if (looks % looks_for_a_look_at_processes == 0) look_for_dead();
        if (bytes >= large_bytes) {
            give_way(slow_yield, sleeps_beside_large_message);
        } else {
            give_way();
        }
    }
}

/// Whoever waits for a process waits in complete(), or is waited for by a process whose serving thread looks.
void remote_memory::look_for_dead() {
    if (m_is_looking.test_and_set(std::memory_order_acquire)) return; // another thread does
    for (int rank = 0; rank < static_cast<int>(m_sent.size()); ++rank)
        if (m_watch.is_gone(rank))
            m_fails("PE " + std::to_string(rank) +
                    " is gone: its process, on another node, ended without shmem_finalize, or that node is silent");
    m_is_looking.clear(std::memory_order_release);
}

int remote_memory::new_tag() { return static_cast<int>(m_tags.fetch_add(1, std::memory_order_relaxed) % 32749 + 1); }

void remote_memory::send(int rank, request& what, const void* with, std::size_t bytes) {
    std::array<std::byte, sizeof(request) + few_bytes> message;
    std::memcpy(message.data(), &what, sizeof what);
    if (bytes != 0) std::memcpy(message.data() + sizeof what, with, bytes);
    MPI_Request sent = MPI_REQUEST_NULL;
    check("MPI_Isend", PMPI_Isend(message.data(), static_cast<int>(sizeof what + bytes), MPI_BYTE, rank, 0,
                                  m_requests->communicator(), &sent));
    complete(sent);
}

void remote_memory::count(int rank, std::size_t bytes) {
    auto& sent = m_sent[static_cast<std::size_t>(rank)];
    const auto messages = ++sent.messages, in_all = sent.bytes += bytes;
    if (messages >= sent.messages_there + most_messages || in_all >= sent.bytes_there + most_bytes) quiet(rank);
}

void remote_memory::post_write(transfer& one, const remote_location& where, const void* from, std::size_t bytes) {
    one.what = {.asks = kind::write, .part = where.part, .offset = where.offset, .bytes = bytes};
    if (bytes <= few_bytes) {
        send(where.rank, one.what, from, bytes);
        return;
    }
    one.what.tag = new_tag();
    const auto before_last = bytes - last_bytes;
    std::memcpy(&one.what.operand, static_cast<const std::byte*>(from) + before_last, last_bytes);
    check("MPI_Isend", PMPI_Isend(&one.what, sizeof one.what, MPI_BYTE, where.rank, 0, m_requests->communicator(),
                                  one.messages.data()));
    check("MPI_Isend", PMPI_Isend(from, static_cast<int>(before_last), MPI_BYTE, where.rank, one.what.tag,
                                  m_payloads->communicator(), one.messages.data() + 1));
}

void remote_memory::post_read(transfer& one, const remote_location& where, void* to, std::size_t bytes) {
    one.what = {.asks = kind::read, .part = where.part, .offset = where.offset, .bytes = bytes, .tag = new_tag()};
    check("MPI_Irecv", PMPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, where.rank, one.what.tag,
                                  m_answers->communicator(), one.messages.data()));
    send(where.rank, one.what, nullptr, 0);
}

void remote_memory::complete(transfer& one) {
    for (auto& each : one.messages)
        if (each != MPI_REQUEST_NULL) complete(each, one.what.bytes);
}

void remote_memory::keep(std::unique_ptr<transfer> one) {
    const std::lock_guard lock(m_guard);
    m_started.push_back(std::move(one));
    if (m_started.size() < most_started) return;
    for (auto& each : m_started) complete(*each);
    m_started.clear();
}

void remote_memory::write(const remote_location& where, const void* from, std::size_t bytes) {
    in_messages(where, static_cast<const std::byte*>(from), bytes,
                [&](const remote_location& to, const std::byte* part, std::size_t part_bytes) {
                    transfer one;
                    post_write(one, to, part, part_bytes);
                    complete(one);
                    count(to.rank, part_bytes);
                });
}

void remote_memory::start_write(const remote_location& where, const void* from, std::size_t bytes) {
    in_messages(where, static_cast<const std::byte*>(from), bytes,
                [&](const remote_location& to, const std::byte* part, std::size_t part_bytes) {
                    auto one = std::make_unique<transfer>();
                    post_write(*one, to, part, part_bytes);
                    if (part_bytes > few_bytes) keep(std::move(one));
                    count(to.rank, part_bytes);
                });
}

void remote_memory::read(const remote_location& where, void* to, std::size_t bytes) {
    in_messages(where, static_cast<std::byte*>(to), bytes,
                [&](const remote_location& from, std::byte* part, std::size_t part_bytes) {
                    transfer one;
                    post_read(one, from, part, part_bytes);
                    complete(one);
                });
}

void remote_memory::start_read(const remote_location& where, void* to, std::size_t bytes) {
    in_messages(where, static_cast<std::byte*>(to), bytes,
                [&](const remote_location& from, std::byte* part, std::size_t part_bytes) {
                    auto one = std::make_unique<transfer>();
                    post_read(*one, from, part, part_bytes);
                    keep(std::move(one));
                });
}

std::uint64_t remote_memory::change(const remote_location& where, word_operation what, std::size_t word_bytes,
                                    std::uint64_t operand, std::uint64_t compared) {
    request asked{kind::change, where.part, where.offset, word_bytes, operand, compared, what, new_tag()};
    std::uint64_t before = 0;
    MPI_Request answer = MPI_REQUEST_NULL;
    check("MPI_Irecv",
          PMPI_Irecv(&before, sizeof before, MPI_BYTE, where.rank, asked.tag, m_answers->communicator(), &answer));
    send(where.rank, asked, nullptr, 0);
    complete(answer);
    return before;
}

void remote_memory::tell(const remote_location& where, word_operation what, std::size_t word_bytes,
                         std::uint64_t operand) {
    request told{kind::tell, where.part, where.offset, word_bytes, operand, 0, what, 0};
    send(where.rank, told, nullptr, 0);
    count(where.rank, word_bytes);
}

void remote_memory::quiet() {
    {
        const std::lock_guard lock(m_guard);
        for (auto& each : m_started) complete(*each);
        m_started.clear();
    }
    for (std::size_t rank = 0; rank < m_sent.size(); ++rank)
        if (m_sent[rank].messages != m_sent[rank].messages_there) quiet(static_cast<int>(rank));
}

void remote_memory::quiet(int rank) {
    auto& sent = m_sent[static_cast<std::size_t>(rank)];
    const std::uint64_t messages = sent.messages, bytes = sent.bytes;
    request what{.asks = kind::quiet, .tag = new_tag()};
    std::uint64_t done = 0;
    MPI_Request answer = MPI_REQUEST_NULL;
    check("MPI_Irecv", PMPI_Irecv(&done, sizeof done, MPI_BYTE, rank, what.tag, m_answers->communicator(), &answer));
    send(rank, what, nullptr, 0);
    complete(answer);
    // Another thread may have waited for more meanwhile.
    const auto raise = [](std::atomic<std::uint64_t>& to, std::uint64_t least) {
        for (std::uint64_t seen = to; seen < least && !to.compare_exchange_weak(seen, least);) {}
    };
    raise(sent.messages_there, messages);
    raise(sent.bytes_there, bytes);
}

void remote_memory::answer(int source, const request& what, const std::byte* with) {
    auto* const memory = what.asks == kind::quiet ? nullptr : m_reach(what.part, what.offset, what.bytes);
    if (memory == nullptr && what.asks != kind::quiet)
        throw transfer_error(status::invalid_value, "process " + std::to_string(source) + " asks for " +
                                                        bytes_text(what.bytes) + " of memory that is not there");
    const auto reply = [&](const void* bytes, std::size_t count) {
        MPI_Request sent = MPI_REQUEST_NULL;
        check("MPI_Isend",
              PMPI_Isend(bytes, static_cast<int>(count), MPI_BYTE, source, what.tag, m_answers->communicator(), &sent));
        complete(sent, count);
    };
    const auto change = [&] {
        return what.bytes == 4
                   ? change_word(what.what, reinterpret_cast<std::uint32_t*>(memory),
                                 static_cast<std::uint32_t>(what.operand), static_cast<std::uint32_t>(what.compared))
                   : change_word(what.what, reinterpret_cast<std::uint64_t*>(memory), what.operand, what.compared);
    };
    switch (what.asks) {
    case kind::write:
        if (what.bytes <= few_bytes) {
            store_once(memory, with, what.bytes);
        } else {
            const auto before_last = what.bytes - last_bytes;
            MPI_Request payload = MPI_REQUEST_NULL;
            check("MPI_Irecv", PMPI_Irecv(memory, static_cast<int>(before_last), MPI_BYTE, source, what.tag,
                                          m_payloads->communicator(), &payload));
            complete(payload, before_last);
            store_once(memory + before_last, &what.operand, last_bytes);
        }
        break;
    case kind::read: reply(memory, what.bytes); break;
    case kind::change: {
        const auto before = change();
        reply(&before, sizeof before);
        break;
    }
    case kind::tell: (void)change(); break;
    case kind::quiet: reply(&what.operand, sizeof what.operand); break;
    }
}

/// One request after the other. Sleeps ever longer while there is none.
void remote_memory::serve() {
    std::array<std::byte, sizeof(request) + few_bytes> message;
    MPI_Request next = MPI_REQUEST_NULL;
    const auto listen = [&] {
        check("MPI_Irecv", PMPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_BYTE, MPI_ANY_SOURCE, 0,
                                      m_requests->communicator(), &next));
    };
    try {
        listen();
        for (unsigned looks = 0, turns = 1;; ++turns) {
            int has_come = 0;
            MPI_Status facts;
            const int code = PMPI_Test(&next, &has_come, &facts);
            if (code != MPI_SUCCESS || turns % looks_for_a_look_at_processes == 0) look_for_dead();
            check("MPI_Test", code);
            if (has_come != 0) {
                looks = 0;
                request what;
                std::memcpy(&what, message.data(), sizeof what);
                answer(facts.MPI_SOURCE, what, message.data() + sizeof what);
                listen();
                continue;
            }
            if (m_ends.load(std::memory_order_acquire)) break;
            if (++looks < looks_without_pause) {
                give_way(slow_yield);
            } else {
                ::usleep(looks < looks_with_short_pauses ? 50 : 500);
            }
        }
        check("MPI_Cancel", PMPI_Cancel(&next));
        complete(next);
    } catch (const std::exception& error) {
        m_fails(error.what());
    }
}

} // namespace causeway::comm
