// SPDX-License-Identifier: Apache-2.0
// The windows of a device, shared by all its contexts: blocks from other devices arrive there, and its own leave from
// there.
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

/// Made when they are wanted, within what the option `window` allows. Engine's thread only.
class device_windows {
  public:
    device_windows(const options& settings, const monotonic_clock& clock, bridge::windows& windows,
                   const bridge::device_uuid& device);
    ~device_windows();

    [[nodiscard]] const bridge::device_uuid& device() const { return m_device; }

    /// Where blocks wait for the bridge; null if there is none to be had now.
    [[nodiscard]] std::shared_ptr<bridge::known_window> departures();
    /// Calls `begin` with room for `bytes` in departures(), which must exist: now, or in serve() once others have given
    /// room back. While much is being copied there, it waits, so that blocks leave before more are enqueued.
    void when_room(std::size_t bytes, std::function<void(std::byte*)> begin);
    /// A block is there, or never will be.
    void is_there(std::size_t bytes) { m_entering -= bytes; }
    void give(std::byte* range, std::size_t bytes);
    /// Goes on with blocks that wait for room. True if some have it now.
    bool serve();
    [[nodiscard]] bool has_waiting() const { return !m_waiting.empty(); }

    /// Memory for blocks that arrive; none if there is none to be had now.
    [[nodiscard]] transfer::device_memory arrivals();

    /// For who wants to know why transfers take another way.
    void say_once(const std::string& why);
    void tell(const std::string& why) const { m_windows.tell(why); }

    /// Lets go of what nobody used for a while. True if something is left.
    bool trim(time_point now);

  private:
    class arrival_memory;

    /// Null if the device's memory is full or the option forbids it. Then nobody asks again for a while, because there
    /// are other ways.
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
    std::size_t m_entering = 0; // bytes
    time_point m_out_used, m_next_out;

    std::shared_ptr<arrival_memory> m_in;
    time_point m_in_used, m_next_in;
    std::string m_told; // why there was none, at last
    transfer::staging_pool m_pool; // of m_in
};

} // namespace causeway::endpoints
