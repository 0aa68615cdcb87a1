// SPDX-License-Identifier: Apache-2.0
// Keeps who spawned whom by a stack in each thread.
#include "tasks/run_record.hpp"

#include <utility>

namespace causeway::tasks {

namespace {

thread_local std::uint32_t t_running = recorded_task::none;
thread_local std::int64_t t_others = 0; ///< time in tasks that ran within the running one

} // namespace

run_record::running::running(run_record& record, std::uint32_t which)
    : m_record(record), m_which(which), m_before(t_running), m_begin(record.now()), m_others_before(t_others) {
    t_running = which;
    t_others = 0;
}

void run_record::running::ended(unsigned worker, came_by way) {
    const auto end = m_record.now();
    {
        const std::lock_guard lock(m_record.m_mutex);
        auto& its = m_record.m_tasks[m_which];
        its.begin = m_begin;
        its.end = end;
        its.others = t_others;
        its.worker = worker;
        its.way = way;
    }
    t_running = m_before;
    t_others = m_others_before + (end - m_begin);
}

std::uint32_t run_record::spawned(const void* group, std::span<const region> regions) {
    const std::lock_guard lock(m_mutex);
    recorded_task made;
    made.parent = t_running;
    made.group = m_groups.emplace(group, static_cast<std::uint32_t>(m_groups.size())).first->second;
    made.regions.assign(regions.begin(), regions.end());
    m_tasks.push_back(std::move(made));
    return static_cast<std::uint32_t>(m_tasks.size() - 1);
}

void run_record::ready(std::uint32_t which, std::uint32_t from) {
    const auto time = now();
    const std::lock_guard lock(m_mutex);
    m_tasks[which].ready = time;
    m_tasks[which].from = from;
}

std::vector<recorded_task> run_record::tasks() const {
    const std::lock_guard lock(m_mutex);
    return m_tasks;
}

} // namespace causeway::tasks
