// SPDX-License-Identifier: Apache-2.0
// OpenSHMEM beside MPI, for the versions that call it.
#pragma once

#include "bt_mz/problem.hpp"

namespace bt_mz {

/// OpenSHMEM starts with the first object and ends with the last. Collective.
class shmem_job {
  public:
    explicit shmem_job(const exchange_plan& plan);
    ~shmem_job();
    shmem_job(const shmem_job&) = delete;
    shmem_job& operator=(const shmem_job&) = delete;
};

} // namespace bt_mz
