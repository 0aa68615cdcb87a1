// SPDX-License-Identifier: Apache-2.0
// What libcauseway does for the platform of a cluster: messages, and the engine's transfers between ranks.
#include "base/cluster_calls.hpp"
#include "base/error.hpp"
#include "capi/cluster.hpp"
#include "runtime/guard.hpp"
#include "runtime/mpi_runtime.hpp"
#include "comm/cluster_link.hpp"

#include <CL/cl_data_transfer.h>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace causeway::capi {

using namespace core;

namespace {

comm::cluster_link* link = nullptr; // made once, never destroyed
bool started_mpi = false;
bool ended = false;
bool has_last_reports = false;
pid_t process = 0;
const cluster_calls* platform = nullptr; // its half of the table; the platform keeps it for ever

} // namespace

void end_messages() {
    if (link == nullptr || std::exchange(ended, true)) return;
    platform->before_end();
    link->stop();
}

void receive_last_reports() {
    if (link != nullptr && !std::exchange(has_last_reports, true)) link->receive_last_reports();
}

namespace {

/// In MPI_Finalize. Where messages have ended before, MPI may be one whose end is too late for others.
void end_in_finalize() {
    if (ended && !has_last_reports) link->cancel_reports();
    if (ended) return;
    end_messages();
    receive_last_reports();
}

void end_at_exit() {
    if (::getpid() != process) return; // a child of fork()
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    end_messages();
    if (started_mpi) causeway_mpi_finalize(); // hears the last messages
}

int send_buffer(void* queue, void* buffer, std::size_t bytes, int to, int tag, unsigned waits, void* const* list,
                void** event) {
    return clEnqueueSendBuffer(static_cast<cl_command_queue>(queue), static_cast<cl_mem>(buffer), CL_FALSE, 0, bytes,
                               to, tag, link->data(), waits, reinterpret_cast<const cl_event*>(list),
                               reinterpret_cast<cl_event*>(event));
}

int receive_buffer(void* queue, void* buffer, std::size_t bytes, int from, int tag, unsigned waits, void* const* list,
                   void** event) {
    return clEnqueueRecvBuffer(static_cast<cl_command_queue>(queue), static_cast<cl_mem>(buffer), CL_FALSE, 0, bytes,
                               from, tag, link->data(), waits, reinterpret_cast<const cl_event*>(list),
                               reinterpret_cast<cl_event*>(event));
}

} // namespace

const cluster_calls* cluster_of(cl_command_queue queue) {
    return link != nullptr && platform->owns_queue(queue) ? platform : nullptr;
}

const cluster_calls* cluster_of(cl_event event) {
    return link != nullptr && platform->owns_event(event) ? platform : nullptr;
}

std::int64_t first_ranks(std::int64_t own) {
    platform->same(&own, sizeof own);
    return own;
}

cl_int enqueue_in_cluster(const cluster_calls& platform, cl_command_type type, cl_command_queue queue,
                          const std::vector<buffer_use>& uses, cl_bool blocking, const event_arguments& events,
                          driver_command issue, int on_rank) {
    cluster_transfer made;
    made.queue = queue;
    made.type = type;
    made.blocking = blocking != CL_FALSE;
    for (const auto& use : uses) made.uses.push_back({use.buffer, use.how == host_access::write});
    made.on_rank = on_rank;
    made.waits = events.count;
    made.list = reinterpret_cast<void* const*>(events.list);
    made.event = reinterpret_cast<void**>(events.event);
    made.issue = [issue = std::move(issue)](void* raw_queue, void* const* buffers, unsigned waits, void* const* list,
                                            void** event) {
        return issue(static_cast<cl_command_queue>(raw_queue), reinterpret_cast<cl_mem const*>(buffers),
                     {waits, reinterpret_cast<const cl_event*>(list), reinterpret_cast<cl_event*>(event)});
    };
    const auto code = platform.enqueue(made);
    if (code != CL_SUCCESS) last_message() = "the platform of the cluster refused the command";
    return code;
}

} // namespace causeway::capi

extern "C" __attribute__((visibility("default"))) bool causeway_cluster_join(causeway::cluster_calls* calls, char* why,
                                                                             std::size_t room) {
    using namespace causeway;
    using capi::link;
    try {
        if (calls->table_bytes != sizeof *calls)
            throw transfer_error(status::invalid_operation,
                                 "libcauseway and libcauseway_icd are of different versions");
        int initialized = 0;
        MPI_Initialized(&initialized);
        capi::started_mpi = initialized == 0;
        comm::start_mpi();
        capi::platform = calls;
        link = new comm::cluster_link(*calls, capi::started_mpi);
        // Exit handlers and MPI's attributes go last in, first out: the engine's come first.
        (void)core::mpi_runtime::instance().space_of(link->data());
        link->at_finalize(capi::end_in_finalize);
        capi::process = ::getpid();
        std::atexit(capi::end_at_exit);
    } catch (...) {
        std::snprintf(why, room, "%s", current_failure().message.c_str());
        return false;
    }
    calls->rank = link->rank();
    calls->ranks = link->ranks();
    calls->all_gather = [](const void* mine, std::size_t bytes, void* all) { link->all_gather(mine, bytes, all); };
    calls->broadcast = [](int root, void* data, std::size_t bytes) { link->broadcast(root, data, bytes); };
    calls->combine = [](std::uint64_t* words, std::size_t count) { link->combine(words, count); };
    calls->send = [](int to, int tag, const void* bytes, std::size_t size, message_over over, void* data) {
        link->send(to, tag, bytes, size, over, data);
    };
    calls->receive = [](int from, int tag, void* bytes, std::size_t size, message_over over, void* data) {
        link->receive(from, tag, bytes, size, over, data);
    };
    calls->report_progress = [] { link->report_progress(); };
    calls->exit_begins = [] { core::runtime::instance().exit_begins(); };
    calls->send_buffer = capi::send_buffer;
    calls->receive_buffer = capi::receive_buffer;
    calls->give_up = [](const char* text) { link->give_up(text); };
    return true;
}
