// SPDX-License-Identifier: Apache-2.0
// OpenCL's types with every entry point that a loader's table can hold.
#pragma once

// The rest of the tree keeps to OpenCL 1.2; a platform's dispatch table has the slots of 3.0.
#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#ifndef CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_2_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#endif
// Use only names that all releases of OpenCL's headers have. An image's parent is cl_image_desc::buffer, because
// `mem_object` is in an unnamed union. An entry point's type is that of its slot in cl_icd_dispatch.
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
