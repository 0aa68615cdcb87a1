// SPDX-License-Identifier: Apache-2.0
// equations.h as the host compiles it: points side by side.
#pragma once

// Shared by C and OpenCL C, so it compares and converts as both languages do: no warnings about that.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include "bt_mz/equations.h"
#pragma GCC diagnostic pop
