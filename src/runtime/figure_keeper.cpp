// SPDX-License-Identifier: Apache-2.0
// When devices are measured, and when figures are read and written.
#include "runtime/figure_keeper.hpp"

#include "base/blocked_signals.hpp"
#include "base/launch.hpp"
#include "runtime/measuring.hpp"
#include "runtime/runtime.hpp"
#include "cl/calls.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>

#include <pthread.h>

namespace causeway::core {

namespace {

using std::chrono::milliseconds;

/// A program that moves less gains nothing from figures.
constexpr std::size_t enough_transfers = 64, enough_bytes = std::size_t{64} << 20;
constexpr auto longest_end = milliseconds(5000);
constexpr auto first_look = milliseconds(2), longest_look = milliseconds(500);

/// Of the ranks of a node one measures by itself and writes: the others would measure each other.
bool is_first_of_node() { return launch::local_rank().value_or(0) == 0; }

} // namespace

figure_keeper::figure_keeper(runtime& process) : m_process(process), m_figures(process.engine().figures()) {
    if (m_figures.mode() == transfer::tuner_mode::off) return;
    std::string problem;
    m_figures.restore(m_file.load(m_figures.today(), problem));
    if (!problem.empty()) warn_once(problem);
}

void figure_keeper::require_automatic() const {
    if (m_figures.mode() != transfer::tuner_mode::automatic)
        throw transfer_error(status::invalid_operation, "the option tuner is not \"auto\": nothing is measured");
}

void figure_keeper::used(cl_context context, cl_device_id device, std::size_t bytes) noexcept {
    try {
        count(context, device, bytes);
    } catch (...) {
        // The transfer goes on all the same, by rules.
    }
}

void figure_keeper::count(cl_context context, cl_device_id device, std::size_t bytes) {
    const auto is_it = [device](const device_use& each) { return each.device == device; };
    auto found = std::find_if(m_devices.begin(), m_devices.end(), is_it);
    if (found == m_devices.end()) found = m_devices.insert(found, {device});
    if (found->is_settled || m_figures.mode() != transfer::tuner_mode::automatic) return;
    ++found->transfers;
    found->bytes += bytes;
    if (found->transfers < enough_transfers && found->bytes < enough_bytes) return;
    const auto resource = cl::facts_of(device).identity;
    const bool is_needed = is_first_of_node() && !resource.empty() &&
                           !m_figures.find(resource, transfer::operation::copy_in);
    found->is_settled = !is_needed || begin(context, device);
}

bool figure_keeper::begin(cl_context context, cl_device_id device) {
    const std::lock_guard lock(m_mutex);
    if (m_busy) return false; // one device at a time
    if (m_ending) return true;
    if (m_thread.joinable()) m_thread.join();
    const blocked_signals inherited;
    m_busy = true;
    try {
        m_thread = std::thread([this, shared = cl::context::share(context), device] {
            measure(shared.get(), device);
            const std::lock_guard done(m_mutex);
            m_busy = false;
            m_ended.notify_all();
        });
        pthread_setname_np(m_thread.native_handle(), "causeway-tuner");
    } catch (...) {
        m_busy = false; // without figures rules do
    }
    return true;
}

bool figure_keeper::wait_for_quiet() {
    auto pause = first_look;
    std::unique_lock lock(m_mutex);
    while (!m_ending && m_process.engine().active() > 0) {
        m_ended.wait_for(lock, pause, [this] { return m_ending; });
        pause = std::min(2 * pause, longest_look);
    }
    return !m_ending;
}

void figure_keeper::measure(cl_context context, cl_device_id device) {
    try {
        measuring stages(m_process, effort::in_passing, [this] { return wait_for_quiet(); });
        for (const auto& [what, model] : stages.device(context, device))
            m_figures.measured(cl::facts_of(device).identity, what, model);
        save();
    } catch (const transfer_error&) {
        // Rules do, and whatever is wrong shows in the program's own transfers.
    } catch (const std::bad_alloc&) {}
}

void figure_keeper::save() {
    if (m_figures.mode() != transfer::tuner_mode::automatic || !is_first_of_node() || !m_figures.take_changed()) return;
    const auto problem = m_file.save(m_figures.all(), m_figures.today());
    if (!problem.empty()) warn_once("figures are not kept: " + problem);
    const std::lock_guard lock(m_mutex);
    m_problem = problem;
}

std::string figure_keeper::problem() {
    const std::lock_guard lock(m_mutex);
    return m_problem;
}

void figure_keeper::give_up() {
    const std::lock_guard lock(m_mutex);
    m_ending = true;
    m_ended.notify_all();
}

void figure_keeper::end() {
    if (!m_thread.joinable()) return;
    std::unique_lock lock(m_mutex);
    const bool is_over = m_ended.wait_for(lock, longest_end, [this] { return !m_busy; });
    lock.unlock();
    is_over ? m_thread.join() : m_thread.detach();
}

} // namespace causeway::core
