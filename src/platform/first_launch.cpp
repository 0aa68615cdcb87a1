// SPDX-License-Identifier: Apache-2.0
// Turns by number of program, kernel and size, the same on each rank of the job.
#include "platform/first_launch.hpp"

#include "base/node_turns.hpp"
#include "platform/cluster.hpp"
#include "platform/queue.hpp"
#include "platform/scheduler.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <unistd.h>
#include <unordered_set>

namespace causeway::platform {

namespace {

using namespace std::chrono_literals;
/// What has the turn for longer waits for something else. It is the last one then that anybody waits for.
constexpr auto longest_turn = 10s;

struct known_launches {
    const node_turns turns{std::filesystem::temp_directory_path() / ("causeway-turns-" + std::to_string(::getuid()))};
    std::mutex mutex; // guards the rest
    std::unordered_set<std::uint64_t> seen;
    bool waits = true;
};

/// Never destroyed: drivers' threads give turns back while the process ends.
known_launches& known() {
    static auto& one = *new known_launches;
    return one;
}

void CL_CALLBACK is_running(cl_event raw, cl_int, void* data) {
    delete static_cast<std::shared_ptr<first_launch>*>(data);
    scheduler::of_process().called_back(raw);
}

} // namespace

std::shared_ptr<first_launch> first_launch::of(const _cl_kernel& kernel, const _cl_command_queue& queue,
                                               bool has_offset, const std::optional<std::array<size_t, 3>>& local,
                                               const std::array<size_t, 3>& global) {
    const auto& job = queue.context.job;
    const bool is_kept = job.turns.any_is_later && queue.where.here && queue.driver.quirks.keeps_builds;
    if (!is_kept || !job.asks_ranks()) return nullptr;
    std::uint64_t number = std::hash<std::string_view>{}(kernel.name);
    const auto mix = [&](std::uint64_t value) { number = (number ^ value ^ number >> 32) * 0x9e3779b97f4a7c15; };
    mix(static_cast<std::uint64_t>(job.first_process()));
    mix(kernel.program->made_by);
    mix(has_offset);
    for (const auto each : local ? *local : global) mix(each);
    auto& all = known();
    {
        const std::lock_guard lock(all.mutex);
        if (!all.waits || !all.seen.insert(number).second) return nullptr;
    }
    const watchdog::wait waits("another rank's compiler");
    if (all.turns.take(number, longest_turn)) return std::make_shared<first_launch>(number);
    const std::lock_guard lock(all.mutex);
    all.waits = false;
    return nullptr;
}

first_launch::~first_launch() { known().turns.give_back(m_number); }

void first_launch::keep_until_running(std::shared_ptr<first_launch> turn, cl_event raw) {
    auto held = std::make_unique<std::shared_ptr<first_launch>>(std::move(turn));
    // An event has to be held around its own callback, see scheduler::watch().
    (void)calls_of(raw).clRetainEvent(raw);
    if (calls_of(raw).clSetEventCallback(raw, CL_RUNNING, is_running, held.get()) == CL_SUCCESS)
        (void)held.release();
    else
        (void)calls_of(raw).clReleaseEvent(raw);
}

} // namespace causeway::platform
