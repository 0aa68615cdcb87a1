// SPDX-License-Identifier: Apache-2.0
// Buffers that the engine may work on where they lie, without a command of OpenCL.
#pragma once

#include "cl/handles.hpp"

#include <cstddef>

namespace causeway::endpoints {

/// Tries whether a device keeps its buffers at the addresses that maps have shown: while nothing is mapped, each side
/// must see what the other writes there. Never waits. Engine's thread only.
class in_place_trial {
  public:
    /// Does nothing yet. `queue` is in order and used by nobody else, because reads would wait behind the maps.
    in_place_trial(cl::context context, cl_device_id device, cl::queue queue);
    /// Ends the map first: OpenCL may keep a mapped buffer, and its context, for good.
    ~in_place_trial();
    in_place_trial(const in_place_trial&) = delete;
    in_place_trial& operator=(const in_place_trial&) = delete;

    /// Goes on with the trial if the device's last step is over. True once it has passed.
    [[nodiscard]] bool passed();

    /// Where `buffer` begins, if passed() and that is known or can be found out; else null, as for buffers that nobody
    /// follows.
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
