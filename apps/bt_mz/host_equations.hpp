// SPDX-License-Identifier: Apache-2.0
// equations.h as the host compiles it: points side by side.
#pragma once

// One text for C and OpenCL C: what it compares and converts is what they do.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include "bt_mz/equations.h"
#pragma GCC diagnostic pop
