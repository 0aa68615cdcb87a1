/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of the option `trace`: adding a program's own commands and calls, and collecting what ranks recorded. */
#ifndef CAUSEWAY_TRACE_H
#define CAUSEWAY_TRACE_H

#include <causeway/causeway.h>

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Shows a command of the program in the timeline as `name`, which is copied; null takes the kind of command. Transfers
 * in its wait list get arrows to it. Its queue needs CL_QUEUE_PROFILING_ENABLE, which gives its times. The event is
 * retained until the command is complete. Returns 1, or 0 if no timeline is recorded. Any thread. (`causeway trace`
 * calls it for every command of a program, which then need not do so.)
 */
CAUSEWAY_EXPORT int causeway_trace_command(cl_event event, const char* name, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list);

/*
 * Shows host code as a slice `name` on the lane `kind`, both copied, from `begin` to `end` (CLOCK_MONOTONIC, in
 * nanoseconds). `bytes` may be 0. Returns 1, or 0 if no timeline is recorded. Any thread; not from signal handlers.
 * (`causeway trace` calls it for MPI calls and file accesses of a program.)
 */
CAUSEWAY_EXPORT int causeway_trace_call(const char* kind, const char* name, unsigned long long begin,
                                        unsigned long long end, unsigned long long bytes);

/*
 * Adds to the timeline `file` what killed ranks have recorded; those that ended by themselves added theirs. Returns the
 * number of killed ranks, or -1 (see causeway_error_last_message).
 */
CAUSEWAY_EXPORT int causeway_trace_collect(const char* file);

#ifdef __cplusplus
}
#endif

#endif
