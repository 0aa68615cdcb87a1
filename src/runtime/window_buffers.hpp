// SPDX-License-Identifier: Apache-2.0
// Buffers that lie in windows of their devices from the start.
#pragma once

#include "endpoints/device/device_endpoint.hpp"

#include <CL/cl.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace causeway::core {

/// Made by causeway_buffer_create(). Any thread.
class window_buffers {
  public:
    [[nodiscard]] static window_buffers& of_process();

    /// A new buffer; the caller owns its one reference. Waits for the bridge. It is an ordinary buffer if there is no
    /// bridge, or no window to be had. Throws transfer_error for arguments that clCreateBuffer() would refuse.
    [[nodiscard]] cl_mem create(cl_context context, cl_device_id device, cl_mem_flags flags, std::size_t bytes);

    /// Fills in the window, if location.buffer or the buffer that it is part of lies in one of location.device.
    void locate(endpoints::buffer_location& location) const;
    /// After locate(). Throws transfer_error if the buffer lies in a window of another device: NVIDIA's driver (580)
    /// ends the process when it copies such memory for this one.
    void check_device(const endpoints::buffer_location& location) const;

  private:
    struct entry {
        std::shared_ptr<bridge::known_window> window;
        cl_device_id device;
    };
    static void CL_CALLBACK released(cl_mem buffer, void* self);

    mutable std::mutex m_mutex; // guards m_entries
    std::map<cl_mem, entry> m_entries;
    std::atomic<std::size_t> m_count{0}; // of m_entries, so that programs without such buffers take no mutex
};

} // namespace causeway::core
