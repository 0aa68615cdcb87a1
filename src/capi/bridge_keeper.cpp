// SPDX-License-Identifier: Apache-2.0
// Starts the vendor's other interfaces beside the program.
#include "capi/bridge_keeper.hpp"

#include "base/blocked_signals.hpp"
#include "capi/runtime.hpp"
#include "cl/calls.hpp"

#include <pthread.h>

#include <chrono>

namespace causeway::capi {

namespace {

enum class wish { automatic, off, host }; // of the option
constexpr std::size_t smallest = std::size_t{4} << 20; // of what goes through windows
/// The vendor's interfaces take about a second to start.
constexpr auto longest_wait = std::chrono::seconds(5);

} // namespace

void bridge_keeper::wanted(cl_device_id device, std::size_t bytes) noexcept {
    if (m_is_begun || bytes < smallest) return;
    const auto asked = static_cast<wish>(process_options()[option::bridge]);
    const auto facts = cl::facts_of(device);
    if (asked == wish::off) {
        say("the option CAUSEWAY_BRIDGE is off");
    } else if (asked == wish::host) {
        m_is_begun = true;
        m_process.use_bridge(bridge::make_host_bridge());
        say("host memory");
    } else if (!facts.host_memory && facts.uuid != bridge::device_uuid{}) {
        m_is_begun = true;
        begin(facts.uuid);
    } else {
        say("not wanted: the device's memory is the host's, or nothing names it");
    }
}

void bridge_keeper::await(cl_device_id device) {
    {
        const std::lock_guard lock(m_process.enqueue_mutex());
        wanted(device, smallest);
        if (!m_thread.joinable()) return;
    }
    (void)is_over_soon();
}

bool bridge_keeper::is_over_soon() const { return m_is_over.wait_for(longest_wait) == std::future_status::ready; }

void bridge_keeper::begin(const bridge::device_uuid& device) {
    say("is being started");
    const blocked_signals inherited;
    try {
        m_thread = std::thread([this, device] {
            try {
                auto made = bridge::make_nvidia_bridge();
                if (made->has(device)) made->start(device);
                say(made->name());
                m_process.use_bridge(std::move(made));
            } catch (const std::exception& error) {
                say(std::string("none: ") + error.what());
            }
            m_over.set_value();
        });
        pthread_setname_np(m_thread.native_handle(), "causeway-bridge");
    } catch (const std::system_error& refused) {
        say(std::string("none: no thread to start it: ") + refused.what());
    }
}

void bridge_keeper::say(const std::string& state) {
    const std::lock_guard lock(m_mutex);
    m_state = state;
}

std::string bridge_keeper::state() const {
    const std::lock_guard lock(m_mutex);
    return m_state;
}

void bridge_keeper::end() {
    if (!m_thread.joinable()) return;
    is_over_soon() ? m_thread.join() : m_thread.detach();
}

} // namespace causeway::capi
