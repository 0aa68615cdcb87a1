// SPDX-License-Identifier: Apache-2.0
// causeway/simd.h in C++.
#include "header_test.c"
