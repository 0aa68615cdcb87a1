// SPDX-License-Identifier: Apache-2.0
// Functions of `routine`, for kernels of other sources.
#pragma once
#include <causeway/acc/runtime.h>

#include <vector>

namespace causeway::acc {

/// The functions that a program needs, and those that they need. Ends the process if one is not offered.
std::vector<causeway_acc_routine*> offered(const causeway_acc_program& to);

} // namespace causeway::acc
