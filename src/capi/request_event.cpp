// SPDX-License-Identifier: Apache-2.0
// Events that complete with requests of MPI.
#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/mpi_runtime.hpp"
#include "cl/calls.hpp"
#include "endpoints/host/host_endpoint.hpp"

#include <CL/cl_data_transfer.h>

#include <set>

using namespace causeway;
using namespace causeway::core;

namespace {

/// Handles of persistent requests from the calls that make or start them to MPI_Request_free.
class persistent_requests {
  public:
    static persistent_requests& instance() {
        static persistent_requests all;
        return all;
    }
    void add(MPI_Request request) {
        const std::lock_guard lock(m_mutex);
        m_known.insert(request);
    }
    void remove(MPI_Request request) {
        const std::lock_guard lock(m_mutex);
        m_known.erase(request);
    }
    [[nodiscard]] bool contains(MPI_Request request) {
        const std::lock_guard lock(m_mutex);
        return m_known.count(request) != 0;
    }

  private:
    std::mutex m_mutex; // guards m_known
    std::set<MPI_Request> m_known;
};

/// Notes what a call has made or started that gave `code`.
int remember(int code, const MPI_Request* request) {
    if (code == MPI_SUCCESS && *request != MPI_REQUEST_NULL) persistent_requests::instance().add(*request);
    return code;
}

class status_setter final : public transfer::completion_listener {
  public:
    explicit status_setter(cl::event event) : m_event(std::move(event)) {}
    void completed(const failure& result) override {
        const auto told = result ? result.status : CL_COMPLETE;
        (void)clSetUserEventStatus(m_event.get(), told);
        m_callbacks.over(told);
        m_event = {};
    }

    end_callbacks m_callbacks;

  private:
    cl::event m_event;
};

cl_event create(cl_context context, MPI_Request* request) {
    cl_uint references = 0;
    if (context == nullptr ||
        clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, nullptr) != CL_SUCCESS)
        throw transfer_error(status::invalid_context, "the context is not valid");
    if (request == nullptr) throw transfer_error(status::invalid_value, "the request is null");
    comm::require_mpi();
    auto& process = runtime::instance();
    auto& mpi = mpi_runtime::instance();
    mpi.use_mpi();

    cl_int code = CL_SUCCESS;
    auto event = cl::event::adopt(clCreateUserEvent(context, &code));
    cl::check(code, "creating a user event");
    auto watching = endpoints::make_operation_endpoint(
        mpi.ranks().messages,
        [&port = mpi.port(), watched = *request](comm::operation& done) { port.watch(watched, done); });
    const auto setter = std::make_shared<status_setter>(event);
    auto command = std::make_shared<transfer::command>(
        one_flow(std::move(watching), endpoints::make_empty_endpoint("event"), 0), setter);
    const std::lock_guard lock(process.enqueue_mutex());
    process.require_running();
    process.events().add(event, {command, CL_COMMAND_USER, nullptr, context, nullptr, {setter, &setter->m_callbacks}});
    if (*request != MPI_REQUEST_NULL && !persistent_requests::instance().contains(*request))
        *request = MPI_REQUEST_NULL;
    process.needs_mpi(command);
    process.engine().submit(command);
    return event.release();
}

} // namespace

// In brackets, not the macro; not PMPI, so that tools see the call.

int causeway_mpi_send_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request* request) {
    return remember((MPI_Send_init)(buf, count, type, dest, tag, comm, request), request);
}

int causeway_mpi_bsend_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                            MPI_Request* request) {
    return remember((MPI_Bsend_init)(buf, count, type, dest, tag, comm, request), request);
}

int causeway_mpi_ssend_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                            MPI_Request* request) {
    return remember((MPI_Ssend_init)(buf, count, type, dest, tag, comm, request), request);
}

int causeway_mpi_rsend_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                            MPI_Request* request) {
    return remember((MPI_Rsend_init)(buf, count, type, dest, tag, comm, request), request);
}

int causeway_mpi_recv_init(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                           MPI_Request* request) {
    return remember((MPI_Recv_init)(buf, count, type, source, tag, comm, request), request);
}

int causeway_mpi_start(MPI_Request* request) { return remember((MPI_Start)(request), request); }

int causeway_mpi_startall(int count, MPI_Request* requests) {
    const int code = (MPI_Startall)(count, requests);
    for (int i = 0; i < count; ++i) (void)remember(code, &requests[i]);
    return code;
}

int causeway_mpi_request_free(MPI_Request* request) {
    if (request != nullptr) persistent_requests::instance().remove(*request);
    return (MPI_Request_free)(request);
}

cl_event clCreateEventFromMPIRequest(cl_context context, MPI_Request* request, cl_int* errcode_ret) {
    cl_event made = nullptr;
    const int code = guard([&] {
        made = create(context, request);
        return CL_SUCCESS;
    });
    if (errcode_ret != nullptr) *errcode_ret = code;
    return made;
}
