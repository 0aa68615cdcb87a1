/* SPDX-License-Identifier: Apache-2.0 */
/* The loop in C that python_overhead.py compares its own with, in the same process and on the same objects. */
#define _POSIX_C_SOURCE 200809L
#define CL_DATA_TRANSFER_NO_MPI
#include <CL/cl_data_transfer.h>

#include <time.h>

/* Seconds that `count` calls took; `events` gets what they enqueued. Negative if one was refused. */
CAUSEWAY_API double enqueue_reads(cl_command_queue queue, cl_mem buffer, int fd, cl_event before, int count,
                                  cl_event *events)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < count; ++i)
        if (clEnqueueWriteBufferFromFile(queue, buffer, CL_FALSE, 0, 64, fd, 0, 1, &before, &events[i]))
            return -1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}
