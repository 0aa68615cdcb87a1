// SPDX-License-Identifier: Apache-2.0
// Counts the library's calls and picks the ones that fail.
#include "faults/fault_points.hpp"

#include "faults/point_lists.hpp"

#include <link.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace faults {

namespace {

std::atomic<bool> armed{false};
std::atomic<fault_point*> chosen{nullptr};
std::atomic<unsigned> chosen_call{0};
std::atomic<unsigned> failing_calls{1};
std::atomic<bool> hit{false};
std::atomic<unsigned> pretending{0}, pretending_platform{0};
std::mutex deceived_mutex;
std::set<cl_device_id> deceived; // under deceived_mutex

enum class hold { none, ready, wanted, there };
std::atomic<bool> holds{false}; // for a quick look
std::mutex hold_mutex;          // guards holding, hold_maker
std::condition_variable hold_changed;
hold holding = hold::none;
std::thread::id hold_maker;
std::atomic<const fault_point*> held_point{nullptr};
bool has_held = false; // guarded by hold_mutex
constexpr auto longest_hold = std::chrono::seconds(60);

struct address_range {
    std::uintptr_t begin = 0, end = 0;
};

int find_library(dl_phdr_info* object, std::size_t, void* result) {
    if (std::strstr(object->dlpi_name, "libcauseway") == nullptr) return 0;
    auto& range = *static_cast<address_range*>(result);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        range.begin = object->dlpi_addr + part.p_vaddr;
        range.end = range.begin + part.p_memsz;
    }
    return 1;
}

const address_range& library_code() {
    static const address_range found = [] {
        address_range range;
        dl_iterate_phdr(find_library, &range);
        if (range.begin == 0) throw std::runtime_error("libcauseway is not a shared library of this process");
        return range;
    }();
    return found;
}

bool is_library(const void* caller) {
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    return address >= library_code().begin && address < library_code().end;
}

} // namespace

bool fault_point::fails(const void* caller) {
    if (held_point == this && is_library(caller)) held_calls::hold_if_wanted(*this);
    if (!armed || !is_library(caller)) return false;
    const auto number = calls.fetch_add(1);
    if (chosen != this) return false;
    const bool now = number >= chosen_call && number - chosen_call < failing_calls;
    if (now) hit = true;
    return now;
}

bool fault_point::fails_with_errno(const void* caller) {
    const int before = errno;
    const bool now = fails(caller);
    errno = now ? code : before;
    return now;
}

const std::vector<fault_point*>& all_points() {
    static const auto all = [] {
        std::vector<fault_point*> made;
        for (const auto& list : {opencl_points(), opencl_kernel_points(), mpi_points(), system_points()})
            made.insert(made.end(), list.begin(), list.end());
        return made;
    }();
    return all;
}

fault_point& point(std::string_view name) {
    for (auto* const each : all_points())
        if (each->name == name) return *each;
    throw std::runtime_error("no fault point " + std::string(name));
}

void arm(fault_point* which, unsigned nth, unsigned count) {
    static_cast<void>(library_code());
    for (auto* const each : all_points()) each->calls = 0;
    hit = false;
    chosen = which;
    chosen_call = nth;
    failing_calls = count;
    armed = true;
}

bool disarm() {
    armed = false;
    return hit;
}

pretended_discrete_devices::pretended_discrete_devices(platform of) : m_of(of) {
    static_cast<void>(library_code());
    ++pretending;
    if (of == platform::another) ++pretending_platform;
}

pretended_discrete_devices::~pretended_discrete_devices() {
    --pretending;
    if (m_of == platform::another) --pretending_platform;
}

bool pretended_discrete_devices::deceive(cl_device_id device, const void* caller) {
    if (pretending == 0 || !is_library(caller)) return false;
    const std::lock_guard lock(deceived_mutex);
    deceived.insert(device);
    return true;
}
bool pretended_discrete_devices::has_deceived(cl_device_id device) {
    const std::lock_guard lock(deceived_mutex);
    return deceived.contains(device);
}
bool pretended_discrete_devices::deceive_about_platform(const void* caller) {
    return pretending_platform > 0 && is_library(caller);
}

held_up_engine::held_up_engine() {
    static_cast<void>(library_code());
    const std::lock_guard lock(hold_mutex);
    holding = hold::ready;
    hold_maker = std::this_thread::get_id();
    holds = true;
}

held_up_engine::~held_up_engine() {
    const std::lock_guard lock(hold_mutex);
    holds = false;
    holding = hold::none;
    hold_changed.notify_all();
}

bool held_up_engine::was_held() const {
    const std::lock_guard lock(hold_mutex);
    return holding == hold::there;
}

void held_up_engine::platform_is_asked_for(const void* caller) {
    if (!holds || !is_library(caller)) return;
    std::unique_lock lock(hold_mutex);
    if (holding != hold::ready || std::this_thread::get_id() != hold_maker) return;
    holding = hold::wanted;
    hold_changed.wait_for(lock, longest_hold, [] { return holding != hold::wanted; });
}

void held_up_engine::state_is_asked_for(const void* caller) {
    if (!holds || !is_library(caller)) return;
    std::unique_lock lock(hold_mutex);
    if (holding != hold::wanted || std::this_thread::get_id() == hold_maker) return;
    holding = hold::there;
    hold_changed.notify_all();
    hold_changed.wait_for(lock, longest_hold, [] { return holding == hold::none; });
}

held_calls::held_calls(fault_point& which) {
    static_cast<void>(library_code());
    const std::lock_guard lock(hold_mutex);
    has_held = false;
    held_point = &which;
}

held_calls::~held_calls() {
    const std::lock_guard lock(hold_mutex);
    held_point = nullptr;
    hold_changed.notify_all();
}

bool held_calls::were_held() const {
    const std::lock_guard lock(hold_mutex);
    return has_held;
}

void held_calls::hold_if_wanted(const fault_point& called) {
    std::unique_lock lock(hold_mutex);
    if (held_point != &called) return;
    has_held = true;
    hold_changed.wait_for(lock, longest_hold, [&] { return held_point != &called; });
}

} // namespace faults
