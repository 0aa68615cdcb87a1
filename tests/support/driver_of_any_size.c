/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test, it makes PoCL take the flag for buffers of any size (Intel's, 1 << 23). Such a buffer has
 * memory for its first page only. */
#include "pocl_table.h"

#include <stdatomic.h>

static cl_mem(CL_API_CALL* create)(cl_context, cl_mem_flags, size_t, void*, cl_int*);

static atomic_ulong made;
/* For the test, which looks for it by name. */
unsigned long buffers_of_any_size(void);
unsigned long buffers_of_any_size(void) { return atomic_load(&made); }

static cl_mem CL_API_CALL create_any(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
    const cl_mem_flags any_size = (cl_mem_flags)1 << 23;
    const size_t page = 4096;
    if ((flags & any_size) == 0) return create(context, flags, size, host, code);
    atomic_fetch_add(&made, 1);
    return create(context, flags & ~any_size, size < page ? size : page, host, code);
}

__attribute__((constructor)) static void take_the_place(void) {
    cl_icd_dispatch* const table = table_of_pocl("driver_of_any_size");
    create = table->clCreateBuffer;
    table->clCreateBuffer = create_any;
}
