// SPDX-License-Identifier: Apache-2.0
// Messages between the platforms of a cluster's ranks, over MPI. Collectives run in the caller's thread, all else in a
// thread of its own.
#pragma once

#include "base/cluster_calls.hpp"
#include "comm/request_set.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace causeway::comm {

/// Starts MPI if nobody has, and then ends it at exit. Throws transfer_error(invalid_operation) if MPI was started
/// without threads or has ended.
void start_mpi();

/// One for the process, never destroyed. Made collectively.
class cluster_link {
  public:
    /// `platform` outlives this, with its own half filled in. `is_mpi_ours`: start_mpi() started MPI, so the program
    /// itself makes no calls of it.
    cluster_link(const cluster_calls& platform, bool is_mpi_ours);

    [[nodiscard]] int rank() const { return m_rank; }
    [[nodiscard]] int ranks() const { return m_ranks; }
    /// For the transfers of the engine.
    [[nodiscard]] MPI_Comm data() const { return m_data; }

    void all_gather(const void* mine, std::size_t bytes, void* all);
    void broadcast(int root, void* data, std::size_t bytes);
    void combine(std::uint64_t* words, std::size_t count);
    void send(int to, int tag, const void* bytes, std::size_t size, message_over over, void* data);
    void receive(int from, int tag, void* bytes, std::size_t size, message_over over, void* data);
    [[noreturn]] void give_up(const char* why);
    /// Calls `ending` in the thread that ends MPI, while MPI still works.
    void at_finalize(void (*ending)());
    /// Asks the thread to tell some other ranks how far the program has come. Any thread.
    void report_progress() { m_report_due = true; }
    /// Waits until all messages are over and ends the thread; ends the job if that takes too long. After that a call
    /// that needs other ranks ends the process.
    void stop();
    /// Call once after stop(), when MPI is about to end on all ranks but still works. Waits for the last reports of
    /// other ranks.
    void receive_last_reports();
    /// Call instead of receive_last_reports() where MPI ends and this rank may wait for no other.
    void cancel_reports();

  private:
    struct message {
        enum class way { out, in } direction;
        int peer, tag;
        void* bytes;
        std::size_t size;
        message_over over;
        void* data;
    };
    /// A message under way, piece by piece.
    struct moving final : operation {
        moving(cluster_link& of, const message& which) : link(of), rest(which) {}
        void over(const arrival& result) override;

        cluster_link& link;
        message rest;
        std::list<moving>::iterator self;
    };

    void require_open();
    /// Ends the job from the program's thread, at the end of the program.
    [[noreturn]] void give_up_at_end(const char* why);
    void add(const message& added);
    void run();
    void start(moving& next);
    void wait(MPI_Request request);
    [[noreturn]] void give_up_for(const failure& error);
    void check(int code);
    /// Ends the job if the program waits for a rank that has left its program. `is_quiet`: no message has come for
    /// long.
    void look_for_leavers(bool is_quiet);
    void receive_reports();
    [[nodiscard]] std::set<int> listeners() const;
    /// Tells the ranks that listen how far the program has come.
    void send_report(bool leaves);

    const cluster_calls& m_platform;
    MPI_Comm m_collective = MPI_COMM_NULL;
    MPI_Comm m_messages = MPI_COMM_NULL;
    MPI_Comm m_data = MPI_COMM_NULL;
    std::atomic<std::uint64_t> m_met{0}; ///< collectives of this rank's program

    int m_rank = 0;
    int m_ranks = 1;

    std::mutex m_mutex; // guards m_added, m_stopping, m_stopped
    std::condition_variable m_bell;
    std::vector<message> m_added;
    bool m_stopping = false;
    std::atomic<std::thread::id> m_own_thread;
    bool m_stopped = false;

    /// How far a program has come.
    struct progress {
        std::uint64_t calls = 0, met = 0;
        bool operator==(const progress&) const = default;
    };

    /// What a rank tells others when it makes no progress, and when it leaves.
    struct progress_report {
        progress at;
        bool leaves = false;
        alignas(16) std::array<std::byte, cluster_calls::call_digest_bytes> digest{};
    };
    std::atomic<bool> m_report_due{false};

    // Used by the link's thread; after that thread's end, by receive_last_reports() and cancel_reports().
    struct report_receive final : operation {
        explicit report_receive(cluster_link& of) : link(of) {}
        void over(const arrival& result) override;
        cluster_link& link;
    };
    report_receive m_report_receive{*this};
    request_set m_report_requests; ///< the receive of the next report
    progress_report m_received;
    std::list<progress_report> m_sent; // live as long as the process
    progress m_seen; ///< of this rank, at the last look
    struct leaver {
        int rank;
        progress at;
    };
    std::vector<leaver> m_left;
    request_set m_requests;
    std::list<moving> m_moving;
};

} // namespace causeway::comm
