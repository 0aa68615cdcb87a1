// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "acc/device.hpp"

namespace causeway::acc {

/// Copies what is mapped at `source` on the one device to what is mapped at `target` on the other. Comes after the
/// earlier commands of both devices' queues and holds back the later ones.
void copy_between(device& to, void* target, device& from, void* source, std::size_t bytes, const char* name, bool wait);

} // namespace causeway::acc
