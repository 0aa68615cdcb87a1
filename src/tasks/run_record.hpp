// SPDX-License-Identifier: Apache-2.0
// What a pool did: tasks, their regions, when and where each of them ran. The simulator replays it.
#pragma once

#include "tasks/came_by.hpp"
#include "tasks/region.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace causeway::tasks {

struct recorded_task {
    std::uint32_t parent = none; ///< the task that spawned it
    std::uint32_t group = 0;
    std::vector<region> regions;
    std::int64_t begin = 0, end = 0; ///< nanoseconds since the record began
    std::int64_t others = 0;         ///< nanoseconds of these in which its worker ran other tasks while it waited
    unsigned worker = 0;
    std::int64_t ready = 0;         ///< nanoseconds; when its last dependence ended
    std::uint32_t from = no_worker; ///< the worker that noticed, and queued or dealt it
    came_by way = came_by::own_queue;
    static constexpr std::uint32_t none = ~0u;
};

/// Any thread. Costs some hundred nanoseconds per task.
class run_record {
  public:
    [[nodiscard]] std::int64_t now() const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - m_start).count();
    }
    /// While it lives, task `which` is the parent of what the calling thread spawns.
    class running {
      public:
        running(run_record& record, std::uint32_t which);
        running(const running&) = delete;
        running& operator=(const running&) = delete;
        /// The task `which` ran on this worker since this object was made.
        void ended(unsigned worker, came_by way);

      private:
        run_record& m_record;
        const std::uint32_t m_which, m_before;
        const std::int64_t m_begin, m_others_before;
    };

    /// Records a new task; returns its number.
    std::uint32_t spawned(const void* group, std::span<const region> regions);
    /// Task `which` is ready; worker `from` puts it into a queue.
    void ready(std::uint32_t which, std::uint32_t from);
    /// Call when no task is running.
    [[nodiscard]] std::vector<recorded_task> tasks() const;

  private:
    const std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    mutable std::mutex m_mutex; // guards what follows
    std::vector<recorded_task> m_tasks;
    std::unordered_map<const void*, std::uint32_t> m_groups; ///< by address, which a later group may reuse once the
                                                             ///< earlier one is over
};

} // namespace causeway::tasks
