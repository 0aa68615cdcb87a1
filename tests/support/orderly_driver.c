/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test, it makes PoCL run the commands of out-of-order queues in order, and say that it is NVIDIA's,
 * whose driver (580) lets nothing of such a queue pass a command that waits. It counts the questions for events. */
#include "pocl_table.h"

#include <stdatomic.h>
#include <string.h>

static const char name[] = "NVIDIA's way";
/* The headers name these types differently from year to year. */
static cl_command_queue(CL_API_CALL* make)(cl_context, cl_device_id, cl_command_queue_properties, cl_int*);
static cl_int(CL_API_CALL* say)(cl_platform_id, cl_platform_info, size_t, void*, size_t*);

static cl_command_queue CL_API_CALL make_in_order(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int* code) {
    const cl_command_queue_properties left = properties &
                                             ~(cl_command_queue_properties)CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    return make(context, device, left, code);
}

static cl_int CL_API_CALL say_name(cl_platform_id platform, cl_platform_info what, size_t size, void* value,
                                   size_t* size_ret) {
    if (what != CL_PLATFORM_NAME) return say(platform, what, size, value, size_ret);
    if (size_ret != NULL) *size_ret = sizeof name;
    if (value != NULL && size >= sizeof name) memcpy(value, name, sizeof name);
    return CL_SUCCESS;
}

static cl_int(CL_API_CALL* ask)(cl_event, cl_event_info, size_t, void*, size_t*);
static atomic_ulong asked;
static cl_int CL_API_CALL ask_and_count(cl_event event, cl_event_info what, size_t size, void* value,
                                        size_t* size_ret) {
    atomic_fetch_add(&asked, 1);
    return ask(event, what, size, value, size_ret);
}
/* For the test, which looks for it by name. */
unsigned long questions_for_events(void);
unsigned long questions_for_events(void) { return atomic_load(&asked); }

__attribute__((constructor)) static void take_the_place(void) {
    cl_icd_dispatch* const table = table_of_pocl("orderly_driver");
    make = table->clCreateCommandQueue;
    table->clCreateCommandQueue = make_in_order;
    say = table->clGetPlatformInfo;
    table->clGetPlatformInfo = say_name;
    ask = table->clGetEventInfo;
    table->clGetEventInfo = ask_and_count;
}
