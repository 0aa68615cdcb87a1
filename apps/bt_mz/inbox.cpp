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

inbox::inbox(cl_context context, cl_device_id device, const exchange_plan& plan)
    : m_peers(plan.parts.size()), m_bytes((plan.most_values + 1) * sizeof(double)) {
    // communication begin
    apps::check(causeway_symmetric_init(context, device, MPI_COMM_WORLD, 3 * m_bytes + 8192),
                "causeway_symmetric_init");
    for (double** each : {&m_halves[0], &m_halves[1], &m_outgoing})
        *each = static_cast<double*>(there(causeway_symmetric_malloc(m_bytes)));
    m_signals = static_cast<std::uint64_t*>(there(causeway_symmetric_calloc(2, sizeof(std::uint64_t))));
    // communication end
}

inbox::~inbox() {
    // communication begin
    causeway_symmetric_finalize();
    // communication end
}

} // namespace bt_mz
