/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer that the program has made in the directives' context is present, in order with commands in their queue. What
   the program enqueues there counts as all else does, and each thread that waits for a queue sees its end. */
#include <CL/cl.h>
#include <openacc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 1000, skipped = 16 };

void add_indices(int* values, int n);
void add_indices_again(int* values, int n);

static int open, threads; /* of the gate; that are about to wait */

static void* wait_for_second_queue(void* was_open) {
    __atomic_add_fetch(&threads, 1, __ATOMIC_SEQ_CST);
    acc_wait(2);
    *(int*)was_open = __atomic_load_n(&open, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Two threads wait for what cannot begin yet: neither may say that it is over. */
static int threads_went_on(cl_context context, cl_command_queue queue, cl_mem buffer, int* name) {
    const cl_event gate = clCreateUserEvent(context, NULL);
    const int zero = 0;
    int was_open[2] = {0, 0};
    pthread_t waiting[2];
    open = threads = 0;
    clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, sizeof zero, 1, &gate, NULL);
    add_indices(name, n);
    add_indices_again(name, n);
    for (int i = 0; i < 2; i++) pthread_create(&waiting[i], NULL, wait_for_second_queue, &was_open[i]);
    while (__atomic_load_n(&threads, __ATOMIC_SEQ_CST) < 2) sched_yield();
    for (int i = 0; i < 1000; i++) sched_yield();
    const int over = acc_async_test(2) || acc_async_test(1);
    __atomic_store_n(&open, 1, __ATOMIC_SEQ_CST);
    clSetUserEventStatus(gate, CL_COMPLETE);
    for (int i = 0; i < 2; i++) pthread_join(waiting[i], NULL);
    clReleaseEvent(gate);
    return over + !was_open[0] + !was_open[1];
}

/* A scalar that the program's own command is still reading, and that goes to the device behind it. */
static int took_old_scalar(cl_context context, cl_command_queue queue, cl_mem buffer) {
    const cl_event gate = clCreateUserEvent(context, NULL);
    int scalar = -1;
    acc_create(&scalar, sizeof scalar);
    clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof scalar, &scalar, 1, &gate, NULL);
    acc_update_device_async(&scalar, sizeof scalar, 1);
    clSetUserEventStatus(gate, CL_COMPLETE);
    acc_wait(1);
    scalar = -2;
    acc_copyout(&scalar, sizeof scalar);
    return scalar != 0;
}

/* Behind a wait, when the run time has nothing more in the queue. */
static int did_not_wait(cl_context context, cl_command_queue queue, cl_mem buffer) {
    acc_wait(1);
    const cl_event gate = clCreateUserEvent(context, NULL);
    int value = -1;
    clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof value, &value, 1, &gate, NULL);
    const int over = acc_async_test(1);
    clSetUserEventStatus(gate, CL_COMPLETE);
    acc_wait(1);
    return over + (value != 0);
}

int main(void) {
    const cl_context context = acc_get_current_opencl_context();
    const cl_command_queue queue = acc_get_opencl_queue(1);
    cl_device_id device = NULL;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
        device != acc_get_current_opencl_device())
        return fprintf(stderr, "the queue is of another device\n"), 1;
    const cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, (skipped + n) * sizeof(int), NULL, NULL);
    int *const name = malloc(n * sizeof(int)), first = 3, values[n]; /* an address that is only mapped */
    clEnqueueFillBuffer(queue, buffer, &first, sizeof first, 0, (skipped + n) * sizeof(int), 0, NULL, NULL);
    acc_map_buffer(name, buffer, skipped * sizeof(int), n * sizeof(int));
    add_indices(name, n);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, skipped * sizeof(int), sizeof values, values, 0, NULL, NULL);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += values[i] != 3 + i;
    for (int i = 0; i < 5; i++) wrong += threads_went_on(context, queue, buffer, name);
    wrong += took_old_scalar(context, queue, buffer) + did_not_wait(context, queue, buffer);
    acc_unmap_data(name);
    wrong += acc_is_present(name, sizeof values);
    clReleaseMemObject(buffer);
    free(name);
    if (wrong) fprintf(stderr, "%d values are wrong\n", wrong);
    return wrong != 0;
}
