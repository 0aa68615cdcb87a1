// SPDX-License-Identifier: Apache-2.0
// The process's machine and memory, made when they are first asked for.
#include "tasks/process.hpp"

#include "base/error.hpp"
#include "tasks/api_boundary.hpp"

#include <cstdlib>
#include <mutex>
#include <string>

namespace causeway::tasks {

namespace {

distribution from_environment() {
    const char* const word = std::getenv("OMP_DATA_DISTRIBUTION");
    if (!word || *word == '\0') return distribution::standard;
    if (const auto known = distribution_of(word)) return *known;
    warn_once(std::string("OMP_DATA_DISTRIBUTION is ") + word +
              ": it is standard, fine, coarse or local; standard is taken");
    return distribution::standard;
}

} // namespace

process_state::process_state() : here(topology::this_machine()), default_distribution(from_environment()) {}

arena& process_state::memory() {
    static std::once_flag once;
    std::call_once(once, [&] { m_memory.store(new arena(here, system_binder(here)), std::memory_order_release); });
    return *m_memory.load(std::memory_order_acquire);
}

process_state& process() {
    static auto* const state = new process_state;
    return *state;
}

std::string& last_error() {
    thread_local std::string text;
    return text;
}

} // namespace causeway::tasks
