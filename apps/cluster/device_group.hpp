// SPDX-License-Identifier: Apache-2.0
// Divides a program's work among all devices of a platform.
#pragma once

#include "common/opencl.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cluster {

/// What one device does of something that is counted in units.
struct share {
    std::size_t first, count;
};

/// Whether buffers are said to belong to their devices (clAttachBufferToDevice), where the platform knows of that.
enum class attaching { no, yes };

class device_group {
  public:
    /// Of the first platform whose name contains `platform_name`; `most` devices at most, 0 for all. Throws for a
    /// platform without clAttachBufferToDevice if buffers are to be attached.
    device_group(const std::string& platform_name, std::size_t most, attaching attached);

    [[nodiscard]] std::size_t size() const { return m_devices.size(); }
    [[nodiscard]] const std::vector<cl_device_id>& devices() const { return m_devices; }
    [[nodiscard]] cl_command_queue queue(std::size_t device) const { return m_queues[device].get(); }

    /// Parts of `units` that differ by one unit at most. Throws std::invalid_argument if there are fewer than devices.
    [[nodiscard]] std::vector<share> shares_of(std::size_t units) const;

    /// Memory that this device alone computes with.
    [[nodiscard]] apps::buffer create_buffer(std::size_t device, std::size_t size_bytes) const;
    /// The same kernel for each device, with arguments of its own. The source finds ON_GPUS defined if all are GPUs.
    [[nodiscard]] std::vector<apps::kernel> create_kernels(const char* source, const char* name) const;

    /// Starts to write to, or to read from, all of `count` elements. `host` must stay until finish().
    template <class Element> void write(std::size_t device, const apps::buffer& to, const Element* host,
                                        std::size_t count) const {
        apps::check(clEnqueueWriteBuffer(queue(device), to.get(), CL_FALSE, 0, count * sizeof(Element), host, 0,
                                         nullptr, nullptr),
                    "clEnqueueWriteBuffer");
    }
    template <class Element> void read(std::size_t device, const apps::buffer& from, Element* host,
                                       std::size_t count) const {
        apps::check(clEnqueueReadBuffer(queue(device), from.get(), CL_FALSE, 0, count * sizeof(Element), host, 0,
                                        nullptr, nullptr),
                    "clEnqueueReadBuffer");
    }
    void run(std::size_t device, const apps::kernel& kernel, std::initializer_list<std::size_t> items,
             std::initializer_list<std::size_t> group, cl_event* event = nullptr) const;
    /// Waits for all that was enqueued.
    void finish() const;

  private:
    std::vector<cl_device_id> m_devices;
    attaching m_attaching;
    apps::context m_context;
    std::vector<apps::queue> m_queues;
};

} // namespace cluster
