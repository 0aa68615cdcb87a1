// SPDX-License-Identifier: Apache-2.0
// Sections through an array of pointers, as `a[0:n][0:m]` of `double **a`. One buffer holds all rows. In place of each
// pointer the device has the offset of its row.
#pragma once
#include "acc/device.hpp"

#include <causeway/acc/runtime.h>

namespace causeway::acc {

/// Maps the pointers and all rows. The rows stay mapped as long as the pointers.
mapping& map_rows(device& on, queue& in, const causeway_acc_data& one);
/// Ends the program if one of the rows is not mapped with its pointer.
void check_rows(device& on, const mapping& pointers, const causeway_acc_data& one);
void release_rows(device& on, queue& in, mapping& pointers);

/// Copy the clause's part of each row, or whole rows if the clause names only the pointers.
void read_rows(device& on, queue& in, const mapping& pointers, const causeway_acc_data& one);
void write_rows(device& on, queue& in, const mapping& pointers, const causeway_acc_data& one);

} // namespace causeway::acc
