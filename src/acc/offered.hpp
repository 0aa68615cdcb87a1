// SPDX-License-Identifier: Apache-2.0
// Functions of `routine`, for kernels of other sources.
#pragma once
#include <causeway/acc/runtime.h>

#include <vector>

namespace causeway::acc {

/// The functions that program `to` calls, and those that these call in turn. Ends the process if no source offers one.
std::vector<causeway_acc_routine*> offered(const causeway_acc_program& to);

} // namespace causeway::acc
