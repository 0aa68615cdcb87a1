// SPDX-License-Identifier: Apache-2.0
// Buffers that the engine may work on where they lie, without a command of OpenCL.
#pragma once

#include "cl/handles.hpp"

#include <cstddef>

namespace causeway::endpoints {

/// Tests whether buffers of a device stay at the addresses where they were mapped: while nothing is mapped, host and
/// device must see each other's writes there. Never blocks. Engine's thread only.
class in_place_trial {
  public:
    /// Starts nothing yet. `queue` is in-order and for this alone, because other commands would wait behind its maps.
    in_place_trial(cl::context context, cl_device_id device, cl::queue queue);
    /// Unmaps first: OpenCL may never free a mapped buffer and its context.
    ~in_place_trial();
    in_place_trial(const in_place_trial&) = delete;
    in_place_trial& operator=(const in_place_trial&) = delete;

    /// Takes the next step of the trial if the device has finished the last one. True once the trial has passed.
    [[nodiscard]] bool passed();

    /// The host address of `buffer`, if the trial has passed and the address is known or can be found by a map; else
    /// null. Null also if cl::follow() was not called for `buffer`.
    [[nodiscard]] std::byte* address_of(cl_mem buffer);

  private:
    enum class stage { idle, device_wrote, device_copied, passed, failed };

    [[nodiscard]] bool is_over() const { return m_stage == stage::passed || m_stage == stage::failed; }
    void begin();
    void go_on();
    void unmap_first();
    [[nodiscard]] std::byte* shown(cl_mem buffer, std::size_t bytes);

    cl::context m_context;
    cl_device_id m_device;
    cl::queue m_queue;
    stage m_stage = stage::idle;
    cl::buffer m_first, m_second;
    std::byte* m_mapped = nullptr; // m_first's, while it is mapped
    std::byte* m_first_at = nullptr;
    std::byte* m_second_at = nullptr;
    cl::event m_running;
};

} // namespace causeway::endpoints
