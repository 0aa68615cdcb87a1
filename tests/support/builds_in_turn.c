/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test of several ranks, it ends a rank of which PoCL builds a program while that of another rank
 * builds one. */
#include "pocl_table.h"

#include <fcntl.h>
#include <sys/file.h>

static cl_int(CL_API_CALL* real)(cl_program, cl_uint, const cl_device_id*, const char*,
                                 void(CL_CALLBACK*)(cl_program, void*), void*);

static cl_int CL_API_CALL build_alone(cl_program program, cl_uint count, const cl_device_id* devices,
                                      const char* options, void(CL_CALLBACK* done)(cl_program, void*), void* data) {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        fprintf(stderr, "builds_in_turn: two ranks build at the same time\n");
        _exit(1);
    }
    const cl_int code = real(program, count, devices, options, done, data);
    usleep(100000); /* shows builds at the same time also where they are short */
    close(file);
    return code;
}

__attribute__((constructor)) static void take_the_place(void) {
    cl_icd_dispatch* const table = table_of_pocl("builds_in_turn");
    real = table->clBuildProgram;
    table->clBuildProgram = build_alone;
}
