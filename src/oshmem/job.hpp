// SPDX-License-Identifier: Apache-2.0
// The PEs of an OpenSHMEM program: shared memory of a node, messages to other nodes, and barriers.
#pragma once

#include "comm/process_group.hpp"
#include "comm/process_watch.hpp"
#include "comm/remote_memory.hpp"
#include "comm/shared_segment.hpp"
#include "endpoints/symmetric/offset_allocator.hpp"
#include "oshmem/death_alarm.hpp"
#include "oshmem/device_heap.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace causeway::oshmem {

/// PEs that meet: `start`, `start + stride`, and so on.
struct members {
    int start = 0, stride = 1, size = 1;
    [[nodiscard]] int world(int index) const { return start + index * stride; }
    /// -1 for a PE that is none of them.
    [[nodiscard]] int index_of(int pe) const {
        const int distance = pe - start;
        return stride != 0 && distance % stride == 0 && distance / stride >= 0 && distance / stride < size
                   ? distance / stride
               : stride == 0 && distance == 0 ? 0
                                              : -1;
    }
};

/// What a PE lends the others of its team in one collective call.
enum class loan { source, target };
inline constexpr std::size_t loans = 2;

/// Where the PEs of a team meet. Each PE numbers its slots itself, so that threads can make several teams, and meet in
/// them, at the same time.
struct team_slot {
    std::uint32_t number = 0;
    std::uint64_t meetings = 0;
    std::array<std::vector<std::unique_ptr<comm::shared_segment>>, loans> borrowed{}; // by PE
};

/// When a put or get returns: once the program may use its own memory again, or at once; then quiet() waits for that.
enum class returns { when_local_memory_is_free, at_once };

/// Ends the job with a message on standard error, as OpenSHMEM's calls have no other way to refuse.
[[noreturn]] void give_up(const char* call, const std::string& why);

/// Calls MPI's own MPI_Finalize, which this library's wraps; returns its code.
int end_mpi_of_program();
/// Whether a program of MPI has started the PEs (MPI_Comm_spawn), and may talk to them.
bool is_started_by_program();

class job {
  public:
    /// Starts OpenSHMEM. Collective over all processes that the launcher has started. Ends the job on failure.
    static void start();
    [[nodiscard]] static bool has_started();
    [[nodiscard]] static job& instance();
    /// Null before the start and after the end.
    [[nodiscard]] static job* running();
    /// The job; ends all PEs, naming `call`, if OpenSHMEM has not started, or has ended.
    [[nodiscard]] static job& required(const char* call);
    /// As required(), but also after the end: for what a PE knows by itself.
    [[nodiscard]] static job& known(const char* call);
    /// Ends OpenSHMEM; later calls do nothing. Runs at exit, too.
    static void finish();
    /// Called when the program initialises MPI. True if this library has done so already, for itself.
    [[nodiscard]] static bool shares_mpi();
    /// Called when the program finalises MPI. False if messages to other nodes still need it: then finish() ends it.
    [[nodiscard]] static bool mpi_may_end();
    /// Called when MPI_Finalize has returned to the program.
    static void mpi_has_ended();
    /// Ends all PEs with this exit status.
    [[noreturn]] static void exit_all(int status);

    [[nodiscard]] int pe() const { return m_pe; }
    [[nodiscard]] int pes() const { return m_pes; }

    /// Where `address`, in the heap or in a global variable, is in the memory of `pe`. Ends the job for any other
    /// address or PE.
    [[nodiscard]] void* at(const void* address, int pe, const char* call) const {
        auto* const found = find(address, pe);
        if (found == nullptr) refuse(address, pe, call);
        return found;
    }
    /// As at(), but null for any other address or PE.
    [[nodiscard]] void* find(const void* address, int pe) const {
        const auto where = reinterpret_cast<std::uintptr_t>(address);
        if (static_cast<unsigned>(pe) >= static_cast<unsigned>(m_pes)) return nullptr;
        for (const auto* const part : {&m_heap, &m_globals, &m_device_part})
            if (where - part->first < part->bytes) {
                auto* const first = part->peers[static_cast<std::size_t>(pe)];
                return first != nullptr ? first + (where - part->first) : nullptr;
            }
        return nullptr;
    }
    /// Whether PE `pe` is on another node, so that only messages reach its memory.
    [[nodiscard]] bool is_remote(int pe) const {
        return static_cast<unsigned>(pe) < static_cast<unsigned>(m_pes) &&
               m_heap.peers[static_cast<std::size_t>(pe)] == nullptr;
    }
    /// Where messages find `address` of such a PE. Ends the job for any other address or PE.
    [[nodiscard]] comm::remote_location remote(const void* address, int pe, const char* call) const;
    /// An atomic operation on a word of a PE on another node. Waits; returns the word's former value.
    std::uint64_t change_remote(const char* call, word_operation what, std::size_t word_bytes, const void* address,
                                std::uint64_t operand, std::uint64_t compared, int pe) const;
    /// The same without a result. Does not wait.
    void tell_remote(const char* call, word_operation what, std::size_t word_bytes, const void* address,
                     std::uint64_t operand, int pe) const;
    /// Returns when all puts of this PE are complete at their targets, and its gets are here.
    void quiet() const;
    /// Orders earlier puts of this PE before later ones. Messages keep their order by themselves, but not relative to
    /// puts into device memory by libcauseway: those need quiet().
    void fence() const {
        if (m_distant_bytes != 0) {
            quiet();
        } else {
            __atomic_thread_fence(__ATOMIC_RELEASE);
        }
    }
    [[nodiscard]] bool is_symmetric(const void* address) const {
        return find(address, m_pe) != nullptr || is_distant(address);
    }
    /// The PEs of this node, if their numbers have one stride; else this PE alone.
    [[nodiscard]] members neighbours() const;

    /// True if the address is in a heap in device memory, which no load or store reaches: use device().
    [[nodiscard]] bool is_distant(const void* address) const {
        return reinterpret_cast<std::uintptr_t>(address) - m_distant_first < m_distant_bytes;
    }
    [[nodiscard]] device_heap& device() const { return *m_device; }
    /// Copies from any memory of this PE to symmetric memory of PE `pe`.
    void put(const char* call, void* target, const void* source, std::size_t bytes, int pe,
             returns when = returns::when_local_memory_is_free);
    /// Copies from symmetric memory of PE `pe` to any memory of this PE.
    void get(const char* call, void* target, const void* source, std::size_t bytes, int pe,
             returns when = returns::when_local_memory_is_free);
    /// Copies to any memory of this PE from host memory of this process.
    void store(const char* call, void* target, const void* source, std::size_t bytes) {
        if (is_distant(target)) {
            m_device->put(call, target, source, bytes, m_pe);
        } else {
            std::memmove(target, source, bytes);
        }
    }

    /// Call if other threads of this PE may call, or store to symmetric memory. A PE that waits is then no sign of a
    /// deadlock.
    void allow_threads() { m_has_threads = true; }
    /// Call if something other than a PE may end a wait in MPI: another thread, a process that the program has started
    /// or met, a file. Such a wait is no sign of a deadlock. -1 takes one call back. May precede start().
    static void expect_others(int change = 1);

    /// While one lives in the thread that has started OpenSHMEM, the others see that this PE waits in `call`.
    class mpi_wait {
      public:
        explicit mpi_wait(const char* call);
        ~mpi_wait();
        mpi_wait(const mpi_wait&) = delete;
        mpi_wait& operator=(const mpi_wait&) = delete;

      private:
        const job* m_job = nullptr;
    };

    /// The heap in device memory, made by the first call. Collective. If one PE fails, every PE throws transfer_error.
    [[nodiscard]] device_heap& need_device();

    /// A barrier over `who`: what each stored before is visible to all after. One thread at a time in one slot. Ends
    /// the job, naming `call`, if it cannot end because a PE has left.
    void meet(const char* call, const members& who, team_slot& slot);
    /// A barrier over an active set, which has no slot of its own: one thread of a PE at a time.
    void meet_set(const char* call, const members& who);
    /// A barrier over all PEs.
    void meet_all(const char* call) { meet(call, world(), m_world_slot); }
    [[nodiscard]] members world() const { return {0, 1, m_pes}; }
    [[nodiscard]] team_slot& world_slot() { return m_world_slot; }
    [[nodiscard]] team_slot& set_slot() { return m_set_slot; }
    /// The number of the slot of a node's PEs.
    static constexpr std::uint32_t shared_number = 2;
    /// Makes a slot for the PEs `of`, if this PE is one of them. Collective over `parent`. False if no slot is left.
    [[nodiscard]] bool make_slot(const char* call, const members& parent, team_slot& at, const members& of,
                                 team_slot& made);
    void free_slot(team_slot& slot);

    /// Publishes a word of this PE, which the others read by note_of() between two meetings.
    void note(const team_slot& slot, std::uint64_t value);
    [[nodiscard]] std::uint64_t note_of(const char* call, const team_slot& slot, int pe) const;

    /// Lets the others read `bytes` at `source` by borrow(), between two meetings. Memory that is not symmetric, which
    /// programs may hand to collectives, is copied to shared memory.
    void lend(const char* call, team_slot& slot, loan what, const void* source, std::size_t bytes);
    /// `bytes` at `offset` of what PE `pe` has lent; valid until this thread borrows again.
    [[nodiscard]] const std::byte* borrow(team_slot& slot, loan what, const void* source, std::size_t offset,
                                          std::size_t bytes, int pe, const char* call);

    /// Calls `holds()` until it is true. Ends the job, naming `call`, if a PE dies meanwhile, or if nobody can make it
    /// true any more: PE `needed` has left, or all PEs that are still there wait, too.
    template <class Holds> void wait(const char* call, Holds holds, int needed = nobody) {
        for (unsigned look = 0; look < looks_without_pause; ++look)
            if (holds()) return;
        long_wait waiting(*this, call, needed);
        for (unsigned look = 1; !holds(); ++look)
            if (look % looks_without_pause == 0) waiting.pause();
    }

    [[nodiscard]] void* allocate(const char* call, std::size_t bytes, std::size_t alignment);
    void free(const char* call, void* address);
    /// Returns where the contents are now, perhaps still at `address`; null, and nothing changes, if there is no room.
    [[nodiscard]] void* reallocate(const char* call, void* address, std::size_t bytes);

  private:
    struct part {
        std::uintptr_t first = 0;
        std::size_t bytes = 0;
        std::vector<std::byte*> peers;
    };
    static constexpr unsigned looks_without_pause = 256;
    /// For wait(): `nobody` if it needs no PE in particular, `all_come` if all PEs come for certain.
    static constexpr int nobody = -1, all_come = -2;

    /// The slow part of a wait: yields the processor, and now and then checks on the other PEs.
    class long_wait {
      public:
        long_wait(job& all, const char* call, int needed) : m_all(all), m_call(call), m_needed(needed) {}
        ~long_wait() {
            if (m_says_so) m_all.say_waiting(0);
        }
        long_wait(const long_wait&) = delete;
        long_wait& operator=(const long_wait&) = delete;
        void pause();

      private:
        void look_for_dead() const;
        void look_for_left();
        bool all_wait();
        void look_for_standstill();

        job& m_all;
        const char* const m_call;
        const int m_needed;
        unsigned m_times = 0;
        std::chrono::steady_clock::time_point m_last_look = std::chrono::steady_clock::now();
        bool m_needed_has_left = false, m_says_so = false;
        std::uint64_t m_now = 0; // the state that this PE shows to others
        std::vector<std::uint64_t> m_said; // each PE's state when all were first seen to wait; empty before that
        std::chrono::steady_clock::time_point m_last_look_at_all = m_last_look;
        std::chrono::steady_clock::duration m_stood_still{}; // since then
    };

    job();
    void share(part& what, const comm::shared_segment& own);
    void commit_heap(const char* call, std::size_t end);
    void report() const;
    static void finish_at_exit(int status, void*);
    void end_device();
    [[noreturn]] void refuse(const void* address, int pe, const char* call) const;
    [[nodiscard]] std::byte* reached(std::uint32_t part, std::uint64_t offset, std::size_t bytes) const;
    void reach_others();
    [[nodiscard]] comm::remote_memory& messages(const char* call) const;
    void end_messages();
    /// A line of a PE's control memory; null if it is on another node.
    [[nodiscard]] void* control(int pe, std::size_t line) const;
    void read_control(const char* call, int pe, std::size_t line, void* into, std::size_t bytes) const;
    [[nodiscard]] std::uint32_t number_of(const team_slot& slot, int pe) const;
    [[nodiscard]] std::size_t first_line(std::uint32_t number) const;
    [[nodiscard]] std::size_t line_of(const team_slot& slot, int pe, std::size_t line) const;
    [[nodiscard]] std::uint32_t take_number();
    void tell_token(const char* call, int pe, std::size_t line, std::uint64_t value, std::size_t word = 0) const;
    void wait_for_token(const char* call, int from, std::size_t line, std::uint64_t value);
    enum class leaving : std::uint64_t { not_yet, for_good, with_an_error };
    void tell_leaving(leaving how) const;
    [[nodiscard]] leaving leaving_of(int pe) const;
    [[nodiscard]] bool all_end_soon() const;
    [[nodiscard]] int first_left() const;
    [[nodiscard]] bool has_left(int pe) const { return leaving_of(pe) == leaving::for_good; }
    [[nodiscard]] std::uint64_t waiting_of(const char* call, int pe) const;
    [[nodiscard]] std::string mpi_call_of(int pe) const;
    void say_waiting(std::uint64_t what) const;
    /// Whether PE `pe` of this node, whose process is gone, ended without shmem_finalize. Ends this process if that PE
    /// has ended all PEs.
    [[nodiscard]] bool has_died(int pe) const;

    std::unique_ptr<comm::process_group> m_group;
    bool m_has_started_mpi = false, m_program_ends_mpi = false, m_ends_mpi_late = false, m_has_ended = false;
    std::atomic<bool> m_is_in_finalize{false};
    int m_pe = 0, m_pes = 1;
    const std::chrono::seconds m_patience;
    std::vector<std::unique_ptr<comm::shared_segment>> m_segments;
    part m_heap, m_globals, m_control, m_device_part;
    comm::shared_segment* m_own_heap = nullptr; // stays mapped as long as the process
    std::size_t m_committed_bytes = 0; // from the heap's start: these have pages
    std::unique_ptr<device_heap> m_device;
    std::uintptr_t m_distant_first = 0;
    std::size_t m_distant_bytes = 0;
    std::vector<comm::process_watch> m_processes;
    std::unique_ptr<death_alarm> m_alarm;
    std::mutex m_mutex; // guards m_allocator
    endpoints::offset_allocator m_allocator;
    std::vector<std::uint64_t> m_sent, m_expected; // tokens of active sets, by PE
    static constexpr std::uint32_t slots = 256;
    team_slot m_set_slot{.number = 0}, m_world_slot{.number = 1}, m_end_slot{.number = 3};
    bool m_has_threads = false;
    const std::thread::id m_starter = std::this_thread::get_id();
    std::uint32_t m_long_waits = 0; // number of the last long wait that this PE has shown to others
    std::array<std::atomic<std::uint64_t>, slots / 64> m_taken_slots{};
    std::array<std::vector<std::uint32_t>, slots> m_numbers; // by slot, by PE: its number; empty if all have the same
    // By slot. Between two meetings the thread that serves messages reads them, too.
    std::array<std::array<std::unique_ptr<comm::shared_segment>, loans>, slots> m_lent;
    std::unique_ptr<comm::remote_memory> m_remote; // null where all PEs are on one node
};

} // namespace causeway::oshmem
