// SPDX-License-Identifier: Apache-2.0
// What the platform needs of MPI and of the transfer engine. They live in libcauseway, which the platform loads only
// for clusters. The two libraries know nothing of each other but the table below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace causeway {

/// A command of CL/cl_data_transfer.h on a queue of the platform. Handles of OpenCL are void pointers in this file.
struct cluster_transfer {
    struct use {
        void* buffer;
        bool writes;
    };
    void* queue = nullptr;
    unsigned type = 0;
    bool blocking = false;
    std::vector<use> uses;
    int on_rank = -1; ///< where it runs; -1: where the queue's device is
    unsigned waits = 0;
    void* const* list = nullptr;
    void** event = nullptr;
    /// Called once at most, on the rank that runs the command. `queue`, `buffers` and `list` are objects of its driver.
    /// Any thread; returns a code of OpenCL.
    std::function<int(void* queue, void* const* buffers, unsigned waits, void* const* list, void** event)> issue;
};

/// clEnqueuePeerCopyBuffer, whose queues are of the platform.
struct cluster_copy {
    void *source_queue, *source, *target_queue, *target;
    bool blocking;
    std::size_t from, to, bytes;
    unsigned type, waits;
    void* const* list;
    void** event;
};

/// Called when a message of cluster_calls is over. `arrived` is false if it was longer than its receive, which then
/// holds its beginning (with MPICH nothing). Called on any thread; must not wait.
using message_over = void (*)(void* data, bool arrived);

struct cluster_calls {
    /// Set by the platform: its version of this table, which libcauseway compares with its own. Stays the first member.
    std::size_t table_bytes = sizeof(cluster_calls);
    int rank = 0;
    int ranks = 1;

    /// Called when the process begins to end and has sent what it promised. Ends the threads that call drivers, before
    /// the drivers shut down. Returns in bounded time.
    void (*exit_begins)() = nullptr;
    /// Set by the platform before joining: sends the messages that are promised. Called before messages end, at exit or
    /// when the program ends MPI; perhaps more than once.
    void (*before_end)() = nullptr;
    /// Set by the platform before joining: whether the program waits, and how many calls it has made. Ranks that are
    /// equally far have the same number. Any thread; calls after the end of messages do not count.
    bool (*waits)() = nullptr;
    std::uint64_t (*calls_made)() = nullptr;

    /// Set by the platform before joining: a digest of the program's calls, which ranks send one another. compare()
    /// ends the job if the programs have parted. Any thread.
    static constexpr std::size_t call_digest_bytes = 256;
    void (*call_digest)(void* bytes) = nullptr;
    void (*compare)(int rank, const void* call_digest) = nullptr;

    // Of the platform, set before joining, for programs that use libcauseway themselves. They return OpenCL's codes.
    bool (*owns_queue)(void* queue) = nullptr;
    bool (*owns_event)(void* event) = nullptr;
    int (*enqueue)(const cluster_transfer& command) = nullptr;
    int (*copy)(const cluster_copy& command) = nullptr;
    /// Copies rank 0's bytes to every rank. Collective.
    void (*same)(void* bytes, std::size_t size) = nullptr;
    /// Calls `ask(driver's event, size, value, size_ret)` on the rank where the transfer behind `event` runs, and gives
    /// every rank its answer. Collective.
    int (*transfer_info)(void* event, const std::function<int(void*, std::size_t, void*, std::size_t*)>& ask,
                         std::size_t size, void* value, std::size_t* size_ret) = nullptr;

    /// Set by the platform before joining: calls `act` with the driver's event once the command of `event` is over, if
    /// a driver of this rank runs it. Other ranks do not hear of it. Any thread; `act` must not wait.
    void (*when_over_here)(void* event, std::function<void(void* driver_event)> act) = nullptr;

    /// Collective, in the same order on every rank; each returns when it is over. If a rank is gone, MPI ends the job.
    void (*all_gather)(const void* mine, std::size_t bytes, void* all) = nullptr;
    void (*broadcast)(int root, void* data, std::size_t bytes) = nullptr;
    /// Replaces each word by the bitwise OR of that word on all ranks.
    void (*combine)(std::uint64_t* words, std::size_t count) = nullptr;

    /// Messages between two ranks with one tag match in the order of calls. The bytes must stay until `over` is called.
    void (*send)(int to, int tag, const void* bytes, std::size_t size, message_over over, void* data) = nullptr;
    void (*receive)(int from, int tag, void* bytes, std::size_t size, message_over over, void* data) = nullptr;

    /// Transfers of whole buffers of a driver by the engine, as commands of its queue. They return OpenCL's codes.
    int (*send_buffer)(void* queue, void* buffer, std::size_t bytes, int to, int tag, unsigned waits, void* const* list,
                       void** event) = nullptr;
    int (*receive_buffer)(void* queue, void* buffer, std::size_t bytes, int from, int tag, unsigned waits,
                          void* const* list, void** event) = nullptr;

    /// Called when this rank makes no progress: soon tells some other ranks which calls it has made. Any thread.
    void (*report_progress)() = nullptr;

    /// Tells the user why, and ends the job on every rank.
    void (*give_up)(const char* why) = nullptr;
};

/// extern "C" causeway_cluster_join of libcauseway: starts MPI if nobody has. Collective. On failure returns false,
/// with the cause in `why`.
using cluster_join = bool (*)(cluster_calls* calls, char* why, std::size_t room);

} // namespace causeway
