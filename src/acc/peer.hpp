// SPDX-License-Identifier: Apache-2.0
// Copies between devices, for `update peer` and acc_memcpy_d2d.
#pragma once
#include "acc/device.hpp"

namespace causeway::acc {

/// What is mapped at an address on one device.
struct peer_end {
    device& on;
    void* address;
};

/// Copies between memory mapped on two devices. Ordered after the earlier commands in queue `number` of both devices
/// and before the later ones, except copies of other bytes. With `wait` it returns when the copy is over. `name` is the
/// variable's, for errors.
void copy_between(peer_end to, peer_end from, std::size_t bytes, const char* name, long number, bool wait);

} // namespace causeway::acc
