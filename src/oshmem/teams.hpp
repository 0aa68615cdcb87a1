// SPDX-License-Identifier: Apache-2.0
// What the handles of the interface point to.
#pragma once

#include "oshmem/job.hpp"

#include <causeway/oshmem/shmem.h>

struct causeway_shmem_team {
    causeway::oshmem::members who;
    causeway::oshmem::team_slot slot;
    shmem_team_config_t config;
};

/// The slot of a team. That of all PEs also serves calls without a team.
inline causeway::oshmem::team_slot& slot_of(shmem_team_t team) {
    return team == SHMEM_TEAM_WORLD ? causeway::oshmem::job::instance().world_slot() : team->slot;
}

/// Calls are complete when they return, so a context orders nothing by itself. It numbers PEs as its team does.
struct causeway_shmem_context {
    shmem_team_t team;
    long options;
};
