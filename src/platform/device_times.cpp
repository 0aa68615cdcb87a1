// SPDX-License-Identifier: Apache-2.0
// Gathers when commands ran, as drivers say, and adds up.
#include "platform/device_times.hpp"

#include "platform/cluster.hpp"
#include "platform/queue.hpp"
#include "platform/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>

namespace causeway::platform {

namespace {

using end_of_transfer = std::shared_ptr<std::atomic<std::chrono::nanoseconds::rep>>;

void CL_CALLBACK transfer_is_over(cl_event, cl_int, void* data) {
    const std::unique_ptr<end_of_transfer> end(static_cast<end_of_transfer*>(data));
    (*end)->store(observer::now().count());
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

std::optional<std::chrono::nanoseconds> profiled(cl_event raw, cl_profiling_info what) {
    cl_ulong time = 0;
    if (calls_of(raw).clGetEventProfilingInfo(raw, what, sizeof time, &time, nullptr) != CL_SUCCESS) return {};
    return std::chrono::nanoseconds(time);
}

} // namespace

device_times* device_times::of_process() {
    // Never destroyed: drivers may still call back.
    static device_times* const one = !cluster::of_process().is_alone() && settings()[option::stats] != 0
                                         ? new device_times
                                         : nullptr;
    return one;
}

// Drivers, which are loaded by now, end after what is registered later.
device_times::device_times() {
    std::atexit([] { of_process()->report(); });
}

void device_times::issued(const _cl_event& event) {
    auto what = sort::copy;
    switch (event.type) {
    case CL_COMMAND_NDRANGE_KERNEL:
    case CL_COMMAND_TASK:
    case CL_COMMAND_NATIVE_KERNEL: what = sort::kernel; break;
    case CL_COMMAND_MARKER:
    case CL_COMMAND_BARRIER: return;
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_WRITE_BUFFER_RECT:
    case CL_COMMAND_WRITE_IMAGE:
    case CL_COMMAND_UNMAP_MEM_OBJECT: what = sort::write; break;
    case CL_COMMAND_READ_BUFFER:
    case CL_COMMAND_READ_BUFFER_RECT:
    case CL_COMMAND_READ_IMAGE:
    case CL_COMMAND_MAP_BUFFER:
    case CL_COMMAND_MAP_IMAGE: what = sort::read; break;
    default: break;
    }
    const bool is_programs = event.queue->held_context.get() != nullptr;
    if (!is_programs && what != sort::kernel) what = sort::move;
    const auto* device = event.queue->device.get();
    while (device->parent) device = device->parent.get();
    auto* const raw = event.raw();
    running made{driver_object<cl_event>(raw), device, what, now(), {}};
    (void)calls_of(raw).clRetainEvent(raw);
    if (event.where == nullptr) {
        made.over = std::make_shared<std::atomic<time::rep>>(0);
        auto* const held = new end_of_transfer(made.over);
        if (calls_of(raw).clSetEventCallback(raw, CL_COMPLETE, transfer_is_over, held) != CL_SUCCESS) delete held;
    }
    const std::lock_guard lock(m_mutex);
    m_running.push_back(std::move(made));
}

bool device_times::has_settled(const running& command) {
    if (command.over) {
        const time end(command.over->load());
        if (end == time::zero()) return false;
        m_spans.push_back({command.device, command.what, command.issued, end});
        return true;
    }
    const auto queued = profiled(command.raw.raw(), CL_PROFILING_COMMAND_QUEUED);
    const auto begin = profiled(command.raw.raw(), CL_PROFILING_COMMAND_START);
    const auto end = profiled(command.raw.raw(), CL_PROFILING_COMMAND_END);
    if (!queued || !begin || !end || *end < *begin) return false;
    // Devices have clocks of their own; a command was queued at a time that the host knows. Intel's runtime (2026.2)
    // has some that were queued at 0.
    const auto waited = *queued > time::zero() && *begin >= *queued ? *begin - *queued : time::zero();
    m_spans.push_back(
        {command.device, command.what, command.issued + waited, command.issued + waited + (*end - *begin)});
    return true;
}

void device_times::settle() {
    // Let go of without the lock: what an event holds may call the program. And a round later: a driver may still be on
    // its way out of the call that has said when the transfer ended.
    std::vector<running> over;
    const std::lock_guard lock(m_mutex);
    over.swap(m_over);
    const auto first_over = std::stable_partition(m_running.begin(), m_running.end(),
                                                  [this](const running& one) { return !has_settled(one); });
    m_over.assign(std::make_move_iterator(first_over), std::make_move_iterator(m_running.end()));
    m_running.erase(first_over, m_running.end());
}

device_times::breakdown device_times::break_down(const _cl_device_id& device) const {
    struct change {
        time at;
        sort what;
        int by;
    };
    std::vector<change> changes;
    for (const auto& one : m_spans) {
        if (one.device != &device) continue;
        changes.push_back({one.begin, one.what, 1});
        changes.push_back({one.end, one.what, -1});
    }
    std::sort(changes.begin(), changes.end(), [](const change& a, const change& b) { return a.at < b.at; });
    breakdown total;
    std::array<int, sorts> active{};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (i > 0) {
            const auto lasted = changes[i].at - changes[i - 1].at;
            const auto is_active = [](int count) { return count > 0; };
            const auto first = std::find_if(active.begin(), active.end(), is_active);
            if (first == active.begin() && std::any_of(active.begin() + 1, active.end() - 1, is_active))
                total.beside += lasted;
            else if (first == active.end())
                total.idle += lasted;
            else
                total.alone[static_cast<std::size_t>(first - active.begin())] += lasted;
        }
        active[static_cast<std::size_t>(changes[i].what)] += changes[i].by;
    }
    return total;
}

void device_times::report() {
    const std::lock_guard lock(m_mutex);
    for (const auto& command : m_running)
        if (command.over) (void)has_settled(command); // without its driver
    const auto& job = cluster::of_process();
    const auto all = all_devices();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto of = break_down(*all[i]);
        auto whole = of.beside + of.idle;
        for (const auto part : of.alone) whole += part;
        if (whole == time::zero()) continue;
        std::fprintf(stderr,
                     "causeway: rank %d of %d, device %zu: %.6f s: %.6f s kernels, %.6f s writes, %.6f s copies, "
                     "%.6f s reads, %.6f s kernels beside these, %.6f s moves alone, %.6f s idle\n",
                     job.rank(), job.ranks(), i, seconds(whole), seconds(of.alone[0]), seconds(of.alone[1]),
                     seconds(of.alone[2]), seconds(of.alone[3]), seconds(of.beside), seconds(of.alone[4]),
                     seconds(of.idle));
    }
}

} // namespace causeway::platform
