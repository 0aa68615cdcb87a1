// SPDX-License-Identifier: Apache-2.0
// Shared by the functions that `causeway trace` interposes before OpenCL's.
#pragma once

#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace preload {

/// The interposed function of this name; null if there is none.
void* next_function(const char* name);

template <class Function> Function* next(const char* name) { return reinterpret_cast<Function*>(next_function(name)); }

/// Whether to record a command enqueued from `caller`. False if libcauseway enqueued it, whose engine records its own
/// commands, and if libcauseway is not loaded.
bool is_watched(const void* caller);

/// Whether a loaded libcauseway records a timeline. Does not load it, because every process gets this library.
bool is_recording();
bool is_of_library(const void* caller);
/// Tells the timeline what the host did between two moments.
void show_call(const char* kind, const char* name, unsigned long long begin, unsigned long long end,
               unsigned long long bytes);

/// Records a command by its event; a null name takes that of its command type.
void show(cl_event event, const char* name, cl_uint count, const cl_event* list);

void release(cl_event event);

/// Enqueues by `call(event out)` and records the command.
template <class Call> cl_int watched(const void* caller, const char* name, cl_uint count, const cl_event* list,
                                     cl_event* wanted, Call call) {
    if (!is_watched(caller)) return call(wanted);
    cl_event own = nullptr;
    auto* const event = wanted != nullptr ? wanted : &own;
    const cl_int code = call(event);
    if (code != CL_SUCCESS) return code;
    show(*event, name, count, list);
    if (wanted == nullptr) release(own);
    return code;
}

/// As watched(), for a function that takes `before`, then a wait list and an event.
template <class Function, class... Before> cl_int enqueue(const void* caller, Function* call, const char* name,
                                                          cl_uint count, const cl_event* list, cl_event* event,
                                                          Before... before) {
    return watched(caller, name, count, list, event, [&](cl_event* to) { return call(before..., count, list, to); });
}

} // namespace preload
