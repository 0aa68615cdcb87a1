// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace support {

/// Writes the stack of every thread of this process to stderr, for a test that hangs: modules with names or offsets,
/// which addr2line turns into lines. Ends also if a thread does not answer.
void print_stacks();

} // namespace support
