/* SPDX-License-Identifier: Apache-2.0 */
/* What is not an OpenCL command: version, options, the text of the last error. */
#ifndef CAUSEWAY_CAUSEWAY_H
#define CAUSEWAY_CAUSEWAY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAUSEWAY_VERSION_MAJOR 0
#define CAUSEWAY_VERSION_MINOR 1
#define CAUSEWAY_VERSION_PATCH 0
#define CAUSEWAY_VERSION "0.1.0"

#if defined(__GNUC__)
#define CAUSEWAY_EXPORT __attribute__((visibility("default")))
#else
#define CAUSEWAY_EXPORT
#endif

/* The version of the library that is running, as CAUSEWAY_VERSION. */
CAUSEWAY_EXPORT const char* causeway_version(void);

/*
 * Sets the option `name` (as in docs/options.md: "block", "depth", "strategy", ...) from text, as the environment
 * variable CAUSEWAY_<NAME> would: sizes take the suffixes K, M, G. Holds for transfers that start afterwards.
 * Returns 0, or -1 for an unknown name or a value out of range (see causeway_error_last_message). Any thread.
 */
CAUSEWAY_EXPORT int causeway_option_set(const char* name, const char* value);

/*
 * Writes the value of the option `name` into `value` (at most `size` bytes, always terminated).
 * Returns the length of the whole text without its terminator, or -1 for an unknown name. Any thread.
 */
CAUSEWAY_EXPORT int causeway_option_get(const char* name, char* value, size_t size);

/*
 * Writes all options into `text` as JSON (at most `size` bytes, always terminated): an array of objects with "name",
 * "environment", "value", "default", "values", "description" and "from", which is "default", "environment" or
 * "program". Returns the length of the whole text without its terminator, or -1. Any thread.
 */
CAUSEWAY_EXPORT long causeway_options(char* text, size_t size);

/* The text of the calling thread's last refused call; empty if there was none. Valid until the thread's next call. */
CAUSEWAY_EXPORT const char* causeway_error_last_message(void);

#ifdef __cplusplus
}
#endif

#endif
