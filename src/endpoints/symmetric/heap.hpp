// SPDX-License-Identifier: Apache-2.0
// A symmetric heap as one processing element (PE) sees it: the memory of all PEs, and the waits in its own.
#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "comm/distant_watch.hpp"
#include "comm/port.hpp"
#include "comm/process_watch.hpp"
#include "comm/shared_segment.hpp"
#include "endpoints/symmetric/operation_order.hpp"
#include "endpoints/symmetric/word_table.hpp"
#include "transfer/progress_source.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace causeway::endpoints {

/// What a PE keeps beside its heap, in the same shared memory: a head, two arrivals for each PE, and a table of words.
/// Zero at the start.
struct heap_control {
    enum : std::uint32_t { runs = 0, has_left = 1, has_given_up = 2 };
    using refusal_text = std::array<char, 100>; ///< text of a refusal, null-terminated
    struct alignas(64) head {
        std::uint32_t state;
    };
    /// One PE's arrival at a meeting, written by that PE. Two, used in turn, suffice: no PE is two meetings ahead.
    struct alignas(64) arrival {
        std::uint64_t number; ///< of the meeting, from 1; written last
        std::uint64_t purpose, value, target, source;
        std::uint32_t times; ///< meetings of the whole command
        std::uint32_t has_failed;
        refusal_text reason; ///< if has_failed: why the PE refuses to take part; empty if it failed otherwise
    };

    [[nodiscard]] static constexpr std::size_t words_offset(int pes) {
        return sizeof(head) + 2 * static_cast<std::size_t>(pes) * sizeof(arrival);
    }
    [[nodiscard]] static constexpr std::size_t bytes(int pes) {
        constexpr std::size_t page = 4096;
        return (words_offset(pes) + word_table::bytes() + page - 1) / page * page;
    }
};

/// What a PE asks of its node for a heap in the host's memory, and what it found available before any took some.
struct heap_request {
    std::uint64_t node = 0, bytes = 0, available = 0;
};
/// Why `node` cannot give its PEs what they ask for; empty if it can. Without this check, a node that runs out of
/// memory would end a process without a message.
[[nodiscard]] failure shortage(const std::vector<heap_request>& all, std::uint64_t node);

/// One PE's part of a heap, as far as it is mapped here.
struct heap_member {
    std::unique_ptr<comm::shared_segment> segment; ///< what the two below point into; null if others keep it
    std::byte* control = nullptr; ///< null on another node
    std::byte* memory = nullptr; ///< the heap itself; null if this PE does not reach it
    comm::process_watch process;
    int number = 0;        ///< its process ID, for error texts
    bool has_left = false; ///< as told by message; PEs of this node tell by heap_control
    bool has_given_up = false; ///< the same
    failure death;         ///< set once its death was seen
    std::optional<comm::loss> lost; ///< set once that was seen, whether it had left or not
};

class heap_waits;

/// A symmetric heap in one engine. Engine's thread only, except for constants and where a function says otherwise.
class heap {
  public:
    /// `distant` watches the members of other nodes, if there are any.
    heap(heap_waits& waits, int pe, std::size_t bytes, std::vector<heap_member> members,
         std::unique_ptr<comm::distant_watch> distant = nullptr);

    [[nodiscard]] int pe() const { return m_pe; }
    [[nodiscard]] int pes() const { return static_cast<int>(m_members.size()); }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    /// The byte at `offset` of the heap of `pe`, which must be mapped here.
    [[nodiscard]] std::byte* at(int pe, std::size_t offset) const {
        return m_members[static_cast<std::size_t>(pe)].memory + offset;
    }

    /// As at(); null if that heap is not mapped here.
    [[nodiscard]] std::byte* reachable(int pe, std::size_t offset) const {
        auto* const first = m_members[static_cast<std::size_t>(pe)].memory;
        return first != nullptr ? first + offset : nullptr;
    }

    /// The word table of `pe`, which must be near (is_near()).
    [[nodiscard]] word_table words(int pe) const {
        return word_table(m_members[static_cast<std::size_t>(pe)].control + heap_control::words_offset(pes()));
    }

    [[nodiscard]] heap_waits& waits() { return m_waits; }
    [[nodiscard]] operation_order& order() { return m_order; }

    /// Whether the death of any PE has been seen. Any thread.
    [[nodiscard]] bool has_seen_death() const { return m_has_seen_death.load(std::memory_order_relaxed); }
    /// Asks the kernel now and then whether the other PEs' processes still run.
    void look_at_processes(time_point now);
    /// Why a wait for others may never end: one is dead, or all others or this PE have left. Empty if none of these.
    [[nodiscard]] failure trouble(time_point now);
    /// Why `pe` cannot be used any more: it is dead or has left. Empty if it can. Asks the kernel only now and then.
    [[nodiscard]] failure absence_of(int pe, time_point now);
    /// Why this PE takes no part any more: it has broken off, or has left. Empty if it does.
    [[nodiscard]] failure own_absence() const;
    /// Names the other PE whose process has ended, whether it had left or not; empty if none has.
    [[nodiscard]] failure end_of_any(time_point now);
    /// Whether `pe` has left, as far as this PE knows. Any thread if `pe` is near.
    [[nodiscard]] bool has_left(int pe) const { return has_left(m_members[static_cast<std::size_t>(pe)]); }
    /// Why a meeting may never come about: a PE that has not come is dead or has left. Empty if none is.
    [[nodiscard]] failure trouble_at_meeting(std::uint64_t number, time_point now);
    /// Tells the others that this PE leaves the heap. `gives_up`: because its program has failed, which ends all waits
    /// of the others. Any thread.
    void leave(bool gives_up = false);
    /// This PE cannot serve the others any more: gives up, and fails its own waits with `why`.
    void break_off(const failure& why);
    /// A PE has told by a message that it leaves.
    void note_left(int pe, bool gave_up) {
        auto& member = m_members[static_cast<std::size_t>(pe)];
        member.has_left = true;
        member.has_given_up = gave_up;
        if (gave_up) m_next_look = {};
    }
    /// Whether the control memory of `pe` is mapped here, so that it needs no messages about meetings.
    [[nodiscard]] bool is_near(int pe) const { return m_members[static_cast<std::size_t>(pe)].control != nullptr; }

    /// The number of the next meeting; collectives take theirs in the order in which they begin.
    [[nodiscard]] std::uint64_t next_meeting() { return ++m_meetings; }
    /// Tells all PEs that this one has come to a meeting.
    void arrive(const heap_control::arrival& own);
    /// Whether all have come. Their arrivals stay as they are until this PE comes to the next meeting.
    [[nodiscard]] bool all_have_arrived(std::uint64_t number) const;
    [[nodiscard]] const heap_control::arrival& arrival_of(int pe, std::uint64_t number) const;
    /// Why there are no more meetings; empty if there are. No meeting may follow one that this PE gave up: it could get
    /// two meetings ahead of a PE that still reads the arrivals of an earlier one.
    [[nodiscard]] const failure& end_of_meetings() const { return m_end_of_meetings; }
    void end_meetings(const failure& why) {
        if (!m_end_of_meetings) m_end_of_meetings = why;
    }
    /// Sets how to tell an arrival to PEs whose control memory is not mapped here.
    void tell_others_by(std::function<void(int pe, const heap_control::arrival&)> how) { m_tell = std::move(how); }
    /// A PE has told its arrival by a message.
    void note_arrival(int pe, const heap_control::arrival& what);
    /// Sets what is called, on the engine's thread, when another PE is lost.
    void tell_losses_by(std::function<void(int pe, const failure& why, comm::loss how)> told) {
        m_tell_loss = std::move(told);
    }
    /// Sets what mpi_ends() calls, once, on the engine's thread.
    void at_end_of_mpi(std::function<void()> ending) { m_ending = std::move(ending); }
    void mpi_ends() {
        if (const auto ending = std::exchange(m_ending, nullptr)) ending();
    }
    /// MPI is about to end, and no more calls are taken. Any thread.
    void take_no_more() { m_takes_calls.store(false, std::memory_order_relaxed); }
    [[nodiscard]] bool takes_calls() const { return m_takes_calls.load(std::memory_order_relaxed); }

  private:
    [[nodiscard]] bool has_left(const heap_member& which) const;
    [[nodiscard]] bool has_given_up(const heap_member& which) const;
    [[nodiscard]] heap_control::arrival& slot(int at, int of, std::uint64_t number) const;
    /// How it has been lost, if it has.
    [[nodiscard]] std::optional<comm::loss> loss_of(int pe);
    /// Whether it is lost without having left; it may have left just before.
    [[nodiscard]] bool is_gone(int pe) {
        const auto& member = m_members[static_cast<std::size_t>(pe)];
        return member.lost && !has_left(member) && (is_near(pe) || m_distant->is_gone(pe));
    }
    void note_death(int pe);
    /// False if this PE had left before: the others have been told.
    bool become(std::uint32_t state);

    heap_waits& m_waits;
    int m_pe;
    std::size_t m_bytes;
    std::vector<heap_member> m_members;
    std::unique_ptr<comm::distant_watch> m_distant;
    std::function<void(int, const heap_control::arrival&)> m_tell;
    std::function<void(int, const failure&, comm::loss)> m_tell_loss;
    std::function<void()> m_ending;
    operation_order m_order;
    std::uint64_t m_meetings = 0;
    time_point m_next_look;
    failure m_dead; // the first death seen, or why this PE has broken off
    failure m_broken_off;
    failure m_end_of_meetings;
    std::atomic<bool> m_has_seen_death = false, m_takes_calls = true;
};

/// Waits for other PEs. Engine's thread only.
class heap_waiter {
  public:
    /// Looks whether its wait is over. If so, returns true: heap_waits then forgets it, and it may be destroyed.
    virtual bool look() = 0;
    /// Ends the wait, because what it waits for may never come. heap_waits then forgets the waiter, as after look().
    virtual void give_up(const failure& why) = 0;
    [[nodiscard]] virtual heap& of() = 0;
    /// Why the wait may never end; empty if no reason is known. Asked for every few milliseconds.
    [[nodiscard]] virtual failure trouble(time_point now) { return of().trouble(now); }

  protected:
    ~heap_waiter() = default;
};

/// All waits of an engine in heaps. It polls: nobody tells it that a word has changed.
class heap_waits final : public transfer::progress_source {
  public:
    void add(heap_waiter& which) { m_all.push_back(&which); }
    void remove(const heap_waiter& which);

    bool poll(time_point now) override;
    [[nodiscard]] bool busy() const override { return !m_all.empty(); }
    /// The current time, also between polls.
    [[nodiscard]] static time_point now() { return std::chrono::steady_clock::now(); }

  private:
    std::vector<heap_waiter*> m_all; // null: removed while they are looked at
    time_point m_next_trouble; // when waiters are asked for trouble() again
};

} // namespace causeway::endpoints
