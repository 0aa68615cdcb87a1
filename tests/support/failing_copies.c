/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test, it makes PoCL refuse as many reads or writes of buffers as the test says. */
#include "pocl_table.h"

#include <stdatomic.h>

/* For the test, which looks for them by name. */
extern atomic_int reads_to_fail, writes_to_fail;
atomic_int reads_to_fail, writes_to_fail;

/* The headers name these types differently from year to year. */
static cl_int(CL_API_CALL* read_really)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void*, cl_uint,
                                        const cl_event*, cl_event*);
static cl_int(CL_API_CALL* write_really)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void*, cl_uint,
                                         const cl_event*, cl_event*);
static cl_int(CL_API_CALL* write_rows_really)(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*,
                                              const size_t*, size_t, size_t, size_t, size_t, const void*, cl_uint,
                                              const cl_event*, cl_event*);

static int fails(atomic_int* left) {
    int now = atomic_load(left);
    while (now > 0)
        if (atomic_compare_exchange_weak(left, &now, now - 1)) return 1;
    return 0;
}

static cl_int CL_API_CALL read_or_fail(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void* target, cl_uint count, const cl_event* list,
                                       cl_event* event) {
    if (fails(&reads_to_fail)) return CL_OUT_OF_RESOURCES;
    return read_really(queue, buffer, blocking, offset, size, target, count, list, event);
}

static cl_int CL_API_CALL write_or_fail(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t size, const void* source, cl_uint count, const cl_event* list,
                                        cl_event* event) {
    if (fails(&writes_to_fail)) return CL_OUT_OF_RESOURCES;
    return write_really(queue, buffer, blocking, offset, size, source, count, list, event);
}

/* The library then tries an ordinary write. */
static cl_int CL_API_CALL write_rows_or_refuse(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                               const size_t* origin, const size_t* host_origin, const size_t* region,
                                               size_t row, size_t slice, size_t host_row, size_t host_slice,
                                               const void* source, cl_uint count, const cl_event* list,
                                               cl_event* event) {
    if (atomic_load(&writes_to_fail) > 0) return CL_OUT_OF_RESOURCES;
    return write_rows_really(queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice,
                             source, count, list, event);
}

__attribute__((constructor)) static void take_the_place(void) {
    cl_icd_dispatch* const table = table_of_pocl("failing_copies");
    read_really = table->clEnqueueReadBuffer;
    table->clEnqueueReadBuffer = read_or_fail;
    write_really = table->clEnqueueWriteBuffer;
    table->clEnqueueWriteBuffer = write_or_fail;
    write_rows_really = table->clEnqueueWriteBufferRect;
    table->clEnqueueWriteBufferRect = write_rows_or_refuse;
}
