// SPDX-License-Identifier: Apache-2.0
// MPI_Send and its kin with MPI_CL_MEM: host memory on this side, a device on the other.
#include "capi/cluster.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/ranks.hpp"
#include "runtime/mpi_runtime.hpp"
#include "endpoints/host/host_endpoint.hpp"

#include <CL/cl_data_transfer.h>

#include <atomic>
#include <optional>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

namespace {

int free_device_type(MPI_Comm, int, void* value, void*) {
    auto& made = *static_cast<MPI_Datatype*>(value);
    return PMPI_Type_free(&made);
}

/// The datatype, made at first use: MPI has to be there. MPI_Finalize frees it, with the attribute that it hangs on.
MPI_Datatype device_type() {
    static std::mutex mutex; // guards made
    static MPI_Datatype made = MPI_DATATYPE_NULL;
    int initialised = 0, finalised = 0;
    PMPI_Initialized(&initialised);
    PMPI_Finalized(&finalised);
    if (initialised == 0 || finalised != 0) return MPI_DATATYPE_NULL;
    const std::lock_guard lock(mutex);
    if (made == MPI_DATATYPE_NULL) {
        PMPI_Type_contiguous(1, MPI_BYTE, &made);
        PMPI_Type_commit(&made);
        int key = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_device_type, &key, nullptr);
        PMPI_Comm_set_attr(MPI_COMM_SELF, key, &made);
        PMPI_Comm_free_keyval(&key);
    }
    return made;
}

bool is_device(MPI_Datatype type) { return type != MPI_DATATYPE_NULL && type == device_type(); }

/// An error of an MPI function goes the way that the communicator's error handler says.
int raise(MPI_Comm comm, int code) {
    int finalised = 0, initialised = 0;
    PMPI_Initialized(&initialised);
    PMPI_Finalized(&finalised);
    if (initialised != 0 && finalised == 0)
        PMPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, code);
    return code;
}

int code_of(const failure& error) {
    if (!error) return MPI_SUCCESS;
    if (error.status == status::message_truncated) return MPI_ERR_TRUNCATE;
    return error.mpi_error_class != MPI_SUCCESS ? error.mpi_error_class : MPI_ERR_OTHER;
}

/// The code of a message that is over; why it failed is kept as of a refused call.
int ended(const failure& result) {
    if (result) last_message() = result.message;
    return code_of(result);
}

/// A message between host memory and another rank, under way.
struct host_transfer {
    std::shared_ptr<transfer::command> command;
    std::shared_ptr<endpoints::matched_envelope> envelope; // of a receive
};

/// Completes a generalised request (MPI 3.1, section 12.2).
class request_completer final : public transfer::completion_listener {
  public:
    void completed(const failure& result) override {
        // What MPI_Cancel has ended is no error: MPI_Test_cancelled tells of it (MPI 3.1, section 3.8.4).
        m_code = result.status == status::cancelled && m_cancel_called ? MPI_SUCCESS : code_of(result);
        MPI_Request handle = MPI_REQUEST_NULL;
        {
            const std::lock_guard lock(m_mutex);
            m_complete = true;
            handle = m_handle;
        }
        if (handle != MPI_REQUEST_NULL) PMPI_Grequest_complete(handle);
    }

    /// The request exists now; the transfer may be over already.
    void set_handle(MPI_Request handle) {
        {
            const std::lock_guard lock(m_mutex);
            m_handle = handle;
            if (!m_complete) return;
        }
        PMPI_Grequest_complete(handle);
    }

    /// The user gives the message up; call before the engine hears of it.
    void cancel_called() { m_cancel_called = true; }

    [[nodiscard]] int code() const { return m_code; }

  private:
    std::atomic<bool> m_cancel_called{false};
    std::mutex m_mutex; // guards m_complete, m_handle
    bool m_complete = false;
    MPI_Request m_handle = MPI_REQUEST_NULL;
    int m_code = MPI_SUCCESS; // set before the request is complete
};

/// What a generalised request keeps until MPI frees it.
struct request_state {
    host_transfer moved;
    std::shared_ptr<request_completer> completer;
};

void fill(MPI_Status* status, const host_transfer& moved, int code) {
    if (status == MPI_STATUS_IGNORE) return;
    const auto report = moved.command->report();
    status->MPI_SOURCE = moved.envelope ? moved.envelope->source.load() : MPI_PROC_NULL;
    status->MPI_TAG = moved.envelope ? moved.envelope->tag.load() : MPI_ANY_TAG;
    status->MPI_ERROR = code;
    PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(report.bytes_moved[0]));
    PMPI_Status_set_cancelled(status, report.error.status == status::cancelled ? 1 : 0);
}

int query_request(void* state, MPI_Status* status) {
    const auto& kept = *static_cast<request_state*>(state);
    fill(status, kept.moved, kept.completer->code());
    return kept.completer->code();
}

int free_request(void* state) {
    const std::unique_ptr<request_state> gone(static_cast<request_state*>(state));
    return MPI_SUCCESS;
}

int cancel_request(void* state, int complete) {
    const auto& kept = *static_cast<request_state*>(state);
    if (complete != 0) return MPI_SUCCESS;
    kept.completer->cancel_called();
    runtime::instance().engine().cancel(kept.moved.command, {status::cancelled, 0, 0, "MPI_Cancel was called"});
    return MPI_SUCCESS;
}

/// Starts a flow that is checked.
host_transfer start(std::unique_ptr<transfer::endpoint> source, std::unique_ptr<transfer::endpoint> target, int bytes,
                    std::shared_ptr<transfer::completion_listener> listener,
                    std::shared_ptr<endpoints::matched_envelope> envelope) {
    auto command = std::make_shared<transfer::command>(
        one_flow(std::move(source), std::move(target), static_cast<std::size_t>(bytes)), std::move(listener));
    runtime::instance().submit(command, uses_mpi::yes);
    return {std::move(command), std::move(envelope)};
}

host_transfer start_send(const void* buf, int count, int dest, int tag, MPI_Comm comm,
                         std::shared_ptr<transfer::completion_listener> listener) {
    // A source is only read, but the interface of endpoints serves both directions.
    auto* const first = const_cast<std::byte*>(static_cast<const std::byte*>(buf));
    auto target = make_destination(dest, tag, comm);
    return start(endpoints::make_host_endpoint(first), std::move(target), dest == MPI_PROC_NULL ? 0 : count,
                 std::move(listener), nullptr);
}

host_transfer start_receive(void* buf, int count, int source, int tag, MPI_Comm comm,
                            std::shared_ptr<transfer::completion_listener> listener) {
    auto envelope = std::make_shared<endpoints::matched_envelope>();
    auto from = make_origin(source, tag, comm, envelope);
    return start(std::move(from), endpoints::make_host_endpoint(static_cast<std::byte*>(buf)),
                 source == MPI_PROC_NULL ? 0 : count, std::move(listener), std::move(envelope));
}

/// The rank that a call names, and how it is checked.
struct named_rank {
    int rank;
    void (*require)(MPI_Comm, int);
};

named_rank destination(int rank) { return {rank, comm::require_destination}; }
named_rank origin(int rank) { return {rank, comm::require_source}; }

/// Runs `action`; what it refuses goes to the error handler, with the class that MPI would give.
template <class Action> int guard_mpi(MPI_Comm comm, named_rank named, int count, Action action) {
    if (count < 0) return raise(comm, MPI_ERR_COUNT);
    int code = MPI_SUCCESS;
    const int refused = guard([&] {
        code = action();
        return 0;
    });
    if (refused == 0) return code;
    if (refused == status::invalid_value) {
        // Which of the three it was, asked again in MPI's order.
        if (comm == MPI_COMM_NULL) return raise(comm, MPI_ERR_COMM);
        const bool bad_rank = guard([&] {
                                  named.require(comm, named.rank);
                                  return 0;
                              }) != 0;
        return raise(comm, bad_rank ? MPI_ERR_RANK : MPI_ERR_TAG);
    }
    warn_once("MPI_CL_MEM cannot be used: " + last_message());
    return raise(comm, MPI_ERR_OTHER);
}

int start_request(MPI_Request* request, const std::shared_ptr<request_completer>& completer, host_transfer moved) {
    auto state = std::make_unique<request_state>(request_state{std::move(moved), completer});
    MPI_Request handle = MPI_REQUEST_NULL;
    const int code = PMPI_Grequest_start(query_request, free_request, cancel_request, state.get(), &handle);
    if (code != MPI_SUCCESS) {
        // The caller gets no request, so his buffer must be his again.
        runtime::instance().engine().cancel(state->moved.command,
                                            {status::cancelled, 0, 0, "MPI_Grequest_start failed"});
        (void)state->moved.command->wait();
        return code;
    }
    (void)state.release();
    *request = handle;
    completer->set_handle(handle);
    return MPI_SUCCESS;
}

/// Closes the communicator's space first. What cannot be closed here is closed when MPI deletes its attributes.
int end_communicator(MPI_Comm* comm, int (*end)(MPI_Comm*)) {
    bool closed = false;
    (void)guard([&] {
        if (comm != nullptr && *comm != MPI_COMM_NULL) closed = mpi_runtime::before_free(*comm);
        return 0;
    });
    const int code = end(comm);
    if (code != MPI_SUCCESS && closed) mpi_runtime::instance().free_was_refused();
    return code;
}

} // namespace

MPI_Datatype causeway_mpi_cl_mem(void) { return device_type(); }

// Ordinary messages, and what ends: not PMPI, so that tools see them. In brackets, not the macro.

int causeway_mpi_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    if (!is_device(type)) return (MPI_Send)(buf, count, type, dest, tag, comm);
    return guard_mpi(comm, destination(dest), count, [&] {
        const auto moved = start_send(buf, count, dest, tag, comm, nullptr);
        const int code = ended(moved.command->wait());
        return code == MPI_SUCCESS ? code : raise(comm, code);
    });
}

int causeway_mpi_isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                       MPI_Request* request) {
    if (!is_device(type)) return (MPI_Isend)(buf, count, type, dest, tag, comm, request);
    return guard_mpi(comm, destination(dest), count, [&] {
        auto completer = std::make_shared<request_completer>();
        return start_request(request, completer, start_send(buf, count, dest, tag, comm, completer));
    });
}

int causeway_mpi_recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_device(type)) return (MPI_Recv)(buf, count, type, source, tag, comm, status);
    return guard_mpi(comm, origin(source), count, [&] {
        const auto moved = start_receive(buf, count, source, tag, comm, nullptr);
        const int code = ended(moved.command->wait());
        fill(status, moved, code);
        return code == MPI_SUCCESS ? code : raise(comm, code);
    });
}

int causeway_mpi_irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                       MPI_Request* request) {
    if (!is_device(type)) return (MPI_Irecv)(buf, count, type, source, tag, comm, request);
    return guard_mpi(comm, origin(source), count, [&] {
        auto completer = std::make_shared<request_completer>();
        return start_request(request, completer, start_receive(buf, count, source, tag, comm, completer));
    });
}

int causeway_mpi_sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                          void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                          MPI_Status* status) {
    if (!is_device(sendtype) && !is_device(recvtype))
        return (MPI_Sendrecv)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                              recvtag, comm, status);
    // One of the two may be an ordinary message.
    std::optional<host_transfer> sent, received;
    MPI_Request plain[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int code = MPI_SUCCESS;
    if (is_device(recvtype)) {
        code = guard_mpi(comm, origin(source), recvcount, [&] {
            received = start_receive(recvbuf, recvcount, source, recvtag, comm, nullptr);
            return MPI_SUCCESS;
        });
    } else {
        code = (MPI_Irecv)(recvbuf, recvcount, recvtype, source, recvtag, comm, &plain[0]);
    }
    if (code != MPI_SUCCESS) return code;
    if (is_device(sendtype)) {
        code = guard_mpi(comm, destination(dest), sendcount, [&] {
            sent = start_send(sendbuf, sendcount, dest, sendtag, comm, nullptr);
            return MPI_SUCCESS;
        });
    } else {
        code = (MPI_Isend)(sendbuf, sendcount, sendtype, dest, sendtag, comm, &plain[1]);
    }
    if (code != MPI_SUCCESS) {
        // The receive that has begun must not outlive its buffer.
        if (received)
            runtime::instance().engine().cancel(received->command,
                                                {status::cancelled, 0, 0, "the send of MPI_Sendrecv was refused"});
        if (received) (void)received->command->wait();
        if (plain[0] != MPI_REQUEST_NULL) (MPI_Cancel)(&plain[0]);
        if (plain[0] != MPI_REQUEST_NULL) (MPI_Wait)(&plain[0], MPI_STATUS_IGNORE);
        return code;
    }
    if (sent) code = code_of(sent->command->wait());
    if (plain[1] != MPI_REQUEST_NULL) code = (MPI_Wait)(&plain[1], MPI_STATUS_IGNORE);
    if (received) {
        const int second = code_of(received->command->wait());
        fill(status, *received, second);
        if (code == MPI_SUCCESS) code = second;
    } else {
        const int second = (MPI_Wait)(&plain[0], status);
        if (code == MPI_SUCCESS) code = second;
    }
    return code == MPI_SUCCESS ? code : raise(comm, code);
}

void causeway_mpi_end_transfers(void) {
    causeway::capi::end_messages();
    mpi_runtime::before_finalize();
}

int causeway_mpi_finalize(void) {
    causeway_mpi_end_transfers();
    causeway::capi::receive_last_reports();
    return (MPI_Finalize)();
}

int causeway_mpi_comm_free(MPI_Comm* comm) { return end_communicator(comm, MPI_Comm_free); }

int causeway_mpi_comm_disconnect(MPI_Comm* comm) { return end_communicator(comm, MPI_Comm_disconnect); }
