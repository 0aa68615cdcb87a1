// SPDX-License-Identifier: Apache-2.0
// The ranks that run the program: this process alone, or several. All make the same calls in the same order, so each
// knows which message comes next without asking.
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

/// Counts of commands, for CAUSEWAY_STATS.
struct command_counts {
    unsigned long all = 0, virtual_ones = 0, dropped = 0;
    unsigned long writes = 0, copies = 0, reads = 0, kernels = 0;
};

/// Every context refers to it, also in a process that runs alone.
class cluster {
  public:
    /// Alone unless CAUSEWAY_CLUSTER or CAUSEWAY_DRY_RUN is set. The first call joins the other ranks (collective), and
    /// ends the process if it cannot.
    [[nodiscard]] static cluster& of_process();
    /// There is no other rank and never was: nothing is sent or compared.
    [[nodiscard]] bool is_alone() const { return m_is_alone; }
    /// The other ranks are simulated, and no command runs.
    [[nodiscard]] bool is_dry_run() const { return m_dry_devices != 0; }
    /// Whether a query goes to the rank that owns the object. False in a dry run, in a callback (other ranks do not
    /// listen), and once messages have ended: this rank then answers itself.
    [[nodiscard]] bool asks_ranks() const { return !m_ends && !is_dry_run() && !callback::is_running(); }

    [[nodiscard]] int rank() const { return m_calls.rank; }
    [[nodiscard]] int ranks() const { return m_calls.ranks; }
    /// Process ID of rank 0.
    [[nodiscard]] int first_process() const { return m_first_process; }
    [[nodiscard]] const cluster_calls& calls() const { return m_calls; }

    /// In a dry run, shortens `own` to the devices that it wants of each rank; ends the process if there are fewer.
    void choose_devices(std::vector<_cl_device_id*>& own) const;
    /// Whether this rank builds programs after another rank of its node, to find its result in the driver's build
    /// cache; and whether any rank does. Set once, with the devices.
    struct build_turns {
        bool is_later = false, any_is_later = false;
    };
    build_turns turns;
    /// All ranks' `mine`, by rank. Collective.
    [[nodiscard]] std::vector<std::string> gather(const std::string& mine) const;
    /// Whether every rank has this number. Collective.
    [[nodiscard]] bool all_have(std::uint64_t number) const;
    /// The code that the program gets on every rank: the first failure, in the order of ranks. Collective.
    [[nodiscard]] cl_int agree(cl_int code) const;
    /// Tells the user why, and ends the job on every rank.
    [[noreturn]] void give_up(const std::string& why) const;
    /// `value` of rank `root` on every rank. Collective.
    template <class Value> [[nodiscard]] Value from(int root, Value value) const {
        if (m_dry_devices != 0) return root == rank() ? value : Value{}; // a default of 0 is success
        if (m_ends && root == rank()) return value; // nobody listens
        meeting at{purpose::value, static_cast<std::uint64_t>(root), {}};
        static_assert(sizeof value <= sizeof at.words);
        if (root == rank()) std::memcpy(at.words.data(), &value, sizeof value);
        meet(at);
        std::memcpy(static_cast<void*>(&value), at.words.data(), sizeof value);
        return value;
    }
    /// Copies rank 0's bytes to every rank. Collective. Does nothing once messages have ended: each rank is on its own
    /// then.
    void same(std::byte* bytes, std::size_t size) const;
    /// A thread of the program begins a call that every rank makes with the same arguments. Any thread may make the
    /// next call; if two call at once, the ranks cannot agree on an order, and the job ends. False if the call is not
    /// recorded: its order does not matter, and another thread made the last one. In strict mode ranks synchronise when
    /// calls begin and end.
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
    /// Adds what an argument points to: see call_record::mix().
    template <class... Data> void mix(Data... data) {
        if (!is_in_noted_call()) return;
        const std::lock_guard lock(m_record_mutex);
        m_record.mix(data...);
    }
    /// Whether this thread is in a recorded call, which is then the record's last.
    [[nodiscard]] bool is_in_noted_call() const { return is_programs_thread() && m_in_call; }
    /// Only for the thread that made the last call.
    [[nodiscard]] const call_record& record() const { return m_record; }
    /// For the user: number and text of the program's last call. Any thread.
    [[nodiscard]] std::string last_call() const;
    /// Messages are ending, have ended, or there were never any: this rank is on its own.
    [[nodiscard]] bool is_over() const { return m_ends; }
    /// While it lives, this thread's calls are not recorded: for callbacks, which run in different threads on different
    /// ranks.
    class pause {
      public:
        pause() { ++s_paused; }
        pause(const pause&) = delete;
        pause& operator=(const pause&) = delete;
        ~pause() { --s_paused; }
    };

    /// While it lives, this thread runs an event callback. Ranks run callbacks at different times, so this rank alone
    /// answers queries, and a call that needs one order on all ranks ends the job.
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
    /// `about` of a message that is matched by the order of calls. Any other value is a number that both ends use for
    /// one message, whenever they call.
    static constexpr std::uint64_t in_turn = 0;
    /// Allocates a message buffer, the only kind that receive(), promise() and spread() take; they share it until the
    /// message is over. A header before the bytes carries the sender's call record at that call. The receiver compares
    /// it, and ends the job if the programs have diverged.
    [[nodiscard]] std::shared_ptr<std::byte[]> room_for_message(std::size_t size) const;
    void receive(int from, std::shared_ptr<std::byte[]> bytes, std::size_t size, std::function<void()> over,
                 std::uint64_t about = in_turn);

    /// Reserves the next turn among messages to `to`. Call the result once the bytes are there; it sends them.
    [[nodiscard]] std::function<void()> promise(int to, std::shared_ptr<std::byte[]> bytes, std::size_t size,
                                                std::uint64_t about = in_turn);
    /// Broadcasts the bytes of `root` down a tree of ranks. On `root`, call the result once the bytes are there; on the
    /// others `arrived` is called when they have come.
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
    /// Makes the calling thread the one whose calls are recorded, in place of the last one. False if the call's order
    /// does not matter.
    bool take_over(api_call function);
    void imagine(const std::string& text);

    enum class purpose : std::uint64_t { value = 1, number, blobs, bytes };
    /// A synchronisation of all ranks. One size for all purposes, because ranks whose programs have diverged are at
    /// different ones.
    struct meeting {
        purpose why;
        std::uint64_t what; ///< the same on every rank
        /// Become the bitwise or of all ranks' words.
        std::array<std::uint64_t, 2> words;
    };
    /// All ranks call this before anything collective. If one is at another meeting or has made other calls, ends the
    /// job and shows both records: it would hang or compute nonsense.
    void meet(meeting& at) const;
    [[noreturn]] void part(const meeting& at, const call_record& compared) const;
    [[noreturn]] void end_parted(const std::string& difference) const;

    /// Header of a message.
    struct alignas(16) message_head {
        call_record record;
        int rank = -1;
        bool is_noted = false; ///< else there is nothing to compare
    };
    [[nodiscard]] static message_head& head_of(const std::shared_ptr<std::byte[]>& bytes);
    [[nodiscard]] message_head own_head() const;
    void check_head(const message_head& own, const message_head& theirs) const;
    /// Ends the job for a message that is longer than its receive, whose header some MPIs do not deliver.
    [[noreturn]] void end_too_long(const message_head& expected, int from) const;

    /// Digest of a rank's calls that it sends to others unasked.
    struct call_digest {
        call_record record;
        std::uint64_t begun = 0; ///< hash of the record when its last call began
        bool is_noted = false; ///< else there is nothing to compare
        bool is_last = false; ///< no call follows
    };
    /// Ends messages: from now on this rank is on its own.
    void end();
    [[nodiscard]] call_digest own_digest() const;
    void compare(int rank, const call_digest& theirs) const;
    [[nodiscard]] int message_tag(int from, int to, std::uint64_t about);

    cluster_calls m_calls;
    bool m_is_alone = false;
    std::size_t m_dry_devices = 0; ///< devices of each simulated rank; 0: no dry run
    int m_first_process = static_cast<int>(::getpid()); ///< rank 0's
    mutable std::mutex m_record_mutex; ///< guards m_record: the program's thread writes, others read
    call_record m_record;
    std::atomic<std::uint64_t> m_calls_made{0}; ///< m_record's number until messages end; other threads read it
    /// Ring of the record's hashes at its last calls, so that ranks that are not equally far can compare calls that
    /// both have made.
    std::vector<std::atomic<std::uint64_t>> m_begun; ///< none where there are no others
    call_digest m_last; ///< own_digest() when messages ended
    bool m_strict = false; ///< CAUSEWAY_STRICT
    std::atomic<std::thread::id> m_thread; ///< the thread that made the last recorded call
    std::atomic<bool> m_in_call{false}; ///< of that thread
    std::atomic<api_call> m_second{api_call::none}; ///< the last call with which a thread has taken over from another
    /// Whether a thread other than m_thread has called something collective.
    mutable std::atomic<bool> m_asked_beside{false};
    static inline thread_local unsigned s_paused = 0; ///< see pause
    mutable std::atomic<bool> m_meets{false}; ///< a thread is in meet()
    std::atomic<bool> m_ends{false};
    std::vector<unsigned> m_data_out, m_data_in, m_out, m_in; ///< messages so far, by rank
};

/// In a cluster, adds what an argument of the program's call points to to the call record.
inline void note(std::uint64_t number) { cluster::of_process().mix(number); }
inline void note(const void* bytes, std::size_t size) { cluster::of_process().mix(bytes, size); }
inline void note(const object& named) { note(named.made_by); }

/// Numbers the i-th object that one call makes; the call itself numbers the first. Does nothing in threads whose calls
/// are not recorded.
inline void name_one_of(object& made, std::uint64_t i) {
    if (const auto& job = cluster::of_process(); job.is_in_noted_call())
        made.made_by = job.record().number() + (i << call_record::several_shift);
}

/// As make(), but all ranks fail if a driver refuses on one. Collective.
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

/// tell(): sends the end of the command, which this rank runs, to `rank`. listen(): receives the end of a command that
/// another rank runs. Hold the context's `order` mutex.
void tell(_cl_event& event, int rank);
void listen(_cl_event& event);
/// tell() and listen() for all ranks.
void tell_all(_cl_event& event);
/// Ends a command of another rank with the status that its rank sent. Call on the program's thread. `passes_users`:
/// this rank may ignore pending user events, because the command or one in front of it has failed (behind.hpp).
void end_here(_cl_event& event, cl_int status, bool passes_users);

/// Waits for a command and gives all ranks its final status. Collective unless every rank ends it for itself.
[[nodiscard]] cl_int wait_everywhere(_cl_event& event);

} // namespace causeway::platform
