// SPDX-License-Identifier: Apache-2.0
// Hands tokens to the engine of the process.
#include "capi/token_transfer.hpp"

#include "capi/enqueue.hpp"
#include "capi/runtime.hpp"
#include "endpoints/host/host_endpoint.hpp"

namespace causeway::capi {

std::shared_ptr<transfer::command> token_transfer::make(std::unique_ptr<transfer::endpoint> other, direction way,
                                                        const token_transfer* before) {
    auto memory = endpoints::make_host_endpoint(m_memory.data());
    auto flows = way == direction::in ? one_flow(std::move(other), std::move(memory), m_memory.size())
                                      : one_flow(std::move(memory), std::move(other), m_memory.size());
    std::vector<std::shared_ptr<transfer::command>> dependencies;
    if (before != nullptr) dependencies.push_back(before->m_moving);
    m_listener = std::make_shared<listener>(m_bell);
    return std::make_shared<transfer::command>(std::move(flows), std::vector<std::unique_ptr<transfer::gate>>{},
                                               std::move(dependencies), m_listener);
}

void token_transfer::begin(std::uint64_t number, std::unique_ptr<transfer::endpoint> other, direction way,
                           const token_transfer* before) {
    auto& process = runtime::instance();
    const std::lock_guard lock(process.enqueue_mutex());
    process.require_running();
    m_number = number;
    m_moving = make(std::move(other), way, before);
    process.engine().submit(m_moving);
}

void token_transfer::begin_message(std::unique_ptr<transfer::endpoint> rank, std::uint64_t number, direction way) {
    auto& process = runtime::instance();
    const std::lock_guard lock(process.enqueue_mutex());
    process.require_running();
    m_number = number;
    m_moving = make(std::move(rank), way, nullptr);
    process.needs_mpi(m_moving);
    process.engine().submit(m_moving);
}

void token_transfer::cancel() {
    if (over()) return;
    runtime::instance().engine().cancel(m_moving, {status::cancelled, 0, 0, "the stream has ended"});
}

std::unique_ptr<token_transfer> token_line::take_spare() {
    if (m_spare.empty()) return std::make_unique<token_transfer>(m_token_bytes, m_bell);
    auto spare = std::move(m_spare.back());
    m_spare.pop_back();
    return spare;
}

std::unique_ptr<token_transfer> token_line::pop() {
    auto first = std::move(m_line.front());
    m_line.pop_front();
    return first;
}

void token_line::wait_for_all() {
    for (const auto& each : m_line) (void)each->wait();
    std::move(m_line.begin(), m_line.end(), std::back_inserter(m_spare));
    m_line.clear();
}

} // namespace causeway::capi
