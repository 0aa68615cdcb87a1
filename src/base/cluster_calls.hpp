// SPDX-License-Identifier: Apache-2.0
// What the platform needs of MPI and of the transfer engine. They live in libcauseway, which the platform loads for clusters
// alone: the table below is all that the two libraries know of each other.
#pragma once

#include <cstddef>

namespace causeway {

/// A message of cluster_calls is over. Any thread; must not wait.
using message_over = void (*)(void* data, bool arrived);

/// Handles of OpenCL are void pointers here: they are drivers' objects.
struct cluster_calls {
    int rank = 0;
    int ranks = 1;

    /// Of the platform, set before joining: sends what is promised. Called before messages end, at exit or when the program
    /// ends MPI; perhaps more than once.
    void (*before_end)() = nullptr;

    /// Collective, in the same order on every rank. They return when it is over; no rank that is gone keeps them: MPI ends
    /// the job.
    void (*all_gather)(const void* mine, std::size_t bytes, void* all) = nullptr;
    void (*broadcast)(int root, void* data, std::size_t bytes) = nullptr;

    /// Messages between two ranks with one tag match in the order of the calls. The bytes stay until `over` is called.
    void (*send)(int to, int tag, const void* bytes, std::size_t size, message_over over, void* data) = nullptr;
    void (*receive)(int from, int tag, void* bytes, std::size_t size, message_over over, void* data) = nullptr;

    /// Transfers of whole buffers by the engine, as commands of a driver's queue. They return OpenCL's codes.
    int (*send_buffer)(void* queue, void* buffer, std::size_t bytes, int to, int tag, unsigned waits, void* const* list,
                       void** event) = nullptr;
    int (*receive_buffer)(void* queue, void* buffer, std::size_t bytes, int from, int tag, unsigned waits, void* const* list,
                          void** event) = nullptr;

    /// Tells the user why, and ends the job on every rank.
    void (*give_up)(const char* why) = nullptr;
};

/// extern "C" causeway_cluster_join of libcauseway: starts MPI if nobody has. Collective. False if that cannot be; `why` is
/// the text.
using cluster_join = bool (*)(cluster_calls* calls, char* why, std::size_t room);

} // namespace causeway
