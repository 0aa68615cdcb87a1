/* SPDX-License-Identifier: Apache-2.0 */
/* Runs task programs on a modelled machine. Every figure that comes out is modelled, not measured. */
#ifndef CAUSEWAY_TASKS_SIMULATOR_H
#define CAUSEWAY_TASKS_SIMULATOR_H

#include <causeway/tasks.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to simulate. Null and 0 take the value in brackets. */
typedef struct causeway_simulation {
    const char* machine; /* opteron48, tilepro64, this, a synthetic machine of hwloc ("node:4 core:2 pu:1"), or an .xml
                            file [opteron48] */
    const char* program; /* map, reduction, vecmul, matmul, jacobi, sparselu, strassen, or the file of a recorded run
                            [map] */
    const char* policy; /* work-stealing, central, locality, locality-paper [locality] */
    const char* distribution; /* standard, fine, coarse [what the paper's Table 4 advises; of a recorded run, as it was]
                               */
    unsigned cores; /* that work [all] */
    unsigned vicinity; /* tiles that may steal from one another: 1, 4, 8, 16 [all] */
    unsigned seed; /* of the random order in which idle workers look for tasks */
    const char* timeline; /* a file that trace events are written to: workers, tasks, remote bytes [none] */
    int regret; /* not 0: look for the best schedule, too; takes a dozen times as long */
} causeway_simulation;

typedef struct causeway_simulation_result {
    double seconds; /* modelled time of the whole run */
    double memory_seconds; /* waiting for memory, summed over all workers */
    double own_bytes; /* from the node of the worker */
    double remote_bytes; /* from other nodes */
    double cached_bytes; /* from last-level caches */
    uint64_t tasks, dealt, stolen, stolen_far;
    double best_seconds; /* of the best schedule that was found; 0 if none was looked for */
    char best[64]; /* policy and distribution of that schedule */
    char distribution[16]; /* used for `seconds` */
} causeway_simulation_result;

CAUSEWAY_TASKS_EXPORT int causeway_tasks_simulate(const causeway_simulation* simulation,
                                                  causeway_simulation_result* result);

/* Records the tasks of a pool from now on: regions, parents, times and workers, some 500 ns for each. Call while the
 * pool has no tasks. */
CAUSEWAY_TASKS_EXPORT int causeway_task_record_begin(causeway_task_pool* pool);

/* Ends the recording and writes it to `path`, for the simulator. Call while the pool has no tasks.
 * CAUSEWAY_TASKS_FAILED if the file cannot be written. */
CAUSEWAY_TASKS_EXPORT int causeway_task_record_end(causeway_task_pool* pool, const char* path);

/* Writes the measured times of a recorded run as trace events. (causeway_simulation.timeline has modelled times.) */
CAUSEWAY_TASKS_EXPORT int causeway_task_record_timeline(const char* record_path, const char* timeline_path);

#ifdef __cplusplus
}
#endif

#endif
