// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CL/cl.h>

namespace support {

/// Keeps an out-of-order queue of Intel's CPU runtime until all tests are over; others are left alone. That runtime
/// (2026.2) loses a thread for ever if the last reference to such a queue goes while its last command ends, which may
/// be after its event is complete: the thread that ends the command then waits for itself, and later commands have
/// none.
void keep_while_commands_end(cl_command_queue queue);

} // namespace support
