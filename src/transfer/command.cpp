// SPDX-License-Identifier: Apache-2.0
// What other threads may ask of a command.
#include "transfer/command.hpp"

#include "transfer/engine.hpp"

#include <thread>

namespace causeway::transfer {

command::command(std::vector<std::unique_ptr<flow>> flows, std::shared_ptr<completion_listener> listener,
                 std::vector<std::unique_ptr<gate>> gates, std::vector<std::shared_ptr<command>> dependencies)
    : m_flows(std::move(flows)), m_gates(std::move(gates)), m_dependencies(std::move(dependencies)),
      m_listener(std::move(listener)) {
    if (m_flows.size() < 2) return;
    for (const auto& each : m_flows) each->goes_both_ways();
}

failure command::wait(std::chrono::nanoseconds patience) const {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!m_told && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    std::unique_lock lock(m_mutex);
    m_ended.wait(lock, [this] { return m_told.load(); });
    return m_report.error;
}

bool command::complete() const {
    const std::lock_guard lock(m_mutex);
    return m_report.status <= status::complete;
}

command_report command::report() const {
    const std::lock_guard lock(m_mutex);
    return m_report;
}

void command::flow_ready() {
    if (m_ready_listed || m_stage == stage::ended) return;
    m_ready_listed = true;
    m_engine->m_ready.push_back(shared_from_this());
}

void command::flow_yields() {
    if (m_ready_listed || m_stage == stage::ended) return;
    m_ready_listed = true;
    m_engine->m_next_turn.push_back(shared_from_this());
}

} // namespace causeway::transfer
