// SPDX-License-Identifier: Apache-2.0
// One-sided commands by messages: the target's engine serves them where the initiator cannot reach the heap itself.
#pragma once

#include "comm/port.hpp"
#include "endpoints/device/device_endpoint.hpp"
#include "endpoints/mpi/messenger.hpp"
#include "endpoints/symmetric/heap.hpp"
#include "endpoints/symmetric/symmetric_endpoint.hpp"
#include "transfer/command.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace causeway::core {

class runtime;

/// A request of one PE to another, or the answer. Sent as it lies in memory: both run the same build on like machines.
struct heap_message {
    /// `write_back` and `reload` move the values of a range's kept words to the device's memory, or from there.
    /// `withdraw` ends a put or get whose bytes will not come or are no longer wanted; it is still answered. `end`,
    /// which a PE sends to itself, is the last message that it receives.
    enum class kind : std::uint32_t { put, get, atomic, write_back, reload, arrival, left, end, withdraw, answer };
    kind what = kind::put;
    std::uint32_t tag = 0; ///< of the message with the bytes
    std::uint64_t number = 0; ///< of the request, at its initiator
    std::uint64_t offset = 0, bytes = 0; ///< of an arrival: offsets of target and source
    std::uint64_t is_box = 0, region[3] = {}, row_pitch = 0, slice_pitch = 0;
    std::uint32_t has_word = 0, operation = 0; ///< of a put: it has a signal; of an atomic: keep the word from now on
    std::uint64_t word_bytes = 8, word_offset = 0, operand = 0, compared = 0;
    std::uint64_t value = 0; ///< of a reply: what was in the word before; of an arrival: its number
    std::uint64_t purpose = 0, brought = 0; ///< of an arrival
    std::uint32_t times = 0; ///< of an arrival
    std::int32_t status = 0, has_failed = 0;
    std::array<char, 160> reason{};
};

/// What a request of kind `atomic` asks for, or the signal of a put.
[[nodiscard]] inline endpoints::heap_atomic atomic_of(const heap_message& message) {
    return {.offset = message.word_offset,
            .bytes = message.word_bytes,
            .what = static_cast<endpoints::atomic_operation>(message.operation),
            .operand = message.operand,
            .compared = message.compared};
}

/// The failure of a command or request that the program, or its other half, has taken back.
[[nodiscard]] inline failure cancelled() { return {status::cancelled, 0, 0, "the transfer was cancelled"}; }

/// What MPI refuses is tried again, but not for ever.
class refusals {
  public:
    void add(const failure& why) {
        const auto now = endpoints::heap_waits::now();
        if (!m_why || now - m_last > longest) m_first = now;
        m_last = now;
        m_why = why;
    }
    /// The cause, if it has been tried for long enough; else empty.
    [[nodiscard]] failure final_one(time_point now) const { return now - m_first > longest ? m_why : failure(); }
    [[nodiscard]] const failure& last() const { return m_why; }

  private:
    static constexpr auto longest = std::chrono::seconds(1);
    failure m_why;
    time_point m_first, m_last;
};

/// Bytes of a heap that a request is about: a range, or rows of a box with what lies between them.
struct heap_extent {
    std::size_t offset = 0, bytes = 0; ///< to the end of the last row
    bool is_box = false;
    std::array<std::size_t, 3> region{};
    std::size_t row_pitch = 0, slice_pitch = 0;

    /// Whether a byte of the word belongs to it, and not to what lies between rows.
    [[nodiscard]] bool has_part_of(std::size_t word_offset, std::size_t word_bytes) const;
};

/// Serves the heap of this PE, and asks the others. One for each heap that needs it; engine's thread only, but for
/// new_tag().
class heap_server final : private comm::operation,
                          private endpoints::heap_waiter,
                          public std::enable_shared_from_this<heap_server> {
  public:
    /// `memory` is the heap if the host reaches it; else null, and `device` is the heap.
    heap_server(runtime& process, std::shared_ptr<endpoints::heap> served, int space, endpoints::buffer_location device,
                std::byte* memory);
    ~heap_server();

    /// Throws transfer_error if MPI refuses to listen.
    void start();
    /// Tells the others that this PE has left, or gives up (heap::leave()), and serves them no more. From then on it
    /// hears only that others have left.
    void leave(bool gives_up = false);
    /// Whether all PEs have left, and nothing more is heard: the communicator can be freed.
    [[nodiscard]] bool is_over() const { return m_has_left && all_have_left() && !m_listening; }
    /// MPI is about to end: as stop(), and sends nothing from then on.
    void end() {
        stop();
        m_is_mute = true;
    }
    /// Leaves, and hears nothing more. A message that comes later stays in the communicator, which must then not be
    /// freed: MPI may deliver it in a later one.
    void stop();

    /// Any thread. The tag for the message with the bytes of one request. Puts have even tags, gets odd ones: both PEs
    /// count from the same number, and one's puts go the same way as the other's answers to gets.
    [[nodiscard]] std::uint32_t new_tag(heap_message::kind of) {
        return 2 * (m_next_tag++ % most_tags) + (of == heap_message::kind::put ? 2 : 3);
    }

    [[nodiscard]] int space() const { return m_space; }
    [[nodiscard]] const std::shared_ptr<endpoints::heap>& served() const { return m_heap; }
    [[nodiscard]] bool has_host_memory() const { return m_memory != nullptr; }

    using answered = std::function<void(const failure& error, std::uint64_t before)>;
    /// Sends `request`, and calls `then` with the answer. Returns a number for forget().
    std::uint64_t ask(int pe, heap_message request, answered then);
    void forget(std::uint64_t number) { m_asked.erase(number); }
    void withdraw(int pe, std::uint64_t number) { send(pe, {.what = heap_message::kind::withdraw, .number = number}); }
    /// Nothing comes of a put or get of `pe`: its bytes must not wait in MPI for a PE that may never take them.
    void give_up_bytes(int pe, const heap_message& request, const failure& why);

    using ended = std::function<void(const failure& error)>;
    /// Copies `bytes` of another PE's heap to `target`, for a command that has its turn already.
    void bring(const endpoints::heap_location& from, std::size_t bytes, std::unique_ptr<transfer::endpoint> target,
               ended then);
    /// An endpoint on this PE's own heap from `offset` on.
    [[nodiscard]] std::unique_ptr<transfer::endpoint> own_range(std::size_t offset);

    /// Calls `by` to write to a range of this heap, then `then`. Kept words of the range are first written back to the
    /// device's memory, and loaded again after.
    void overwrite(const heap_extent& where, const std::function<void(ended)>& by, ended then);
    /// Whether words of the range are kept in the word table.
    [[nodiscard]] bool keeps_words(std::size_t offset, std::size_t bytes) const {
        return keeps_words({.offset = offset, .bytes = bytes});
    }

    /// Puts the word into the word table, then calls `then`. False, without a call, if the table has no room.
    [[nodiscard]] bool keep_word(std::size_t offset, std::size_t bytes, ended then);
    /// Whether the word is in that table, or is just being read into it. A word that the driver could not read is not
    /// there.
    [[nodiscard]] bool knows_word(std::size_t offset, std::size_t bytes) const {
        return m_words_kept.knows(offset, bytes);
    }
    /// Its value in that table; null if it is not there, or just being read.
    [[nodiscard]] const std::byte* kept_word(std::size_t offset, std::size_t bytes) const {
        return m_words_kept.find(offset, bytes);
    }

    /// Calls `then` when the comparison with a word that is not kept is true. Returns a number for forget_wait().
    std::uint64_t await(const endpoints::awaited_word& word, ended then);
    void forget_wait(std::uint64_t number) { m_waits.erase(number); }

  private:
    static constexpr int control_tag = 1;
    /// The messenger takes any int as a tag, so a tag is reused only long after its request is over.
    static constexpr std::uint32_t most_tags = 1u << 29;

    struct outgoing;
    /// An atomic operation in the device's memory, or the copy of a kept word to that memory or from it.
    struct word_job {
        enum class kind {
            atomic,
            write_back,
            load,
            none
        } is = kind::atomic; ///< `none` only tells that the jobs before it are over
        endpoints::heap_atomic what;
        answered done;
        alignas(8) std::array<std::byte, 8> bytes{};
    };
    struct wait {
        endpoints::awaited_word word;
        ended then;
        bool is_being_read = false, is_stale = false;
    };

    void over(const comm::arrival& result) override;
    bool look() override;
    void give_up(const failure& why) override;
    [[nodiscard]] endpoints::heap& of() override { return *m_heap; }
    [[nodiscard]] failure trouble(time_point now) override { return m_unheard.final_one(now); }
    void listen();
    /// MPI refuses to send or receive what others wait for.
    void break_off(const failure& why);
    [[nodiscard]] bool all_have_left() const { return m_left == m_heap->pes() - 1; }
    void rest_if_silent();
    void end_listening();
    void send(int pe, const heap_message& message);
    void take(int from, const heap_message& message);
    void serve_put(int from, const heap_message& message);
    void serve_get(int from, const heap_message& message);
    void answer(int to, const heap_message& request, const failure& error, std::uint64_t before = 0);
    /// Queues an atomic behind the word jobs before it, as its result depends on them.
    void work_on_word(const endpoints::heap_atomic& what, answered done);
    void write_back(const heap_extent& where, ended then);
    void reload(const heap_extent& where, ended then);
    [[nodiscard]] bool keeps_words(const heap_extent& where) const {
        return m_memory == nullptr && m_words_kept.overlaps(where.offset, where.bytes);
    }
    /// Adds a job for each kept word of `where`, then calls `then` with the first failure.
    void add_word_jobs(word_job::kind is, const heap_extent& where, ended then);
    void add_word_job(word_job::kind is, const endpoints::heap_atomic& what, answered done);
    void begin_word();
    /// Begins the first job, and those behind it as long as they end at once.
    void go_on_with_words();
    void end_word(const failure& error, std::uint64_t before);
    void changed(std::size_t offset, std::size_t bytes);
    void look_at(std::uint64_t number);
    [[nodiscard]] std::unique_ptr<transfer::endpoint> device_part(const heap_message& message);
    /// Notes that a put or get of PE `from` is served.
    void begin_to_serve(int from, const heap_message& request);
    /// A command of the engine's own; `then` is told of its end.
    std::shared_ptr<transfer::command> submit(std::unique_ptr<transfer::endpoint> source,
                                              std::unique_ptr<transfer::endpoint> target, std::size_t bytes,
                                              ended then);
    std::shared_ptr<transfer::command> submit(std::vector<std::unique_ptr<transfer::flow>> flows, ended then);
    /// As submit(), for a request of PE `from`, which may be withdrawn.
    void serve(int from, const heap_message& request, std::unique_ptr<transfer::endpoint> source,
               std::unique_ptr<transfer::endpoint> target, ended then);

    runtime& m_process;
    std::shared_ptr<endpoints::heap> m_heap;
    int m_space;
    endpoints::buffer_location m_device;
    std::byte* m_memory;
    std::optional<endpoints::messenger::interest> m_interest;
    std::shared_ptr<heap_server> m_listening; // itself while MPI has m_incoming to write to
    refusals m_unheard;
    bool m_has_left = false, m_is_ending = false, m_is_mute = false;
    bool m_is_deaf = false; // MPI has refused to listen, and is asked again at each look
    bool m_is_refused = false; // at the last such look
    int m_left = 0; // other PEs that have said that they leave
    alignas(8) std::array<std::byte, sizeof(heap_message)> m_incoming{};
    std::atomic<std::uint32_t> m_next_tag{0};
    std::uint64_t m_next_number = 1;
    std::map<std::uint64_t, answered> m_asked;
    std::list<std::unique_ptr<outgoing>> m_outgoing;
    struct served_request {
        std::shared_ptr<transfer::command> moving; // null: not yet
        bool is_withdrawn = false;
    };
    std::map<std::pair<int, std::uint64_t>, served_request> m_serving; // puts and gets, by PE and its number
    /// Looks after the PEs for which requests are served: nothing else may wait for them.
    struct watch_of_served final : endpoints::heap_waiter {
        bool look() override;
        void give_up(const failure&) override {}
        [[nodiscard]] endpoints::heap& of() override { return *server->m_heap; }
        [[nodiscard]] failure trouble(time_point now) override;
        std::shared_ptr<heap_server> server; // which this is part of, while it looks
    };
    watch_of_served m_watch;
    std::deque<std::unique_ptr<word_job>> m_words; // the first is under way
    bool m_is_beginning_words = false, m_has_ended_word = false;
    endpoints::word_table m_words_kept; // of this heap
    std::map<std::uint64_t, wait> m_waits;
};

} // namespace causeway::core
