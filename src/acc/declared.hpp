// SPDX-License-Identifier: Apache-2.0
// Variables of `declare` directives.
#pragma once
#include "acc/device.hpp"

namespace causeway::acc {

/// Maps the variables of `declare` that the device, which is locked, does not have yet.
void map_declared(device& on);

} // namespace causeway::acc
