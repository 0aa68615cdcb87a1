/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test, it makes PoCL take what a write sends when the write is enqueued, whatever comes before
 * that, as NVIDIA's driver does (580). */
#include "pocl_table.h"

#include <stdlib.h>
#include <string.h>

/* The headers name this type differently from year to year. */
static cl_int(CL_API_CALL* real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void*, cl_uint,
                                 const cl_event*, cl_event*);

static cl_int CL_API_CALL write_early(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, const void* source, cl_uint count, const cl_event* list,
                                      cl_event* event) {
    void* const taken = malloc(size); /* for good: nobody says when the driver is done with it */
    memcpy(taken, source, size);
    return real(queue, buffer, blocking, offset, size, taken, count, list, event);
}

__attribute__((constructor)) static void take_the_place(void) {
    cl_icd_dispatch* const table = table_of_pocl("early_writes");
    real = table->clEnqueueWriteBuffer;
    table->clEnqueueWriteBuffer = write_early;
}
