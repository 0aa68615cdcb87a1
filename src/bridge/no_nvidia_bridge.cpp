// SPDX-License-Identifier: Apache-2.0
// Built where Vulkan's headers are missing.
#include "base/error.hpp"
#include "bridge/device_bridge.hpp"

namespace causeway::bridge {

std::unique_ptr<device_bridge> make_nvidia_bridge() {
    throw transfer_error(status::invalid_operation, "this library was built without Vulkan's headers (libvulkan-dev)");
}

} // namespace causeway::bridge
