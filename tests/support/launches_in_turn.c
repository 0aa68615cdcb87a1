/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test of several ranks, it ends a rank which has PoCL launch a kernel for the first time while
 * another rank does, so that both compile it. */
#include "pocl_table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cl_api_clEnqueueNDRangeKernel real_launch;
static cl_api_clSetEventCallback real_callback;

static cl_icd_dispatch* table;
static int file = -1;
static char seen[16][64]; /* names of kernels */
static _Thread_local int last_launched = -1;

static int set(int place, short kind) {
    struct flock what = {.l_type = kind, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &what);
}

/* Nobody waits longer than 10 s for another rank. */
static int has_waited_long(void) {
    static time_t before;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int is_late = before != 0 && now.tv_sec - before >= 9;
    before = now.tv_sec;
    return is_late;
}

static cl_int CL_API_CALL launch_alone(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t* offset, const size_t* global, const size_t* local, cl_uint count,
                                       const cl_event* list, cl_event* event) {
    char name[64] = "";
    table->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    int place = 0;
    while (place < 16 && seen[place][0] != 0 && strcmp(seen[place], name) != 0) ++place;
    const int is_first = place < 16 && seen[place][0] == 0;
    if (has_waited_long()) {
        close(file);
        file = -1;
    }
    if (is_first && file >= 0) {
        strcpy(seen[place], name);
        if (set(place, F_WRLCK) != 0) {
            fprintf(stderr, "launches_in_turn: two ranks launch %s at the same time\n", name);
            _exit(1);
        }
        fprintf(stderr, "launches_in_turn: first launch of %s\n", name);
        last_launched = place;
    }
    const cl_int code = real_launch(queue, kernel, dimensions, offset, global, local, count, list, event);
    if (is_first) usleep(300000); /* shows launches at the same time also where all is compiled */
    return code;
}

struct farewell {
    void(CL_CALLBACK* call)(cl_event, cl_int, void*);
    void* data;
    int place;
};

static void CL_CALLBACK give_up_first(cl_event event, cl_int status, void* data) {
    const struct farewell to = *(struct farewell*)data;
    free(data);
    set(to.place, F_UNLCK);
    to.call(event, status, to.data);
}

static cl_int CL_API_CALL set_callback(cl_event event, cl_int at, void(CL_CALLBACK* call)(cl_event, cl_int, void*),
                                       void* data) {
    if (at != CL_RUNNING || last_launched < 0) return real_callback(event, at, call, data);
    struct farewell* const to = malloc(sizeof *to);
    *to = (struct farewell){call, data, last_launched};
    last_launched = -1;
    return real_callback(event, at, give_up_first, to);
}

__attribute__((constructor)) static void take_the_place(void) {
    table = table_of_pocl("launches_in_turn");
    real_launch = table->clEnqueueNDRangeKernel;
    real_callback = table->clSetEventCallback;
    file = open(getenv("CAUSEWAY_TEST_LOCKS"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    table->clEnqueueNDRangeKernel = launch_alone;
    table->clSetEventCallback = set_callback;
}
