// SPDX-License-Identifier: Apache-2.0
// What is known of a transfer, and cancelling it.
#include "capi/cluster.hpp"
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"
#include "endpoints/mpi/rank_endpoint.hpp"

#include <CL/cl_data_transfer.h>

#include <cstring>
#include <string_view>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

namespace {

transfer_record find_transfer(cl_event event) {
    auto known = runtime::instance().events().find(event);
    if (!known.command) throw transfer_error(status::invalid_event, "the event is not a transfer's");
    return known;
}

/// The caller's buffer, filled as by clGetEventInfo.
class answer {
  public:
    answer(size_t size, void* value, size_t* size_ret) : m_size(size), m_value(value), m_size_ret(size_ret) {}

    cl_int bytes(const void* value, size_t size) const {
        if (m_value != nullptr) {
            if (m_size < size)
                throw transfer_error(status::invalid_value, "the value needs " + std::to_string(size) + " bytes, not " +
                                                                std::to_string(m_size));
            std::memcpy(m_value, value, size);
        }
        if (m_size_ret != nullptr) *m_size_ret = size;
        return CL_SUCCESS;
    }
    template <class Value> [[nodiscard]] cl_int value(Value given) const { return bytes(&given, sizeof given); }
    [[nodiscard]] cl_int text(std::string_view given) const {
        const std::string terminated(given);
        return bytes(terminated.c_str(), terminated.size() + 1);
    }

  private:
    size_t m_size;
    void* m_value;
    size_t* m_size_ret;
};

cl_ulong nanoseconds(time_point when) {
    return static_cast<cl_ulong>(std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count());
}

size_t bytes_sent(const transfer_record& known, const transfer::command_report& report) {
    return known.type == CL_COMMAND_SEND_BUFFER || known.type == CL_COMMAND_SENDRECV_BUFFER ? report.bytes_moved[0] : 0;
}

size_t bytes_received(const transfer_record& known, const transfer::command_report& report) {
    if (known.type == CL_COMMAND_RECV_BUFFER) return report.bytes_moved[0];
    return known.type == CL_COMMAND_SENDRECV_BUFFER ? report.bytes_moved[1] : 0;
}

/// What the platform knows itself, and on every rank the answer of the one that runs the transfer.
cl_int info_in_cluster(const cluster_calls& platform, cl_event event, cl_transfer_info name, size_t size, void* value,
                       size_t* size_ret) {
    switch (name) {
    case CL_TRANSFER_STATUS: return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, size_ret);
    case CL_TRANSFER_COMMAND_TYPE: return clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, size, value, size_ret);
    case CL_TRANSFER_COMMAND_QUEUE: return clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, size, value, size_ret);
    case CL_TRANSFER_CONTEXT: return clGetEventInfo(event, CL_EVENT_CONTEXT, size, value, size_ret);
    default:
        return platform.transfer_info(
            event,
            [name](void* raw, size_t room, void* where, size_t* used) {
                return clGetTransferInfo(static_cast<cl_event>(raw), name, room, where, used);
            },
            size, value, size_ret);
    }
}

/// The platform tells of every end by itself, on each rank.
cl_int call_back_in_cluster(cl_event event, end_callbacks::function callback, void* user_data) {
    cl_command_type type = 0;
    const auto code = clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
    if (code != CL_SUCCESS) return code;
    if (type < CL_COMMAND_WRITE_BUFFER_FROM_FILE || type > CL_COMMAND_PEER_COPY_BUFFER)
        throw transfer_error(status::invalid_event, "the event is not a transfer's");
    return clSetEventCallback(event, CL_COMPLETE, callback, user_data);
}

} // namespace

cl_int clGetTransferInfo(cl_event event, cl_transfer_info param_name, size_t param_value_size, void* param_value,
                         size_t* param_value_size_ret) {
    return guard([&] {
        if (const auto* const cluster = cluster_of(event))
            return info_in_cluster(*cluster, event, param_name, param_value_size, param_value, param_value_size_ret);
        const auto known = find_transfer(event);
        const auto report = known.command->report();
        const answer to(param_value_size, param_value, param_value_size_ret);
        switch (param_name) {
        case CL_TRANSFER_STATUS: return to.value<cl_int>(report.status);
        case CL_TRANSFER_COMMAND_TYPE: return to.value(known.type);
        case CL_TRANSFER_COMMAND_QUEUE: return to.value(known.queue);
        case CL_TRANSFER_CONTEXT: return to.value(known.context);
        case CL_TRANSFER_BYTES_MOVED: return to.value<size_t>(report.bytes_moved[0] + report.bytes_moved[1]);
        case CL_TRANSFER_BYTES_SENT: return to.value(bytes_sent(known, report));
        case CL_TRANSFER_BYTES_RECEIVED: return to.value(bytes_received(known, report));
        case CL_TRANSFER_MPI_SOURCE: return to.value<int>(known.envelope ? known.envelope->source.load() : 0);
        case CL_TRANSFER_MPI_TAG: return to.value<int>(known.envelope ? known.envelope->tag.load() : 0);
        case CL_TRANSFER_ERRNO: return to.value<int>(report.error.error_number);
        case CL_TRANSFER_MPI_ERROR_CLASS: return to.value<int>(report.error.mpi_error_class);
        case CL_TRANSFER_ERROR_MESSAGE: return to.text(report.error.message);
        case CL_TRANSFER_STRATEGY: return to.text(report.chosen.strategy);
        case CL_TRANSFER_BLOCK_SIZE: return to.value<size_t>(report.chosen.block_bytes);
        case CL_TRANSFER_DEPTH: return to.value<cl_uint>(report.chosen.strategy.empty() ? 0 : report.chosen.depth);
        case CL_TRANSFER_LANES: return to.value<cl_uint>(report.chosen.strategy.empty() ? 0 : report.chosen.io_threads);
        case CL_TRANSFER_TIME_QUEUED: return to.value(nanoseconds(report.queued));
        case CL_TRANSFER_TIME_SUBMITTED: return to.value(nanoseconds(report.submitted));
        case CL_TRANSFER_TIME_STARTED: return to.value(nanoseconds(report.started));
        case CL_TRANSFER_TIME_ENDED: return to.value(nanoseconds(report.ended));
        default:
            throw transfer_error(status::invalid_value,
                                 "clGetTransferInfo has no answer " + std::to_string(param_name));
        }
    });
}

cl_int clSetTransferCallback(cl_event event, void(CL_CALLBACK* callback)(cl_event, cl_int, void*), void* user_data) {
    return guard([&] {
        if (callback == nullptr) throw transfer_error(status::invalid_value, "the callback is null");
        if (cluster_of(event) != nullptr) return call_back_in_cluster(event, callback, user_data);
        find_transfer(event).callbacks->add(event, callback, user_data);
        return CL_SUCCESS;
    });
}

cl_int clCancelTransfer(cl_event event) {
    return guard([&] {
        if (const auto* const cluster = cluster_of(event))
            return cluster->transfer_info(
                event, [](void* raw, size_t, void*, size_t*) { return clCancelTransfer(static_cast<cl_event>(raw)); },
                0, nullptr, nullptr);
        const auto known = find_transfer(event);
        if (known.command->complete()) throw transfer_error(status::invalid_operation, "the transfer is complete");
        runtime::instance().engine().cancel(known.command, {status::cancelled, 0, 0, "the transfer was cancelled"});
        return CL_SUCCESS;
    });
}
