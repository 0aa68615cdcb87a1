// SPDX-License-Identifier: Apache-2.0
// An OpenCL device divided by memory node, and buffers in the distributed memory of causeway/tasks.h.
#ifndef CAUSEWAY_NODE_DEVICES_HPP
#define CAUSEWAY_NODE_DEVICES_HPP

#include <causeway/tasks.hpp>

#include <CL/cl.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace causeway {

/// One sub-device for each memory node of a device that can be divided so; else the device itself. Release each by
/// clReleaseDevice(), which does nothing to whole devices.
inline std::vector<cl_device_id> devices_of_nodes(cl_device_id device) {
    const cl_device_partition_property by_node[] = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                                    CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0};
    cl_uint count = 0;
    if (clCreateSubDevices(device, by_node, 0, nullptr, &count) != CL_SUCCESS || count < 2) return {device};
    std::vector<cl_device_id> parts(count);
    if (clCreateSubDevices(device, by_node, count, parts.data(), nullptr) != CL_SUCCESS) return {device};
    return parts;
}

/// Owns a context of the parts and a queue for each. Any thread may call. Destroy a buffer before its node_devices.
class node_devices {
  public:
    /// Where an address lies; negative if that is not known.
    using node_function = int (*)(const void*);

    explicit node_devices(cl_device_id device, node_function node_of = causeway_node_of_address)
        : node_devices(devices_of_nodes(device), node_of) {}
    /// `parts`: the device of each node, which this releases. Throws std::runtime_error with the call that failed.
    explicit node_devices(std::vector<cl_device_id> parts, node_function node_of = causeway_node_of_address)
        : m_parts(std::move(parts)), m_node_of(node_of), m_chosen(new std::atomic<std::uint64_t>[m_parts.size()]()) {
        cl_int code = CL_SUCCESS;
        m_context = clCreateContext(nullptr, static_cast<cl_uint>(m_parts.size()), m_parts.data(), nullptr, nullptr,
                                    &code);
        for (std::size_t each = 0; code == CL_SUCCESS && each < m_parts.size(); ++each) {
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // deprecated by OpenCL 2.0, but 1.2 has no other
#endif
            const auto queue = clCreateCommandQueue(m_context, m_parts[each], 0, &code);
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
            if (code == CL_SUCCESS) m_queues.push_back(queue);
        }
        if (code == CL_SUCCESS) return;
        release();
        throw std::runtime_error("a context and queues for " + std::to_string(m_parts.size()) +
                                 " devices: " + std::to_string(code));
    }
    node_devices(const node_devices&) = delete;
    node_devices& operator=(const node_devices&) = delete;
    ~node_devices() { release(); }

    [[nodiscard]] std::size_t nodes() const { return m_parts.size(); }
    [[nodiscard]] cl_context context() const { return m_context; }
    /// The in-order queue of that node's part.
    [[nodiscard]] cl_command_queue queue(std::size_t node) const { return m_queues[node]; }

    /// A buffer in memory of causeway_malloc(), used in place.
    class buffer {
      public:
        buffer(node_devices& on, std::size_t bytes, causeway_distribution how, cl_mem_flags flags = CL_MEM_READ_WRITE)
            : m_bytes(bytes), m_memory(causeway_malloc(bytes, how)) {
            if (!m_memory) throw std::bad_alloc();
            cl_int code = CL_SUCCESS;
            m_buffer = clCreateBuffer(on.context(), flags | CL_MEM_USE_HOST_PTR, bytes, m_memory.get(), &code);
            if (code != CL_SUCCESS)
                throw std::runtime_error("a buffer of " + std::to_string(bytes) + " bytes: " + std::to_string(code));
        }
        buffer(const buffer&) = delete;
        buffer& operator=(const buffer&) = delete;
        ~buffer() {
            if (m_buffer) clReleaseMemObject(m_buffer);
        }
        [[nodiscard]] cl_mem get() const { return m_buffer; }
        /// The whole buffer as a region of a task. Host code accesses it as OpenCL demands: by commands, or mapped.
        [[nodiscard]] causeway_region region(causeway_region_access how) const {
            return {m_memory.get(), m_bytes, how, 0};
        }

      private:
        struct give_back {
            void operator()(void* memory) const { causeway_free(memory); }
        };
        std::size_t m_bytes;
        std::unique_ptr<void, give_back> m_memory;
        cl_mem m_buffer = nullptr;
    };

    /// The queue of the node that holds most of the regions, judged by a sample of their pages. Among equals, and where
    /// nothing is known, the queue that was chosen least often.
    [[nodiscard]] cl_command_queue queue_near(std::span<const causeway_region> regions) {
        std::vector<std::uint64_t> bytes(nodes());
        for (const auto& each : regions) {
            constexpr std::size_t most_looks = 16;
            const auto step = std::max<std::size_t>(4096, each.bytes / most_looks);
            for (std::size_t at = 0; at < each.bytes; at += step) {
                const int node = m_node_of(static_cast<const char*>(each.address) + at);
                if (node >= 0 && static_cast<std::size_t>(node) < bytes.size())
                    bytes[static_cast<std::size_t>(node)] += std::min(step, each.bytes - at);
            }
        }
        std::size_t best = 0;
        for (std::size_t node = 1; node < bytes.size(); ++node)
            if (bytes[node] > bytes[best] || (bytes[node] == bytes[best] && m_chosen[node] < m_chosen[best]))
                best = node;
        m_chosen[best].fetch_add(1, std::memory_order_relaxed);
        return m_queues[best];
    }

  private:
    void release() {
        for (const auto each : m_queues) clReleaseCommandQueue(each);
        if (m_context) clReleaseContext(m_context);
        for (const auto each : m_parts) clReleaseDevice(each);
    }

    std::vector<cl_device_id> m_parts;
    node_function m_node_of;
    std::unique_ptr<std::atomic<std::uint64_t>[]> m_chosen; ///< by node: how often queue_near() chose it
    cl_context m_context = nullptr;
    std::vector<cl_command_queue> m_queues;
};

} // namespace causeway

#endif
