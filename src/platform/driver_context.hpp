// SPDX-License-Identifier: Apache-2.0
// One driver's part of a context, or one GPU's. Inside it the driver keeps memory coherent and knows all events.
#pragma once

#include "platform/device.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace causeway::platform {

struct driver_context {
    const driver* from = nullptr;
    unsigned index = 0; ///< in its context: driver contexts of this rank come first
    int rank = 0;       ///< in a cluster
    bool here = true;   ///< on this rank; if false, it has no driver objects
    /// True if it runs no commands, but answers queries about programs: all of the context's devices are on other
    /// ranks.
    bool for_queries = false;
    driver_object<cl_context> context;
    std::vector<_cl_device_id*> devices; ///< in the context's order
    /// Queue of the platform's own copies in and out of this driver context. Null unless the context has several.
    ref<_cl_command_queue> copies;
    /// Queue for the steps of collectives, out of order where the device can: a step may wait for anything. Also set
    /// for driver contexts of other ranks.
    ref<_cl_command_queue> steps;

    std::mutex reductions_mutex; // guards reductions
    /// Kernels that combine two buffers, by element type and operator.
    std::map<std::pair<cl_channel_type, cl_uint>, driver_object<cl_kernel>> reductions;

    [[nodiscard]] bool has(const _cl_device_id& device) const {
        return std::find(devices.begin(), devices.end(), &device) != devices.end();
    }
    [[nodiscard]] const cl_icd_dispatch& calls() const { return *from->calls; }
    [[nodiscard]] std::vector<cl_device_id> raw_devices() const {
        std::vector<cl_device_id> raws;
        raws.reserve(devices.size());
        for (const auto* device : devices) raws.push_back(device->raw);
        return raws;
    }
};

} // namespace causeway::platform
