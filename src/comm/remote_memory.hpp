// SPDX-License-Identifier: Apache-2.0
// Memory of processes on other nodes. It is written, read and changed by messages, which a thread there serves.
#pragma once

#include "comm/distant_watch.hpp"
#include "comm/process_group.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace causeway::comm {

/// What is done to a word of 4 or 8 bytes.
enum class word_operation : unsigned { fetch, set, add, increment, compare_swap, swap, bit_and, bit_or, bit_xor };

/// A part of the target's memory, by a number that means the same in all processes, and an offset in it.
struct remote_location {
    int rank = 0;
    std::uint32_t part = 0;
    std::uint64_t offset = 0;
};

/// All processes of a group make one, collectively. MPI must allow MPI_THREAD_MULTIPLE. Any thread may call. One
/// thread's requests to one rank are carried out there in order. The target's program need not call anything.
class remote_memory {
  public:
    /// Finds memory of this process that others may use; null if it does not have so many bytes there. Called by the
    /// serving thread.
    using reach = std::function<std::byte*(std::uint32_t part, std::uint64_t offset, std::size_t bytes)>;
    /// Called by any thread when a process of another node has died, messages fail, or a request names memory that does
    /// not exist. Does not return.
    using trouble = std::function<void(const std::string& why)>;

    /// `far`: by rank, which ones are on other nodes.
    remote_memory(const process_group& all, const std::vector<bool>& far, reach own, trouble fails);
    /// Destroy only once this process makes no more calls, and no other process sends requests to it.
    ~remote_memory();
    remote_memory(const remote_memory&) = delete;
    remote_memory& operator=(const remote_memory&) = delete;

    // Failures are transfer_errors.
    /// `from` may change once it returns; the bytes are there after quiet().
    void write(const remote_location& where, const void* from, std::size_t bytes);
    void read(const remote_location& where, void* to, std::size_t bytes);
    /// `from` must not change, and `to` has the bytes, only once quiet() has returned.
    void start_write(const remote_location& where, const void* from, std::size_t bytes);
    void start_read(const remote_location& where, void* to, std::size_t bytes);
    /// Waits; returns the word's former value.
    std::uint64_t change(const remote_location& where, word_operation what, std::size_t word_bytes,
                         std::uint64_t operand, std::uint64_t compared);
    /// As change(), but neither waits nor returns the former value.
    void tell(const remote_location& where, word_operation what, std::size_t word_bytes, std::uint64_t operand);
    /// Returns when all earlier writes, reads and tell() of this process have taken effect.
    void quiet();
    /// This process may end before the others do.
    void leave() { m_watch.leave(); }

  private:
    struct request;
    struct transfer;
    /// What this process has sent to a rank, and how much of it is known to have arrived.
    struct progress {
        std::atomic<std::uint64_t> messages{0}, bytes{0}, messages_there{0}, bytes_there{0};
    };

    void serve();
    void answer(int source, const request& what, const std::byte* with);
    void send(int rank, request& what, const void* with, std::size_t bytes);
    void post_write(transfer& one, const remote_location& where, const void* from, std::size_t bytes);
    void post_read(transfer& one, const remote_location& where, void* to, std::size_t bytes);
    void complete(transfer& one);
    void keep(std::unique_ptr<transfer> one);
    void count(int rank, std::size_t bytes);
    void quiet(int rank);
    /// `bytes`: the message's size; a large one's wait goes on yielding where others sleep.
    void complete(MPI_Request& what, std::size_t bytes = 0);
    void look_for_dead();
    [[nodiscard]] int new_tag();

    std::unique_ptr<process_group> m_requests, m_payloads, m_answers;
    reach m_reach;
    trouble m_fails;
    std::vector<progress> m_sent; // by rank
    distant_watch m_watch;
    std::mutex m_guard; // guards m_started, and is held until its transfers are over: if empty, none is open
    std::vector<std::unique_ptr<transfer>> m_started;
    std::atomic_flag m_is_looking = ATOMIC_FLAG_INIT;
    std::atomic<unsigned> m_tags{0};
    std::atomic<bool> m_ends{false};
    std::thread m_server;
};

} // namespace causeway::comm
