// SPDX-License-Identifier: Apache-2.0
// Sections that go on through an array of pointers, `a[0:n][0:m]` of `double **a`: what the pointers point to lies row
// by row in one buffer, and in place of the pointers the device has how far from its start each row is.
#pragma once
#include "acc/device.hpp"

#include <causeway/acc/runtime.h>

namespace causeway::acc {

/// Maps the pointers and all rows, which stay as long as the pointers do.
mapping& map_rows(device& on, queue& in, const causeway_acc_data& one);
/// Ends the program if one of the rows is not mapped with its pointer.
void check_rows(device& on, const mapping& pointers, const causeway_acc_data& one);
void release_rows(device& on, queue& in, mapping& pointers);

/// Copy the clause's part of each row, or all of all rows if it names just the pointers.
void read_rows(device& on, queue& in, const mapping& pointers, const causeway_acc_data& one);
void write_rows(device& on, queue& in, const mapping& pointers, const causeway_acc_data& one);

} // namespace causeway::acc
