// SPDX-License-Identifier: Apache-2.0
// The messages of a cluster's platforms among each other, over MPI: collectives in the caller's thread, all else in
// one of its own.
#pragma once

#include "base/cluster_calls.hpp"

#include <thread>
#include <atomic>
#include <mpi.h>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace causeway::comm {

/// Starts MPI if nobody has; then this ends it at exit. Throws transfer_error(invalid_operation) where it has been
/// started without threads, or is over.
void start_mpi();

/// One for the process, never destroyed. Made collectively.
class cluster_link {
  public:
    cluster_link();

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
    /// Calls `ending` in the thread that ends MPI, while it still works.
    void at_finalize(void (*ending)());
    /// Waits until all messages are over and ends the thread; ends the job if that takes too long. Nothing can be sent
    /// or received from then on: what needs the other ranks ends the process.
    void stop();

  private:
    struct message {
        enum class way { out, in } direction;
        int peer, tag;
        void* bytes;
        std::size_t size;
        message_over over;
        void* data;
    };

    void require_open();
    /// In the program's thread, which has come to its end.
    [[noreturn]] void give_up_at_end(const char* why);
    void add(const message& added);
    void run();
    void start(const message& next);
    bool poll();
    void wait(MPI_Request request);
    /// Whether the rank before this one has left its program; it says so to the next one alone. Any thread.
    bool previous_has_left();
    void leave();
    [[nodiscard]] bool waits_for_previous() const;

    MPI_Comm m_collective = MPI_COMM_NULL;
    MPI_Comm m_messages = MPI_COMM_NULL;
    MPI_Comm m_data = MPI_COMM_NULL;
    unsigned long m_met = 0; ///< collectives of this rank's program

    std::mutex m_farewell_mutex; // guards what follows
    MPI_Request m_farewell = MPI_REQUEST_NULL;
    unsigned long m_previous_met = 0; ///< when the previous rank left

    int m_rank = 0;
    int m_ranks = 1;

    std::mutex m_mutex; // guards m_added, m_stopping, m_stopped
    std::condition_variable m_bell;
    std::vector<message> m_added;
    bool m_stopping = false;
    std::atomic<std::thread::id> m_own_thread;
    bool m_stopped = false;

    // The thread's own.
    std::vector<MPI_Request> m_requests;
    std::vector<message> m_active;
    std::vector<int> m_indices;
};

} // namespace causeway::comm
