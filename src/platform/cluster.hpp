// SPDX-License-Identifier: Apache-2.0
// The ranks that run the program: this process alone, or several, which make the same calls in the same order; so each
// knows without asking which messages come next.
#pragma once

#include "base/cluster_calls.hpp"
#include "platform/boundary.hpp"
#include "platform/call_record.hpp"
#include "platform/event.hpp"
#include "platform/watchdog.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace causeway::platform {

/// What the commands of a job were, for CAUSEWAY_STATS.
struct command_counts {
    unsigned long all = 0, virtual_ones = 0, dropped = 0;
    unsigned long writes = 0, copies = 0, reads = 0, kernels = 0;
};

/// Every context has it, and asks it the same questions whether there are other ranks or not.
class cluster {
  public:
    /// Alone unless CAUSEWAY_CLUSTER or CAUSEWAY_DRY_RUN asks for others. The first call joins; collective. Ends the
    /// process if that cannot be.
    [[nodiscard]] static cluster& of_process();
    /// There is no other rank, and never was: nothing is told, compared or agreed on.
    [[nodiscard]] bool is_alone() const { return m_is_alone; }
    /// The other ranks are only thought of, and no command runs.
    [[nodiscard]] bool is_dry_run() const { return m_dry_devices != 0; }
    /// Whether to ask the question's rank. False in a dry run, which has nobody to ask, in a callback, when other ranks
    /// do not listen, and once messages end.
    [[nodiscard]] bool asks_ranks() const { return !m_ends && !is_dry_run() && !callback::is_running(); }

    [[nodiscard]] int rank() const { return m_calls.rank; }
    [[nodiscard]] int ranks() const { return m_calls.ranks; }
    /// The number of rank 0's process.
    [[nodiscard]] int first_process() const { return m_first_process; }
    [[nodiscard]] const cluster_calls& calls() const { return m_calls; }

    /// Leaves as many of this rank's devices as a dry run wants of each rank.
    void choose_devices(std::vector<_cl_device_id*>& own) const;
    /// Whether this rank builds programs after another rank of its node, because their driver keeps builds; and whether
    /// any rank does. Set once, with the devices.
    struct build_turns {
        bool is_later = false, any_is_later = false;
    };
    build_turns turns;
    /// One blob of each rank. Collective.
    [[nodiscard]] std::vector<std::string> gather(const std::string& mine) const;
    /// Whether every rank has this number. Collective.
    [[nodiscard]] bool all_have(std::uint64_t number) const;
    /// The code that the program gets on every rank: the first failure, in the order of ranks. Collective.
    [[nodiscard]] cl_int agree(cl_int code) const;
    /// Tells the user why, and ends the job on every rank.
    [[noreturn]] void give_up(const std::string& why) const;
    /// `value` of rank `root` on every rank. Collective.
    template <class Value> [[nodiscard]] Value from(int root, Value value) const {
        if (m_dry_devices != 0) return root == rank() ? value : Value{}; // all goes well there
        if (m_ends && root == rank()) return value; // nobody listens
        meeting at{purpose::value, static_cast<std::uint64_t>(root), {}};
        static_assert(sizeof value <= sizeof at.words);
        if (root == rank()) std::memcpy(at.words.data(), &value, sizeof value);
        meet(at);
        std::memcpy(static_cast<void*>(&value), at.words.data(), sizeof value);
        return value;
    }
    /// The bytes of rank 0 on every rank. Collective; nothing once messages end: what a program still does then, each
    /// rank does for itself.
    void same(std::byte* bytes, std::size_t size) const;
    /// A thread of the program begins a call, with the same arguments on every rank. False for calls whose order does
    /// not matter, in threads that have not made the last one. Threads may take over from each other. If two call at
    /// once, no order is the same on all ranks, and the job ends. In strict mode the ranks meet at each call, and at
    /// the end.
    template <class... Arguments> bool begin_call(api_call function, Arguments... arguments) {
        if (callback::is_running()) return refuse_in_callback(function);
        if (s_paused != 0) return false;
        if (!is_programs_thread() && !take_over(function)) return false;
        {
            const std::lock_guard lock(m_record_mutex);
            m_record.begin(function, arguments...);
        }
        if (!m_ends) {
            m_begun[m_record.number() % m_begun.size()].store(m_record.hash(), std::memory_order_relaxed);
            m_calls_made.store(m_record.number(), std::memory_order_release);
        }
        m_in_call = true;
        if (m_strict && !m_ends) (void)from(0, 0);
        return true;
    }
    void end_call() {
        if (m_strict && !m_ends) (void)from(0, 0);
        m_in_call = false;
    }
    /// What stands behind an argument of the call: see call_record::mix().
    template <class... Data> void mix(Data... data) {
        if (!is_in_noted_call()) return;
        const std::lock_guard lock(m_record_mutex);
        m_record.mix(data...);
    }
    /// Whether this thread is in a call of the record, whose last call is its own then.
    [[nodiscard]] bool is_in_noted_call() const { return is_programs_thread() && m_in_call; }
    /// For the program's thread.
    [[nodiscard]] const call_record& record() const { return m_record; }
    /// The number and the text of the program's last call, for the user. Any thread.
    [[nodiscard]] std::string last_call() const;
    /// Messages end, or have ended, or there were never any: a rank has itself alone.
    [[nodiscard]] bool is_over() const { return m_ends; }
    /// Calls are not noted as long as it lives: those of callbacks that come in whichever thread is last.
    class pause {
      public:
        pause() { ++s_paused; }
        pause(const pause&) = delete;
        pause& operator=(const pause&) = delete;
        ~pause() { --s_paused; }
    };

    /// A callback of an event runs in this thread as long as this lives. Ranks run callbacks at different times:
    /// questions are answered without the others, and calls that need one order on all ranks end the job.
    class callback {
      public:
        callback() { s_runs = true; }
        callback(const callback&) = delete;
        callback& operator=(const callback&) = delete;
        ~callback() { s_runs = false; }
        [[nodiscard]] static bool is_running() { return s_runs; }

      private:
        static inline thread_local bool s_runs = false;
    };

    // Each pair of ranks counts its messages; both ends count alike.
    [[nodiscard]] int next_data_tag(int from, int to);
    /// Of a message that has its place among others by the order of the calls. Else a number, not 0, that both ends
    /// know it by, whenever they call.
    static constexpr std::uint64_t in_turn = 0;
    /// Room for the bytes of a message, which the next three hold until it is over; they take no other. In front of the
    /// bytes is the record of calls of the rank they come from, as of its call of these functions. It is compared where
    /// they arrive, which ends the job if the programs have parted.
    [[nodiscard]] std::shared_ptr<std::byte[]> room_for_message(std::size_t size) const;
    void receive(int from, std::shared_ptr<std::byte[]> bytes, std::size_t size, std::function<void()> over,
                 std::uint64_t about = in_turn);

    /// A message whose turn among those to `to` is taken now: call what it returns when the bytes are there.
    [[nodiscard]] std::function<void()> promise(int to, std::shared_ptr<std::byte[]> bytes, std::size_t size,
                                                std::uint64_t about = in_turn);
    /// Sends the bytes of `root` down a tree of all ranks. There, call what it returns when the bytes are there; on
    /// the others `arrived` is called when they are.
    [[nodiscard]] std::function<void()> spread(int root, const std::shared_ptr<std::byte[]>& bytes, std::size_t size,
                                               std::function<void()> arrived, std::uint64_t about = in_turn);

    command_counts counts;

  private:
    cluster();
    void join();
    [[nodiscard]] bool is_programs_thread() const {
        return m_thread.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }
    bool refuse_in_callback(api_call function) const;
    /// The calling thread makes the next calls; the first one of all, or one whose calls come behind another's.
    bool take_over(api_call function);
    void imagine(const std::string& text);

    enum class purpose : std::uint64_t { value = 1, number, blobs, bytes };
    /// Of one size for every kind of meeting: ranks whose programs have parted are at different ones.
    struct meeting {
        purpose why;
        std::uint64_t what; ///< the same on every rank
        /// Become the bitwise or of all ranks' words.
        std::array<std::uint64_t, 2> words;
    };
    /// All ranks come here before anything that they do together. If one is at another meeting or has made other calls,
    /// the job ends with both records: it would hang or compute nonsense.
    void meet(meeting& at) const;
    [[noreturn]] void part(const meeting& at, const call_record& compared) const;
    [[noreturn]] void end_parted(const std::string& difference) const;

    /// In front of a message.
    struct alignas(16) message_head {
        call_record record;
        int rank = -1;
        bool is_noted = false; ///< else there is nothing to compare
    };
    [[nodiscard]] static message_head& head_of(const std::shared_ptr<std::byte[]>& bytes);
    [[nodiscard]] message_head own_head() const;
    void check_head(const message_head& own, const message_head& theirs) const;
    /// Stands for the head of a message that is too long: some MPIs deliver none of it.
    [[noreturn]] void end_too_long(const message_head& expected, int from) const;

    /// What a rank tells others that do not ask.
    struct account {
        call_record record;
        std::uint64_t begun = 0; ///< hash of the record when its last call began
        bool is_noted = false; ///< else there is nothing to compare
        bool is_last = false; ///< no call follows
    };
    /// Messages end: what the program does from now on, its rank does for itself.
    void end();
    [[nodiscard]] account own_account() const;
    void compare(int rank, const account& theirs) const;
    [[nodiscard]] int message_tag(int from, int to, std::uint64_t about);

    cluster_calls m_calls;
    bool m_is_alone = false;
    std::size_t m_dry_devices = 0; ///< of each rank; 0: no dry run
    int m_first_process = static_cast<int>(::getpid()); ///< rank 0's
    mutable std::mutex m_record_mutex; ///< held where the program's thread writes m_record, and where others read it
    call_record m_record;
    std::atomic<std::uint64_t> m_calls_made{0}; ///< of the record, until messages end: for other threads
    /// Hashes of the record at its last calls, so that ranks that are unequally far can compare the calls that both
    /// have made.
    std::vector<std::atomic<std::uint64_t>> m_begun; ///< none where there are no others
    account m_last; ///< at the end of messages
    bool m_strict = false; ///< CAUSEWAY_STRICT
    std::atomic<std::thread::id> m_thread; ///< the program's, that has made the last call of the record
    std::atomic<bool> m_in_call{false}; ///< of that thread
    std::atomic<api_call> m_second{api_call::none}; ///< the last call with which a thread has taken over from another
    /// Whether a thread that has not made the last call has asked what all ranks answer alike.
    mutable std::atomic<bool> m_asked_beside{false};
    static inline thread_local unsigned s_paused = 0; ///< see pause
    mutable std::atomic<bool> m_meets{false}; ///< a thread is where all ranks meet
    std::atomic<bool> m_ends{false};
    std::vector<unsigned> m_data_out, m_data_in, m_out, m_in; ///< how many messages to and from each rank
};

/// For the check of calls, in a cluster: what stands behind an argument of the program's call.
inline void note(std::uint64_t number) { cluster::of_process().mix(number); }
inline void note(const void* bytes, std::size_t size) { cluster::of_process().mix(bytes, size); }
inline void note(const object& named) { note(named.made_by); }

/// Names the i-th of the objects that one call makes, as the first one is named by the call itself. Not in other
/// threads, whose calls have no number.
inline void name_one_of(object& made, std::uint64_t i) {
    if (const auto& job = cluster::of_process(); job.is_in_noted_call())
        made.made_by = job.record().number() + (i << call_record::several_shift);
}

/// As make(), with one outcome on every rank of a cluster: drivers may refuse on one of them. Collective.
template <class Action> auto make_everywhere(cl_int* code, Action action) noexcept -> decltype(action().give()) {
    return make(code, [&] {
        decltype(action()) made;
        check(cluster::of_process().agree(guard([&] {
            made = action();
            return CL_SUCCESS;
        })));
        return made;
    });
}

/// Whether the command behind `event` runs on this rank; user events are everywhere.
[[nodiscard]] bool is_here(const _cl_event& event);

/// The completion of a command on another rank, here: its owner has been told by tell(). The context's order is held.
void tell(_cl_event& event, int rank);
void listen(_cl_event& event);
/// As both, for all ranks.
void tell_all(_cl_event& event);
/// The command of another rank is over, as that one has said in the program's thread.
void end_here(_cl_event& event, cl_int status, bool passes_users);

/// Final status of a command on every rank; waits for it. Collective unless the event is everywhere.
[[nodiscard]] cl_int wait_everywhere(_cl_event& event);

} // namespace causeway::platform
