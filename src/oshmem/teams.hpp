// SPDX-License-Identifier: Apache-2.0
// What the handles of the interface point to.
#pragma once

#include "oshmem/job.hpp"

#include <causeway/oshmem/shmem.h>

struct causeway_shmem_team {
    causeway::oshmem::members who;
    shmem_team_config_t config;
};

/// Everything is complete when a call returns, so that a context has nothing to keep apart. It numbers PEs as its
/// team does.
struct causeway_shmem_context {
    shmem_team_t team;
    long options;
};
