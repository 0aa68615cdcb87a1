// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "acc/device.hpp"

namespace causeway::acc {

/// What is mapped at an address on one device.
struct peer_end {
    device& on;
    void* address;
};

/// Copies from what is mapped on the one device to what is mapped on the other. Comes after the earlier commands in
/// queue `number` of both devices and holds back the later ones, but not other copies, as long as they touch other
/// bytes.
void copy_between(peer_end to, peer_end from, std::size_t bytes, const char* name, long number, bool wait);

} // namespace causeway::acc
