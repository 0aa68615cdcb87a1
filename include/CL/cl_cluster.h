/* SPDX-License-Identifier: Apache-2.0 */
/* What the OpenCL platform Causeway has beyond OpenCL. The functions are found at run time; see docs/platform.md. */
#ifndef CL_CLUSTER_H
#define CL_CLUSTER_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on `device` always has the latest contents of `buffer`: commands for it need not look where they are, and a rank
 * that has nothing to do with such a command need not even note it. Commands for other devices stay correct, and move the
 * contents there and back. CL_INVALID_MEM_OBJECT, CL_INVALID_DEVICE.
 *
 * From clGetExtensionFunctionAddressForPlatform(platform, "clAttachBufferToDevice"). */
typedef cl_int (CL_API_CALL *clAttachBufferToDevice_fn)(cl_mem buffer, cl_device_id device);

#ifdef __cplusplus
}
#endif

#endif
