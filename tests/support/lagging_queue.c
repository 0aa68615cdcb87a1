/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a program, it lets one queue of PoCL lag: a kernel there starts only once somebody waits for a
 * command and nothing else can run. Which queue: CAUSEWAY_TEST_LAGGING, counted from 0 in the order of first launches.
 * Queues count as in-order. A program that relies on an order that it did not ask for computes something wrong. */
#include "pocl_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static cl_icd_dispatch real; /* as PoCL has it */

struct command {
    cl_command_queue queue;
    cl_event event;
    long needs; /* so many of the held kernels have to have started */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct command* commands;                          /* that are not known to have ended */
static size_t count, room;
static cl_event* gates; /* of the held kernels */
static long held, started;
static cl_command_queue seen[16]; /* in the order of their first launches */

static int is_over(cl_event event) {
    cl_int status = CL_COMPLETE;
    real.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status <= CL_COMPLETE;
}

static void forget_ended(void) {
    size_t kept = 0;
    for (size_t at = 0; at < count; ++at)
        if (is_over(commands[at].event))
            real.clReleaseEvent(commands[at].event);
        else
            commands[kept++] = commands[at];
    count = kept;
}

/* What a command that waits for these events needs. A user event may depend on anything. */
static long needs_of(cl_command_queue queue, cl_uint events, const cl_event* list) {
    long needs = 0;
    for (size_t at = 0; at < count; ++at) {
        int matters = commands[at].queue == queue;
        for (cl_uint each = 0; each < events; ++each) matters |= commands[at].event == list[each];
        if (matters && commands[at].needs > needs) needs = commands[at].needs;
    }
    for (cl_uint each = 0; each < events; ++each) {
        cl_command_type type = 0;
        real.clGetEventInfo(list[each], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
        if (type == CL_COMMAND_USER && !is_over(list[each])) needs = held;
    }
    return needs;
}

static void* grown(void* array, size_t length, size_t bytes) {
    array = realloc(array, length * bytes);
    if (array == NULL) abort();
    return array;
}

static void note(cl_command_queue queue, cl_event event, long needs) {
    if (count == room) commands = grown(commands, room = room * 2 + 64, sizeof *commands);
    real.clRetainEvent(event);
    commands[count++] = (struct command){queue, event, needs};
}

/* Until the queue's commands (of none: NULL) and the events are over, or nothing is left to start. */
static void serve(cl_command_queue queue, cl_uint events, const cl_event* list) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        forget_ended();
        int is_wanted = 0;
        cl_event next = NULL; /* a command that can run */
        cl_command_queue its_queue = NULL;
        for (size_t at = 0; at < count; ++at) {
            is_wanted |= commands[at].queue == queue;
            if (next == NULL && commands[at].needs <= started) {
                real.clRetainEvent(next = commands[at].event);
                its_queue = commands[at].queue;
            }
        }
        for (cl_uint each = 0; each < events; ++each) is_wanted |= !is_over(list[each]);
        const cl_event gate = is_wanted && next == NULL && started < held ? gates[started++] : NULL;
        pthread_mutex_unlock(&mutex);
        if (is_wanted && next != NULL) {
            real.clFlush(its_queue);
            real.clWaitForEvents(1, &next);
        }
        if (next != NULL) real.clReleaseEvent(next);
        if (gate != NULL) {
            real.clSetUserEventStatus(gate, CL_COMPLETE);
            real.clReleaseEvent(gate);
        }
        if (!is_wanted || (next == NULL && gate == NULL)) return;
    }
}

static int lags(cl_command_queue queue) {
    const char* const which = getenv("CAUSEWAY_TEST_LAGGING");
    int place = 0;
    while (place < 15 && seen[place] != NULL && seen[place] != queue) ++place;
    seen[place] = queue;
    return place == (which != NULL ? atoi(which) : 0);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                 const size_t* global, const size_t* local, cl_uint events, const cl_event* list,
                                 cl_event* event) {
    cl_event own = NULL;
    cl_event* const made = event != NULL ? event : &own;
    pthread_mutex_lock(&mutex);
    long needs = needs_of(queue, events, list);
    cl_event* const all = grown(NULL, events + 1, sizeof *all);
    if (events > 0) memcpy(all, list, events * sizeof *all);
    if (lags(queue)) {
        cl_context context = NULL;
        real.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
        gates = grown(gates, (size_t)held + 1, sizeof *gates);
        all[events++] = gates[held++] = real.clCreateUserEvent(context, NULL);
        needs = held;
    }
    const cl_int code = real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, events,
                                                    events > 0 ? all : NULL, made);
    if (code == CL_SUCCESS) note(queue, *made, needs);
    pthread_mutex_unlock(&mutex);
    free(all);
    if (own != NULL) real.clReleaseEvent(own);
    return code;
}

/* A blocking command must not wait for what is held. */
#define ENQUEUE(blocking, call)                                                                                        \
    do {                                                                                                               \
        cl_event own = NULL;                                                                                           \
        cl_event* const made = event != NULL ? event : &own;                                                           \
        if (blocking) {                                                                                                \
            serve(queue, 0, NULL);                                                                                     \
            serve(NULL, events, list);                                                                                 \
        }                                                                                                              \
        pthread_mutex_lock(&mutex);                                                                                    \
        const long needs = needs_of(queue, events, list);                                                              \
        if (blocking) pthread_mutex_unlock(&mutex);                                                                    \
        call;                                                                                                          \
        if (!(blocking)) {                                                                                             \
            if (*made != NULL) note(queue, *made, needs);                                                              \
            pthread_mutex_unlock(&mutex);                                                                              \
        }                                                                                                              \
        if (own != NULL) real.clReleaseEvent(own);                                                                     \
    } while (0)

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, void* to, cl_uint events, const cl_event* list, cl_event* event) {
    cl_int code = CL_SUCCESS;
    ENQUEUE(blocking, code = real.clEnqueueReadBuffer(queue, buffer, blocking, offset, size, to, events, list, made));
    return code;
}
static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, const void* from, cl_uint events, const cl_event* list,
                                       cl_event* event) {
    cl_int code = CL_SUCCESS;
    ENQUEUE(blocking,
            code = real.clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, from, events, list, made));
    return code;
}
static void* CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                    size_t offset, size_t size, cl_uint events, const cl_event* list, cl_event* event,
                                    cl_int* code) {
    void* mapped = NULL;
    ENQUEUE(blocking,
            mapped = real.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, events, list, made, code));
    return mapped;
}
static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem buffer, void* mapped, cl_uint events,
                                const cl_event* list, cl_event* event) {
    cl_int code = CL_SUCCESS;
    ENQUEUE(CL_FALSE, code = real.clEnqueueUnmapMemObject(queue, buffer, mapped, events, list, made));
    return code;
}
static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t source, size_t target,
                                      size_t size, cl_uint events, const cl_event* list, cl_event* event) {
    cl_int code = CL_SUCCESS;
    ENQUEUE(CL_FALSE, code = real.clEnqueueCopyBuffer(queue, from, to, source, target, size, events, list, made));
    return code;
}
static cl_int CL_API_CALL mark(cl_command_queue queue, cl_uint events, const cl_event* list, cl_event* event) {
    cl_int code = CL_SUCCESS;
    ENQUEUE(CL_FALSE, code = real.clEnqueueMarkerWithWaitList(queue, events, list, made));
    return code;
}
static cl_int CL_API_CALL put_barrier(cl_command_queue queue, cl_uint events, const cl_event* list, cl_event* event) {
    cl_int code = CL_SUCCESS;
    ENQUEUE(CL_FALSE, code = real.clEnqueueBarrierWithWaitList(queue, events, list, made));
    return code;
}

static cl_int CL_API_CALL finish(cl_command_queue queue) {
    serve(queue, 0, NULL);
    return real.clFinish(queue);
}
static cl_int CL_API_CALL wait_for(cl_uint events, const cl_event* list) {
    serve(NULL, events, list);
    return real.clWaitForEvents(events, list);
}

__attribute__((constructor)) static void take_the_place(void) {
    cl_icd_dispatch* const table = table_of_pocl("lagging_queue");
    real = *table;
    table->clEnqueueNDRangeKernel = launch;
    table->clEnqueueReadBuffer = read_buffer;
    table->clEnqueueWriteBuffer = write_buffer;
    table->clEnqueueMapBuffer = map_buffer;
    table->clEnqueueUnmapMemObject = unmap;
    table->clEnqueueCopyBuffer = copy_buffer;
    table->clEnqueueMarkerWithWaitList = mark;
    table->clEnqueueBarrierWithWaitList = put_barrier;
    table->clFinish = finish;
    table->clWaitForEvents = wait_for;
}

/* A test in which nothing lagged shows nothing. */
__attribute__((destructor)) static void tell(void) {
    if (held > 0 && started == held) return;
    fprintf(stderr, "lagging_queue: %ld of %ld kernels were started\n", started, held);
    _exit(1);
}
