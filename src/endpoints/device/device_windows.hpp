// SPDX-License-Identifier: Apache-2.0
// The windows of a device, shared by all its contexts: blocks from other devices arrive there, and the device's own
// blocks leave from there.
#pragma once

#include "base/clock.hpp"
#include "base/options.hpp"
#include "bridge/windows.hpp"
#include "endpoints/device/address_ranges.hpp"
#include "transfer/endpoint.hpp"
#include "transfer/staging.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace causeway::endpoints {

/// Makes windows on demand, up to the option `window`. Engine's thread only.
class device_windows {
  public:
    device_windows(const options& settings, const monotonic_clock& clock, bridge::windows& windows,
                   const bridge::device_uuid& device);
    ~device_windows();

    [[nodiscard]] const bridge::device_uuid& device() const { return m_device; }

    /// The window in which outgoing blocks wait for the bridge; null if it cannot be made now.
    [[nodiscard]] std::shared_ptr<bridge::known_window> departures();
    /// Calls `begin` with a range of `bytes` in departures(), which must not be null. Does so within this call, or
    /// later in serve(): once there is room, and few bytes are still being copied to departures(), so that earlier
    /// blocks leave first.
    void when_room(std::size_t bytes, std::function<void(std::byte*)> begin);
    /// A block of `bytes` has been copied into its range, or its copy has failed.
    void is_there(std::size_t bytes) { m_entering -= bytes; }
    /// Gives a range of when_room() back.
    void give(std::byte* range, std::size_t bytes);
    /// Calls `begin` for blocks that waited and now have room. True if there was one.
    bool serve();
    [[nodiscard]] bool has_waiting() const { return !m_waiting.empty(); }

    /// Memory for incoming blocks; none if it cannot be made now.
    [[nodiscard]] transfer::device_memory arrivals();

    /// Reports why transfers take another way: say_once() a new reason only, tell() each time.
    void say_once(const std::string& why);
    void tell(const std::string& why) const { m_windows.tell(why); }

    /// Releases windows that nobody used for a while. True if something is left.
    bool trim(time_point now);

  private:
    class arrival_memory;

    /// A new window. Null if the device's memory is full or the option forbids it: then not tried before `next_try`,
    /// because transfers have other ways.
    [[nodiscard]] std::shared_ptr<bridge::known_window> make(std::size_t bytes, const char* what_for,
                                                             time_point& next_try);

    const options& m_options;
    const monotonic_clock& m_clock;
    bridge::windows& m_windows;
    bridge::device_uuid m_device;

    struct waiter {
        std::size_t bytes;
        std::function<void(std::byte*)> begin;
    };
    std::shared_ptr<bridge::known_window> m_out;
    std::optional<address_ranges> m_out_ranges;
    std::deque<waiter> m_waiting;
    std::size_t m_entering = 0; // bytes that are being copied into ranges
    time_point m_out_used, m_next_out;

    std::shared_ptr<arrival_memory> m_in;
    time_point m_in_used, m_next_in;
    std::string m_told; // the last reason reported
    transfer::staging_pool m_pool; // of m_in
};

} // namespace causeway::endpoints
