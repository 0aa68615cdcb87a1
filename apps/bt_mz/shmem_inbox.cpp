// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/inbox.hpp"

#include <shmem.h>
#include <shmemg.h>

#include <stdexcept>
#include <string>

namespace bt_mz {

namespace {

void* there(void* allocated) {
    if (!allocated) throw std::runtime_error("the symmetric heap is full");
    return allocated;
}

} // namespace

shmem_inbox::shmem_inbox(const exchange_plan& plan) : inbox(plan) {
    // communication begin
    int provided = 0;
    if (const int code = shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT, &provided); code != 0)
        throw std::runtime_error("shmem_init_thread: code " + std::to_string(code));
    for (double** each : {&m_halves[0], &m_halves[1], &m_outgoing})
        *each = static_cast<double*>(there(shmemg_malloc(m_bytes)));
    m_signals = static_cast<std::uint64_t*>(there(shmem_calloc(2, sizeof(std::uint64_t))));
    // communication end
}

shmem_inbox::~shmem_inbox() {
    // communication begin
    shmem_finalize();
    // communication end
}

} // namespace bt_mz
