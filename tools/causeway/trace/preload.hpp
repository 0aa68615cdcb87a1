// SPDX-License-Identifier: Apache-2.0
// What the functions have in common that `causeway trace` puts in front of OpenCL's.
#pragma once

#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace preload {

/// The function that this library stands in front of, by its name; null if there is none.
void* next_function(const char* name);

template <class Function> Function* next(const char* name) { return reinterpret_cast<Function*>(next_function(name)); }

/// Whether to record a command that was enqueued from there. Not if libcauseway enqueued it, because its engine records
/// its own, and not if there is no libcauseway.
bool is_watched(const void* caller);

/// Whether a libcauseway is known that has a timeline. Brings none: any process loads this library.
bool is_recording();
bool is_of_library(const void* caller);
/// Tells the timeline what the host did between two moments.
void show_call(const char* kind, const char* name, unsigned long long begin, unsigned long long end,
               unsigned long long bytes);

/// Tells the timeline of a command by its event; without a name it is called by its kind.
void show(cl_event event, const char* name, cl_uint count, const cl_event* list);

void release(cl_event event);

/// Enqueues by `call`, which takes the place for the event, and shows the command.
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

/// A command with `before` in front of its wait list.
template <class Function, class... Before> cl_int enqueue(const void* caller, Function* call, const char* name,
                                                          cl_uint count, const cl_event* list, cl_event* event,
                                                          Before... before) {
    return watched(caller, name, count, list, event, [&](cl_event* to) { return call(before..., count, list, to); });
}

} // namespace preload
