/* SPDX-License-Identifier: Apache-2.0 */
/* The figures by which transfers choose how they move bytes: measure them, read them, forget them. */
#ifndef CAUSEWAY_TUNER_H
#define CAUSEWAY_TUNER_H

#include <CL/cl.h>
#include <causeway/causeway.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The library measures devices by itself once a program has used them for a while, and corrects all figures by the
 * transfers that run. These functions measure at once, and thoroughly. The figures serve the process from then on; with
 * the option `tuner` at "auto" they are also kept for later ones, in causeway/tuner.json below $XDG_CACHE_HOME or
 * ~/.cache. A file that cannot be written gives a warning on standard error and no error.
 *
 * All may be called from any thread, block until they are done, and move data of their own only. Transfers, kernels or
 * programs that run meanwhile make the figures worse. Each returns CL_SUCCESS or an error code, and then
 * causeway_error_last_message() says why; what the failed call measured is lost, earlier figures stay.
 * CL_INVALID_OPERATION: the option `tuner` is not "auto", or the process is ending.
 */

/*
 * Measures copies into and out of the memory of the queue's device, and if that is host memory, mapping it. Uses 16 MiB
 * of that memory meanwhile, and takes less than a second. The queue only names context and device: nothing is enqueued
 * in it. CL_INVALID_COMMAND_QUEUE, or the code of an OpenCL call that failed.
 */
CAUSEWAY_EXPORT cl_int causeway_tune_device(cl_command_queue queue);

/*
 * Measures reads from and writes to the file system of a directory, through the page cache as transfers do, in a
 * nameless file of 32 MiB that is gone afterwards. CL_INVALID_VALUE for a path that is no directory or cannot be
 * written to; CL_TRANSFER_IO_ERROR (-31002), for example if the file system is full. Less than two seconds, on a slow
 * disk perhaps more.
 */
CAUSEWAY_EXPORT cl_int causeway_tune_directory(const char* path);

/*
 * Writes all figures as JSON into `text` (at most `size` bytes, always terminated): "file", the path of the file that
 * keeps them, or ""; "problem", why they could not be written there, or ""; "sizes", a list of bytes; "stages", a list
 * of objects with "place" (the resource), "operation", "seconds" (of one operation alone, at each of the sizes),
 * "gap_at_once" (the least seconds that each of several at once adds), "bytes_per_second_at_once" (of all together) and
 * "seen" (seconds since 1970). Returns the length of the whole text without its terminator, or -1.
 */
CAUSEWAY_EXPORT long causeway_tuner_figures(char* text, size_t size);

/* Forgets all figures and removes the file. CL_INVALID_OPERATION if the file stays; the process has forgotten them even
 * then. */
CAUSEWAY_EXPORT cl_int causeway_tuner_clear(void);

#ifdef __cplusplus
}
#endif

#endif
