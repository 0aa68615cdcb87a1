// SPDX-License-Identifier: Apache-2.0
// One context, and a queue for each device.
#include "cluster/device_group.hpp"

#include <CL/cl_cluster.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>

namespace cluster {

namespace {

std::vector<cl_device_id> at_most(std::size_t most, std::vector<cl_device_id> devices) {
    if (most > devices.size())
        throw std::invalid_argument("the platform has only " + std::to_string(devices.size()) + " devices");
    if (most != 0) devices.resize(most);
    return devices;
}

} // namespace

device_group::device_group(const std::string& platform_name, std::size_t most, attaching attached)
    : m_devices(at_most(most, apps::devices_of(platform_name))), m_attaching(attached),
      m_context(apps::create_context(m_devices)) {
    if (m_attaching == attaching::yes && causeway_cluster_function(m_devices[0], "clAttachBufferToDevice") == nullptr)
        throw std::invalid_argument("this platform has no clAttachBufferToDevice: leave out --attach");
    for (cl_device_id device : m_devices) m_queues.push_back(apps::create_in_order_queue(m_context.get(), device));
}

std::vector<share> device_group::shares_of(std::size_t units) const {
    if (units < size())
        throw std::invalid_argument("a problem of " + std::to_string(units) + " parts is too small for " +
                                    std::to_string(size()) + " devices");
    std::vector<share> shares;
    for (std::size_t i = 0; i < size(); ++i) {
        const std::size_t begin = units * i / size();
        shares.push_back({begin, units * (i + 1) / size() - begin});
    }
    return shares;
}

apps::buffer device_group::create_buffer(std::size_t device, std::size_t size_bytes) const {
    auto created = apps::create_buffer(m_context.get(), size_bytes);
    if (m_attaching == attaching::yes)
        apps::check(clAttachBufferToDevice(created.get(), m_devices[device]), "clAttachBufferToDevice");
    return created;
}

std::vector<apps::kernel> device_group::create_kernels(const char* source, const char* name) const {
    // The kernels hold their program.
    const bool on_gpus = std::ranges::all_of(
        m_devices, [](cl_device_id device) { return (apps::device_type(device) & CL_DEVICE_TYPE_GPU) != 0; });
    const auto program = apps::build_program(m_context.get(), m_devices, source, on_gpus ? "-D ON_GPUS" : "");
    std::vector<apps::kernel> kernels;
    for (std::size_t i = 0; i < size(); ++i) kernels.push_back(apps::create_kernel(program.get(), name));
    return kernels;
}

void device_group::run(std::size_t device, const apps::kernel& kernel, std::initializer_list<std::size_t> items,
                       std::initializer_list<std::size_t> group, cl_event* event) const {
    assert(items.size() == group.size());
    apps::check(clEnqueueNDRangeKernel(queue(device), kernel.get(), cl_uint(items.size()), nullptr, items.begin(),
                                       group.begin(), 0, nullptr, event),
                "clEnqueueNDRangeKernel");
}

void device_group::finish() const {
    // All devices are set going before the first is waited for.
    for (const auto& queue : m_queues) apps::check(clFlush(queue.get()), "clFlush");
    for (const auto& queue : m_queues) apps::check(clFinish(queue.get()), "clFinish");
}

} // namespace cluster
