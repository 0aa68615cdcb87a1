// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/inbox.hpp"

#include <causeway/symmetric.h>

#include <stdexcept>

namespace bt_mz {

namespace {

void* there(void* allocated) {
    if (!allocated) throw std::runtime_error(causeway_error_last_message());
    return allocated;
}

} // namespace

symmetric_inbox::symmetric_inbox(const exchange_plan& plan) : inbox(plan) {
    // communication begin
    for (double** each : {&m_halves[0], &m_halves[1], &m_outgoing})
        *each = static_cast<double*>(there(causeway_symmetric_malloc(m_bytes)));
    m_signals = static_cast<std::uint64_t*>(there(causeway_symmetric_calloc(2, sizeof(std::uint64_t))));
    // communication end
}

} // namespace bt_mz
