// SPDX-License-Identifier: Apache-2.0
// Hands tokens to the engine of the process.
#include "runtime/token_transfer.hpp"

#include "runtime/enqueue.hpp"
#include "endpoints/host/host_endpoint.hpp"

#include <algorithm>

namespace causeway::core {

void token_transfer::hold(std::span<const std::byte> first) {
    m_moving.reset();
    m_listener.reset();
    m_held = first.size();
    std::copy(first.begin(), first.end(), m_memory.begin());
}

void token_transfer::begin(std::uint64_t number, std::unique_ptr<transfer::endpoint> other, direction way, uses_mpi mpi,
                           const token_transfer* before) {
    auto memory = endpoints::make_host_endpoint(m_memory.data() + m_held);
    const auto size = m_memory.size() - m_held;
    auto flows = way == direction::in ? one_flow(std::move(other), std::move(memory), size)
                                      : one_flow(std::move(memory), std::move(other), size);
    std::vector<std::shared_ptr<transfer::command>> dependencies;
    if (before != nullptr) dependencies.push_back(before->m_moving);
    const auto told = std::make_shared<listener>(m_bell);
    const auto moving = std::make_shared<transfer::command>(
        std::move(flows), told, std::vector<std::unique_ptr<transfer::gate>>{}, std::move(dependencies));
    runtime::instance().submit(moving, mpi);
    m_number = number;
    m_listener = told;
    m_moving = moving;
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

} // namespace causeway::core
