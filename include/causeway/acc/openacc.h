/* SPDX-License-Identifier: Apache-2.0 */
/* The routines of OpenACC 2.7, those of version 3 that programs use, and acc_update_peer(). causeway-cc includes this
 * header as <openacc.h>. */
#ifndef CAUSEWAY_OPENACC_H
#define CAUSEWAY_OPENACC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum acc_device_t {
    acc_device_none = 0,
    acc_device_default = 1,
    acc_device_host = 2,
    acc_device_not_host = 4,
    acc_device_nvidia = 5,
    acc_device_radeon = 6,
    acc_device_intel = 7,
    acc_device_opencl = 8, /* an OpenCL device that is none of those above */
    acc_device_current = 9
} acc_device_t;

typedef enum acc_device_property_t {
    acc_property_memory = 1,
    acc_property_free_memory = 2,
    acc_property_shared_memory_support = 3,
    acc_property_name = 0x10001,
    acc_property_vendor = 0x10002,
    acc_property_driver = 0x10003
} acc_device_property_t;

enum { acc_async_noval = -1, acc_async_sync = -2, acc_async_default = -3 };

/* Devices count from 0, over all OpenCL platforms. */
int acc_get_num_devices(acc_device_t);
void acc_set_device_type(acc_device_t);
acc_device_t acc_get_device_type(void);
void acc_set_device_num(int, acc_device_t);
int acc_get_device_num(acc_device_t);
size_t acc_get_property(int, acc_device_t, acc_device_property_t);
const char* acc_get_property_string(int, acc_device_t, acc_device_property_t);
void acc_init(acc_device_t);
void acc_init_device(int, acc_device_t);
void acc_shutdown(acc_device_t);
void acc_shutdown_device(int, acc_device_t);
int acc_on_device(acc_device_t);

int acc_async_test(int);
int acc_async_test_device(int, int);
int acc_async_test_all(void);
int acc_async_test_all_device(int);
void acc_wait(int);
void acc_wait_device(int, int);
void acc_wait_async(int, int);
void acc_wait_device_async(int, int, int);
void acc_wait_all(void);
void acc_wait_all_device(int);
void acc_wait_all_async(int);
void acc_wait_all_device_async(int, int);
int acc_wait_any(int, int*);
int acc_get_default_async(void);
void acc_set_default_async(int);
void acc_async_wait(int);
void acc_async_wait_all(void);

void* acc_malloc(size_t);
void acc_free(void*);
void* acc_copyin(void*, size_t);
void* acc_create(void*, size_t);
void* acc_present_or_copyin(void*, size_t);
void* acc_present_or_create(void*, size_t);
void* acc_pcopyin(void*, size_t);
void* acc_pcreate(void*, size_t);
void acc_copyin_async(void*, size_t, int);
void acc_create_async(void*, size_t, int);
void acc_copyout(void*, size_t);
void acc_copyout_async(void*, size_t, int);
void acc_copyout_finalize(void*, size_t);
void acc_copyout_finalize_async(void*, size_t, int);
void acc_delete(void*, size_t);
void acc_delete_async(void*, size_t, int);
void acc_delete_finalize(void*, size_t);
void acc_delete_finalize_async(void*, size_t, int);
void acc_update_device(void*, size_t);
void acc_update_device_async(void*, size_t, int);
void acc_update_self(void*, size_t);
void acc_update_self_async(void*, size_t, int);
void acc_map_data(void*, void*, size_t);
void acc_unmap_data(void*);
void* acc_deviceptr(void*);
void* acc_hostptr(void*);
int acc_is_present(void*, size_t);
/* OpenCL's handles, not retained: the current device, its context, and the in-order queue of `async(queue)`. NULL if
 * the current device is the host. */
void* acc_get_current_opencl_device(void);
void* acc_get_current_opencl_context(void);
void* acc_get_opencl_queue(int queue);
/* As acc_map_data(), for memory of a buffer of the current device's context; the buffer must live until
 * acc_unmap_data(). The host's address may be one that the host cannot read, as in a symmetric heap. */
void acc_map_buffer(void* host, void* buffer, size_t offset, size_t bytes);
void acc_memcpy_to_device(void*, void*, size_t);
void acc_memcpy_to_device_async(void*, void*, size_t, int);
void acc_memcpy_from_device(void*, void*, size_t);
void acc_memcpy_from_device_async(void*, void*, size_t, int);
void acc_memcpy_device(void*, void*, size_t);
void acc_memcpy_device_async(void*, void*, size_t, int);
/* Host addresses, mapped on each of the two devices. */
void acc_memcpy_d2d(void* dest, void* source, size_t bytes, int dest_device, int source_device);
void acc_memcpy_d2d_async(void* dest, void* source, size_t bytes, int dest_device, int source_device, int queue);
/* As acc_memcpy_d2d(), in the order of both devices' queues. */
void acc_update_peer(void* dest, int to_device, const void* source, int from_device, size_t bytes);
void acc_attach(void**);
void acc_attach_async(void**, int);
void acc_detach(void**);
void acc_detach_async(void**, int);
void acc_detach_finalize(void**);
void acc_detach_finalize_async(void**, int);

#ifdef __cplusplus
}
#endif
#endif
