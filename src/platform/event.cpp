// SPDX-License-Identifier: Apache-2.0
// The life of an event.
#include "platform/event.hpp"

#include "platform/behind.hpp"
#include "platform/cluster.hpp"
#include "platform/observer.hpp"
#include "platform/queue.hpp"

#include <algorithm>
#include <chrono>

using namespace causeway::platform;

_cl_event::_cl_event(_cl_context& of)
    : object(own_kind), context(&of), type(CL_COMMAND_USER), where(nullptr), rank(-1) {}

_cl_event::_cl_event(_cl_command_queue& in, cl_command_type what, ender who)
    : _cl_event(in, what, who, in.where.rank) {}

_cl_event::_cl_event(_cl_command_queue& in, cl_command_type what, ender who, int on_rank)
    : object(own_kind), context(&in.context), queue(&in), type(what), where(who == ender::driver ? &in.where : nullptr),
      rank(who == ender::every_rank ? -1 : on_rank) {}

int _cl_event::owner() const { return rank >= 0 ? rank : queue->where.rank; }

void _cl_event::issued_as(cl_event raw, bool had_waits) {
    m_raw = driver_object<cl_event>(raw);
    m_had_waits = had_waits;
    m_issued.store(true, std::memory_order_release);
    for (auto* const each : observer::all()) each->issued(*this);
}

bool _cl_event::finish(cl_int status) {
    // Before anybody sees the end.
    if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && queue)
        queue->has_failed_waits.store(true, std::memory_order_release);
    cl_int expected = not_over;
    return m_end.compare_exchange_strong(expected, status, std::memory_order_acq_rel);
}

cl_int _cl_event::status() {
    if (const auto end = known_end(); end != not_over) return end;
    const auto raw_event = raw();
    if (raw_event == nullptr) return is_users() ? CL_SUBMITTED : CL_QUEUED;
    cl_int now = CL_QUEUED;
    const auto code = calls_of(raw_event).clGetEventInfo(raw_event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof now, &now,
                                                         nullptr);
    if (code != CL_SUCCESS) now = code;
    if (now > CL_COMPLETE) return now;
    if (now == CL_COMPLETE && m_had_waits && where != nullptr && where->from->quirks.hides_failed_waits &&
        calls_of(raw_event).clWaitForEvents(1, &raw_event) != CL_SUCCESS)
        now = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    finish(now);
    return known_end();
}

cl_int _cl_event::seen_status() {
    const auto now = status();
    if (now > CL_COMPLETE || behind.empty()) return now;
    const bool passes = is_here(*this) ? passes_users(*this) : m_told.passes_users;
    const bool is_behind = std::any_of(behind.begin(), behind.end(), [&](const auto& one) {
        return one->known_end() > CL_COMPLETE && !(passes && one->is_users());
    });
    return is_behind ? CL_RUNNING : now;
}

cl_int command_end::time(cl_profiling_info what, cl_ulong& time) const {
    if (what < CL_PROFILING_COMMAND_QUEUED || what > CL_PROFILING_COMMAND_COMPLETE) return CL_INVALID_VALUE;
    // Commands of OpenCL 1.2 have no children that could end later.
    if (times_code == CL_SUCCESS)
        time = times[std::min<std::size_t>(what - CL_PROFILING_COMMAND_QUEUED, times.size() - 1)];
    return times_code;
}

void _cl_event::finish_as(const command_end& end) {
    if (known_end() != not_over) return;
    m_told = end;
    finish(end.status);
}

void _cl_event::finish_now(cl_int status) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto time = static_cast<cl_ulong>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    finish_as({status, status == CL_COMPLETE ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE, {time, time, time, time}});
}

command_end _cl_event::end() {
    command_end told{status()};
    if (raw() == nullptr) return told.status == m_told.status ? m_told : told;
    if (told.status != CL_COMPLETE || (queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0) return told;
    told.times_code = CL_SUCCESS;
    for (cl_profiling_info what = CL_PROFILING_COMMAND_QUEUED; what <= CL_PROFILING_COMMAND_END; ++what) {
        auto& time = told.times[what - CL_PROFILING_COMMAND_QUEUED];
        const auto code = calls_of(raw()).clGetEventProfilingInfo(raw(), what, sizeof time, &time, nullptr);
        if (code != CL_SUCCESS) told.times_code = code;
    }
    return told;
}

cl_int _cl_event::known_time(cl_profiling_info what, cl_ulong& time) {
    const bool is_asked_for = queue && (queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    if (!is_asked_for || seen_status() != CL_COMPLETE) return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (raw() == nullptr) return m_told.time(what, time);
    return calls_of(raw()).clGetEventProfilingInfo(raw(), what, sizeof time, &time, nullptr);
}
