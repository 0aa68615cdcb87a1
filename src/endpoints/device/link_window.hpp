// SPDX-License-Identifier: Apache-2.0
// Moves blocks between the buffers of one context and the windows of its device.
#pragma once

#include "bridge/windows.hpp"
#include "cl/external_memory.hpp"
#include "endpoints/device/bridge_watch.hpp"
#include "endpoints/device/copy_watch.hpp"
#include "endpoints/device/device_windows.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace causeway::endpoints {

/// A range of the program's buffer.
struct buffer_range {
    cl::buffer buffer;
    std::size_t offset = 0;
    const std::byte* home = nullptr; ///< its address in a window, if the buffer was made in one
};

/// OpenCL copies between the program's buffers and windows of the same device. These copies have queues of their own,
/// so that none waits for what goes through the host. The bridge copies from windows of other devices. Engine's thread
/// only.
class link_window {
  public:
    link_window(const options& settings, const monotonic_clock& clock, bridge_watch& bridge, copy_watch& copies,
                std::shared_ptr<device_windows> shared, cl::context context, cl_device_id device);
    ~link_window();

    /// Whether the device can have windows at all.
    [[nodiscard]] static bool possible(const bridge::windows& windows, cl_device_id device);

    /// The window in which outgoing blocks wait for the bridge. No block may be larger than this window. It lives while
    /// the caller holds the result. Null if it cannot be made now.
    [[nodiscard]] std::shared_ptr<bridge::known_window> departures();

    /// Whether copies on the device wait for kernels now, judged by how long copies take. OpenCL's copies within a
    /// device run on the same engine as kernels (NVIDIA driver 580: 1 MiB takes 14 us, or 4.3 ms beside a kernel of 4.9
    /// ms). Copies through the host run on copy engines, and are then faster.
    [[nodiscard]] bool is_crowded() const { return m_clock.now() < m_crowded_until; }

    /// Memory for incoming blocks; none if it cannot be made.
    [[nodiscard]] transfer::device_memory arrivals();
    /// Whether a block of this device can be brought to `window`.
    [[nodiscard]] bool can_fill(const bridge::known_window& window) const;

    /// Copies bytes of a buffer into `block` of another device's `window`: to departures(), then over the bridge.
    void fill(const std::shared_ptr<bridge::known_window>& window, const buffer_range& from,
              transfer::block_reference block, transfer::step& done);
    /// Brings a block that has arrived in `window` into a buffer.
    void empty(const std::shared_ptr<bridge::known_window>& window, transfer::block_reference block,
               const buffer_range& to, transfer::step& done);

    /// Releases imports of windows that are gone.
    void trim();

  private:
    class departure;
    class timed_copy;

    /// `window` as a buffer of this context, on this device. Throws transfer_error.
    [[nodiscard]] const cl::buffer& import(const std::shared_ptr<bridge::known_window>& window);
    /// Whether import() succeeds. A driver that refuses is not asked again for a while.
    [[nodiscard]] bool imports(const std::shared_ptr<bridge::known_window>& window);
    /// Whether a window would be of use: none is made while the driver refuses to import any.
    [[nodiscard]] bool may_import() const;
    enum class direction { in, out };
    [[nodiscard]] const cl::queue& queue(direction which);
    /// Copies between a buffer and a window; `window` is the one of `from` and `to` that is the window.
    void copy(direction which, const cl::buffer& window, const cl::buffer& from, std::size_t from_offset,
              const cl::buffer& to, std::size_t to_offset, std::size_t bytes, const char* what, transfer::step& done);
    void copied(timed_copy& which, std::size_t bytes, time_point begun, bool is_judged);
    void judge(std::size_t bytes, time_point begun);
    void forget(const timed_copy& which);
    void departed(departure& which);
    /// Whether link_window has copied to or from `buffer` before.
    [[nodiscard]] bool is_known(cl_mem buffer);

    const options& m_options;
    const monotonic_clock& m_clock;
    bridge_watch& m_bridge;
    copy_watch& m_copies;
    std::shared_ptr<device_windows> m_shared;
    cl::context m_context;
    cl_device_id m_device;
    bridge::device_uuid m_uuid;
    cl::external_memory m_external;
    cl::queue m_queues[2]; // by direction; made when they are needed
    std::vector<std::unique_ptr<departure>> m_departures;
    std::vector<std::unique_ptr<timed_copy>> m_copying;
    unsigned m_slow_in_a_row = 0; // slow copies, each begun after the end of the one before
    time_point m_slow_at; // when the last of them was over
    time_point m_crowded_until;
    std::chrono::seconds m_crowded_time{0}; // how long links were avoided the last time
    time_point m_next_import;
    std::deque<cl_mem> m_known_buffers; // those copied last
    struct imported {
        std::weak_ptr<bridge::known_window> window;
        cl::buffer buffer;
    };
    std::map<std::uint64_t, imported> m_imports; // by key
};

} // namespace causeway::endpoints
