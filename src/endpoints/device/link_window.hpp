// SPDX-License-Identifier: Apache-2.0
// The windows of a device in one context: where blocks from other devices arrive, and where its own begin their way.
#pragma once

#include "bridge/windows.hpp"
#include "cl/external_memory.hpp"
#include "endpoints/device/address_ranges.hpp"
#include "endpoints/device/bridge_watch.hpp"
#include "endpoints/device/copy_watch.hpp"
#include "transfer/endpoint.hpp"
#include "transfer/staging.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace causeway::endpoints {

/// A range of the program's buffer.
struct buffer_range {
    cl::buffer buffer;
    std::size_t offset = 0;
    const std::byte* home = nullptr; ///< where the range is, if the buffer lies in a window from the start
};

/// OpenCL copies between the program's buffers and windows of the same device; from a window of another device there is the
/// bridge. A queue is always in order, so that what is enqueued last is over last. Engine's thread only.
class link_window {
  public:
    link_window(const options& settings, const monotonic_clock& clock, bridge_watch& bridge, copy_watch& copies,
                cl::context context, cl_device_id device);
    ~link_window();

    /// Whether the device can have windows at all.
    [[nodiscard]] static bool possible(const bridge::windows& windows, cl_device_id device);

    /// Whether blocks can leave by the bridge; makes what they need.
    [[nodiscard]] bool can_depart();
    /// No block may be larger that is to do so.
    [[nodiscard]] std::size_t largest_departure() const;

    /// Whether copies on the device wait for kernels just now. OpenCL's copies within a device run where kernels do (NVIDIA
    /// driver 580: 1 MiB takes 14 us, and 4.3 ms beside a kernel of 4.9), those through the host on copy engines: a program
    /// that hides its transfers behind kernels is better off with these. Found out by how long copies take.
    [[nodiscard]] bool is_crowded() const { return m_clock.now() < m_crowded_until; }

    /// Memory for blocks that arrive; null allocator if there is none to be had.
    [[nodiscard]] transfer::device_memory arrivals();
    /// Whether a block of this device can be brought to `window`.
    [[nodiscard]] bool can_fill(const bridge::known_window& window) const;

    /// Brings bytes of a buffer into `block` of `window`, by commands in `queue` and over the bridge.
    void fill(const std::shared_ptr<bridge::known_window>& window, const cl::queue& queue, const buffer_range& from,
              std::span<std::byte> block, transfer::step& done);
    /// Brings a block that has arrived in `window` into a buffer.
    void empty(const std::shared_ptr<bridge::known_window>& window, const cl::queue& queue,
               std::span<const std::byte> block, const buffer_range& to, transfer::step& done);

  private:
    class departure;
    class timed_copy;
    class arrival_memory;

    /// `window` as a buffer of this context, on this device. Throws transfer_error.
    [[nodiscard]] const cl::buffer& import(const std::shared_ptr<bridge::known_window>& window);
    /// Between a buffer and a window, either way.
    void copy(const cl::queue& queue, const cl::buffer& window, const cl::buffer& from, std::size_t from_offset,
              const cl::buffer& to, std::size_t to_offset, std::size_t bytes, const char* what, transfer::step& done);
    void begin_departures();
    void copied(timed_copy& which, std::size_t bytes, time_point begun);
    void forget(const timed_copy& which);
    void departed(departure& which, std::byte* place, std::size_t bytes);

    const options& m_options;
    const monotonic_clock& m_clock;
    bridge_watch& m_bridge;
    copy_watch& m_copies;
    cl::context m_context;
    cl_device_id m_device;
    bridge::device_uuid m_uuid;
    cl::external_memory m_external;
    std::shared_ptr<bridge::known_window> m_out;  // where blocks of this device wait for the bridge
    std::optional<address_ranges> m_out_ranges;
    time_point m_next_departure; // to have it
    std::deque<departure*> m_waiting; // for room there
    std::vector<std::unique_ptr<departure>> m_departures;
    std::vector<std::unique_ptr<timed_copy>> m_copying;
    unsigned m_slow_in_a_row = 0; // copies, each of which began when the one before was over
    time_point m_slow_at;         // when the last of them was over
    time_point m_crowded_until;
    std::chrono::seconds m_crowded_time{0}; // the last time
    std::shared_ptr<arrival_memory> m_in;
    time_point m_next_try; // to have it
    struct imported {
        std::weak_ptr<bridge::known_window> window;
        cl::buffer buffer;
    };
    std::map<std::uint64_t, imported> m_imports; // by key; let go before the windows
    transfer::staging_pool m_pool; // of m_in
};

} // namespace causeway::endpoints
