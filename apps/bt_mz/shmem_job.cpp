// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/shmem_job.hpp"

#include <shmemg.h>

#include <cstdlib>
#include <string>

namespace bt_mz {

namespace {

int users = 0;

} // namespace

shmem_job::shmem_job(const exchange_plan& plan) {
    if (users++ > 0) return;
    // communication begin
    const std::size_t bytes = 3 * (plan.most_values + 1) * sizeof(double) + (std::size_t{1} << 20);
    setenv("SHMEM_SYMMETRIC_SIZE", std::to_string(bytes).c_str(), 0);
    int provided = 0;
    shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT, &provided);
    // communication end
}

shmem_job::~shmem_job() {
    // communication begin
    if (--users == 0) shmem_finalize();
    // communication end
}

} // namespace bt_mz
