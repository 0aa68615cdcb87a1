/* SPDX-License-Identifier: Apache-2.0 */
/* The loops in C that python_overhead.py compares its own with, in the same process and on the same objects. */
#define _POSIX_C_SOURCE 200809L
#include <CL/cl_data_transfer.h>

#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds that `count` calls took; `events` gets what they enqueued. Negative if one was refused. */
CAUSEWAY_API double enqueue_reads(cl_command_queue queue, cl_mem buffer, int fd, cl_event before, int count,
                                  cl_event* events) {
    const double begin = seconds();
    for (int i = 0; i < count; ++i)
        if (clEnqueueWriteBufferFromFile(queue, buffer, CL_FALSE, 0, 64, fd, 0, 1, &before, &events[i])) return -1;
    return seconds() - begin;
}

/* The same for messages of a process to itself, from the first half of the buffer to the second. */
CAUSEWAY_API double enqueue_messages(cl_command_queue queue, cl_mem buffer, const MPI_Comm* self, cl_event before,
                                     int count, cl_event* events) {
    const double begin = seconds();
    for (int i = 0; i < count; ++i)
        if (clEnqueueSendrecvBuffer(queue, buffer, buffer, CL_FALSE, 0, 32, 0, 0, 32, 32, 0, 0, *self, 1, &before,
                                    &events[i]))
            return -1;
    return seconds() - begin;
}
