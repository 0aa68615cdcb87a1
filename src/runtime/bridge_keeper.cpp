// SPDX-License-Identifier: Apache-2.0
// Starts the vendor's other interfaces beside the program.
#include "runtime/bridge_keeper.hpp"

#include "base/blocked_signals.hpp"
#include "base/cache_file.hpp"
#include "bridge/trial.hpp"
#include "runtime/runtime.hpp"
#include "cl/calls.hpp"
#include "transfer/tuner/figures_file.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

namespace causeway::core {

namespace {

enum class wish { automatic, off, host }; // of the option
/// The vendor's interfaces take about a second to start, and that twice if they are tried first.
constexpr auto longest_wait = std::chrono::seconds(5);
constexpr auto longest_trial = std::chrono::seconds(10);
/// What a driver has begun cannot be broken off; cold, from a slow disk, it takes much longer.
constexpr auto longest_end = std::chrono::seconds(30);

/// In the folder "causeway" beside libcauseway; the platform lies in that.
std::string trial_program() {
    Dl_info own{};
    if (::dladdr(reinterpret_cast<const void*>(&trial_program), &own) == 0 || own.dli_fname == nullptr) return "";
    auto folder = std::filesystem::path(own.dli_fname).parent_path();
    if (folder.filename() != "causeway") folder /= "causeway";
    return (folder / "try-links").string();
}

/// As the trial sees them. Not in a program's thread, where Causeway's own platform counts the calls.
std::vector<bridge::device_uuid> devices_of(cl_platform_id platform) {
    std::vector<bridge::device_uuid> seen;
    cl_device_id all[64];
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 64, all, &count) != CL_SUCCESS) return seen;
    for (cl_uint i = 0; i < std::min<cl_uint>(count, 64); ++i) seen.push_back(cl::facts_of(all[i]).uuid);
    return seen;
}

} // namespace

void bridge_keeper::wanted(std::span<const cl_device_id> devices, std::size_t bytes) noexcept {
    if (m_is_begun || bytes < transfer::smallest_linked) return;
    const auto asked = static_cast<wish>(process_options()[option::bridge]);
    if (asked == wish::off) {
        say("none: the option CAUSEWAY_BRIDGE is off");
    } else if (asked == wish::host) {
        m_is_begun = true;
        m_process.use_bridge(bridge::make_host_bridge());
        say("host memory");
    } else {
        std::vector<bridge::device_uuid> cards;
        cl::device_facts last;
        for (auto* const device : devices) {
            const auto facts = cl::facts_of(device);
            if (facts.host_memory) {
                say("none: the device's memory is the host's");
            } else if (facts.uuid == bridge::device_uuid{}) {
                say("none: the driver does not tell which device it is (cl_khr_device_uuid)");
            } else {
                cards.push_back(facts.uuid);
                last = facts;
            }
        }
        if (cards.empty()) return;
        m_is_begun = true;
        begin(std::move(cards), last);
    }
}

void bridge_keeper::await(cl_device_id device) {
    std::shared_future<void> over;
    {
        const std::lock_guard lock(m_process.enqueue_mutex());
        wanted({&device, 1}, transfer::smallest_linked);
        if (!m_thread.joinable() || m_is_late) return;
        over = m_is_over;
    }
    const bool is_late = over.wait_for(longest_trial + longest_wait) != std::future_status::ready;
    const std::lock_guard lock(m_process.enqueue_mutex());
    m_is_late = m_is_late || is_late;
}

void bridge_keeper::begin(std::vector<bridge::device_uuid> devices, const cl::device_facts& one) {
    say("is being started");
    const blocked_signals inherited;
    auto over = std::make_shared<std::promise<void>>();
    m_is_over = over->get_future().share();
    m_ending = std::stop_source();
    try {
        m_thread = std::thread([this, over, devices = std::move(devices), one, ending = m_ending.get_token()] {
            try {
                const bridge::trial first(trial_program(), cache_file("links.json"));
                const auto why_not = first.run(
                    {std::string(one.identity), transfer::machine_digits(), devices_of(one.platform)}, longest_trial,
                    ending);
                if (!why_not.empty()) throw transfer_error(status::invalid_operation, why_not);
                const auto go_on = [&] {
                    if (ending.stop_requested()) throw transfer_error(status::cancelled, "the process is ending");
                };
                go_on();
                auto made = bridge::make_nvidia_bridge();
                runtime::exit_begins_before_others_end();
                std::string refused;
                std::size_t started = 0;
                for (const auto& device : devices) {
                    go_on();
                    if (!made->has(device)) continue;
                    try {
                        made->start(device);
                        ++started;
                    } catch (const transfer_error& error) {
                        refused = error.what(); // the others need not do without
                    }
                }
                // Starting has loaded more of the driver, which ends before what was registered until now.
                runtime::exit_begins_before_others_end();
                if (started == 0 && !refused.empty()) throw transfer_error(status::out_of_resources, refused);
                say(made->name());
                m_process.use_bridge(std::move(made));
            } catch (const std::exception& error) {
                say(std::string("none: ") + error.what());
                m_was_stopped = ending.stop_requested();
            }
            over->set_value();
        });
        pthread_setname_np(m_thread.native_handle(), "causeway-bridge");
    } catch (const std::system_error& refused) {
        say(std::string("none: no thread to start it: ") + refused.what());
    }
}

void bridge_keeper::say(const std::string& state) {
    const std::lock_guard lock(m_mutex);
    if (m_state == state) return;
    m_state = state;
    show();
    if (process_options()[option::explain] != 0) tell_user("direct links between devices: " + state);
}

void bridge_keeper::tell(const std::string& why, bridge::given_up how_long) {
    const std::lock_guard lock(m_mutex);
    if (m_is_over_for_good) return;
    if (how_long == bridge::given_up::for_good) {
        m_is_over_for_good = true;
        m_state = "none any more: " + why;
        m_reason.clear();
        tell_user("direct links between devices are given up, transfers go through the host from now on: " + why);
    } else {
        m_reason = why;
        if (process_options()[option::explain] != 0) tell_user(why);
    }
    show();
}

void bridge_keeper::show() const {
    if (auto* const timeline = m_process.timeline()) timeline->know_links(text());
}

std::string bridge_keeper::text() const { return m_reason.empty() ? m_state : m_state + "; " + m_reason; }

std::string bridge_keeper::state() const {
    const std::lock_guard lock(m_mutex);
    return text();
}

void bridge_keeper::end() {
    std::thread ending;
    std::shared_future<void> over;
    {
        const std::lock_guard lock(m_process.enqueue_mutex());
        if (!m_is_over.valid()) return;
        m_ending.request_stop();
        ending = std::move(m_thread);
        over = m_is_over;
    }
    // Also for whoever comes second, while the first one waits.
    const bool is_over = over.wait_for(longest_end) == std::future_status::ready;
    if (!ending.joinable()) return;
    if (!is_over) {
        ending.detach();
        return;
    }
    ending.join();
    const std::lock_guard lock(m_process.enqueue_mutex());
    if (std::exchange(m_was_stopped, false)) m_is_begun = false;
}

} // namespace causeway::core
