/* SPDX-License-Identifier: Apache-2.0 */
/* Memory spread over the nodes of a machine, and tasks that run near the memory they use. C99 and C++.
 *
 * The library is libcauseway_tasks, which needs neither MPI nor OpenCL. Any thread may call any function, unless it
 * says otherwise. Functions that return an int give CAUSEWAY_TASKS_SUCCESS or a negative code, whose cause
 * causeway_tasks_last_error() tells. Functions refuse a null pool, group or task; functions without a result ignore it.
 *
 * After fork() the child has the memory, but no threads of a pool: it may release a pool, and make its own. */
#ifndef CAUSEWAY_TASKS_H
#define CAUSEWAY_TASKS_H

#include <stddef.h>
#include <stdint.h>

#if defined _WIN32 || !defined __GNUC__
#define CAUSEWAY_TASKS_EXPORT
#else
#define CAUSEWAY_TASKS_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CAUSEWAY_TASKS_SUCCESS = 0,
    CAUSEWAY_TASKS_INVALID_VALUE = -1, /* an argument is refused; nothing has happened */
    CAUSEWAY_TASKS_OUT_OF_MEMORY = -2,
    CAUSEWAY_TASKS_OUT_OF_RESOURCES = -3, /* the system starts no more threads */
    CAUSEWAY_TASKS_CANCELLED = -4,        /* the group was cancelled, or its pool released */
    CAUSEWAY_TASKS_FAILED = -5            /* a task threw */
};

/* Why the calling thread's last call failed. Valid until its next one that fails. Never null. */
CAUSEWAY_TASKS_EXPORT const char* causeway_tasks_last_error(void);

/* ---- Memory ---- */

typedef enum causeway_distribution {
    CAUSEWAY_DISTRIBUTION_DEFAULT = 0, /* what OMP_DATA_DISTRIBUTION says: standard, fine, coarse or local; else
                                          standard */
    CAUSEWAY_DISTRIBUTION_STANDARD, /* first touch, as malloc() */
    CAUSEWAY_DISTRIBUTION_FINE, /* units (pages) round robin over all nodes: one allocation that many tasks share */
    CAUSEWAY_DISTRIBUTION_COARSE, /* whole allocations round robin: many allocations, each for few tasks */
    CAUSEWAY_DISTRIBUTION_LOCAL /* the node of the calling thread */
} causeway_distribution;

/* As malloc(); null, with the cause in causeway_tasks_last_error(), if there is no memory. Distributed memory is zero,
 * takes whole units, and is bound to nodes before it is touched; no thread's memory policy changes. Only nodes with
 * cores that this process may use are taken. Release by causeway_free(). */
CAUSEWAY_TASKS_EXPORT void* causeway_malloc(size_t bytes, causeway_distribution distribution);

/* `unit` is in bytes, a multiple of the page; 0 takes a page. On several nodes, units below 2 MiB forbid huge pages for
 * their allocation. Units from 2 MiB on, and coarse allocations, ask for them; local ones leave them to the system. */
CAUSEWAY_TASKS_EXPORT void* causeway_malloc_units(size_t bytes, causeway_distribution distribution, size_t unit);

/* A distribution of the program: returns the node of each unit, taken modulo `nodes`. Only causeway_malloc_placed()
 * calls it, perhaps several times for a unit. It must always give the same answer, and must not throw. */
typedef unsigned (*causeway_unit_placement)(void* user, uint64_t unit, uint64_t units, unsigned nodes);
CAUSEWAY_TASKS_EXPORT void* causeway_malloc_placed(size_t bytes, size_t unit, causeway_unit_placement placement,
                                                   void* user);

/* Frees memory of the functions above, or of malloc(). Null is allowed. A second free, or an address inside distributed
 * memory, is ignored, and causeway_tasks_last_error() says so. */
CAUSEWAY_TASKS_EXPORT void causeway_free(void* memory);

/* The node of an address, from 0 without gaps; -1 for memory that this library has not distributed, such as standard
 * memory. Makes no system call. If another thread frees the memory meanwhile, the answer is the node or -1. */
CAUSEWAY_TASKS_EXPORT int causeway_node_of_address(const void* address);

/* Nodes that this process may use; 0, with the cause in causeway_tasks_last_error(), if there is no memory. */
CAUSEWAY_TASKS_EXPORT unsigned causeway_node_count(void);

/* How many allocations the system did not bind as asked: their pages lie where they are touched first. */
CAUSEWAY_TASKS_EXPORT uint64_t causeway_unbound_allocations(void);

/* ---- Tasks ---- */

typedef struct causeway_task_pool causeway_task_pool;

/* A policy of 0, and each field of causeway_task_pool_options that is 0, means the default. */
typedef enum causeway_task_policy {
    CAUSEWAY_TASK_POLICY_DEFAULT = 0, /* locality */
    CAUSEWAY_TASK_POLICY_WORK_STEALING,
    CAUSEWAY_TASK_POLICY_CENTRAL_QUEUE,
    CAUSEWAY_TASK_POLICY_LOCALITY, /* deals by distance-weighted bytes and by load; steals near first */
    CAUSEWAY_TASK_POLICY_LOCALITY_PAPER /* Algorithms 1 and 2 to the letter: without load, without release of starving
                                           thieves */
} causeway_task_policy;

/* What a policy of the program knows of a task that becomes ready. */
typedef struct causeway_deal {
    unsigned nodes;
    const uint64_t* bytes_on_node; /* of the task's regions */
    uint64_t bytes; /* their sum */
    int most_used_node; /* of the region marked most_used; -1 if none is, or its memory is neither coarse nor local */
    unsigned own_node; /* of the worker that asks */
} causeway_deal;
/* The node whose queue the task goes to; negative for the queue of the worker that asks. Called from any thread; must
 * not throw. */
typedef int (*causeway_deal_function)(void* user, const causeway_deal* task);

typedef struct causeway_task_pool_options {
    causeway_task_policy policy;
    unsigned threads; /* that run tasks at once, callers included; 0 takes one for each core that the process may use */
    int no_callers; /* not 0: threads of the program that wait do not take part, and the pool starts all threads */
    unsigned callers; /* how many of `threads` may be waiting threads of the program; 0 takes one */
    int unbound; /* not 0: threads may leave their node */
    causeway_deal_function deal; /* a policy of the program, instead of `policy` */
    void* user; /* its first argument */
} causeway_task_pool_options;

/* `options` may be null. */
CAUSEWAY_TASKS_EXPORT int causeway_task_pool_create(const causeway_task_pool_options* options,
                                                    causeway_task_pool** pool);

/* Destroys the pool. Running tasks finish; waiting and held ones are dropped, and their groups fail. No other thread
 * may be in a call with this pool; null is allowed. */
CAUSEWAY_TASKS_EXPORT void causeway_task_pool_release(causeway_task_pool* pool);

typedef struct causeway_task_statistics {
    uint64_t tasks; /* that ended */
    uint64_t dealt; /* into queues of nodes */
    uint64_t stolen; /* within a node, or under a policy without nodes */
    uint64_t stolen_far; /* from other nodes */
    unsigned threads;
} causeway_task_statistics;
CAUSEWAY_TASKS_EXPORT void causeway_task_pool_statistics(const causeway_task_pool* pool,
                                                         causeway_task_statistics* statistics);

/* Tasks that are waited for together, and that depend on each other by their regions. The program provides the memory;
 * a group must not be moved or copied. */
typedef struct causeway_task_group {
    uint64_t reserved[12];
} causeway_task_group;

CAUSEWAY_TASKS_EXPORT void causeway_task_group_init(causeway_task_group* group, causeway_task_pool* pool);

/* Returns when all tasks of the group are over. Meanwhile the thread runs tasks that the group needs: its own, and
 * those of groups that these wait for or have on their stacks. If only other tasks are ready, it sleeps, and another
 * thread of the pool works instead. So tasks may wait for any other group, in whatever order they are run. One thread
 * at a time waits for a group. A task may wait for a group of another pool if no task of that pool waits for this
 * one: while its thread sleeps there, it keeps its worker slot in this pool. CAUSEWAY_TASKS_FAILED if one threw,
 * CAUSEWAY_TASKS_CANCELLED if the group was cancelled. The group may be used again. */
CAUSEWAY_TASKS_EXPORT int causeway_task_group_wait(causeway_task_group* group);

/* Cancels the group: its tasks that have not started will not run. Groups created by its tasks go on: cancel these
 * too, or let their tasks ask causeway_task_group_is_cancelled() of this one. */
CAUSEWAY_TASKS_EXPORT void causeway_task_group_cancel(causeway_task_group* group);
/* For tasks that run long: not 0 if the group is cancelled. */
CAUSEWAY_TASKS_EXPORT int causeway_task_group_is_cancelled(const causeway_task_group* group);

/* Ends the group, which has been waited for or never had a task. Its pool may be gone. */
CAUSEWAY_TASKS_EXPORT void causeway_task_group_release(causeway_task_group* group);

typedef enum causeway_region_access {
    CAUSEWAY_REGION_FOOTPRINT = 0, /* where the bytes are; orders nothing */
    CAUSEWAY_REGION_IN = 1,
    CAUSEWAY_REGION_OUT = 2,
    CAUSEWAY_REGION_INOUT = 3
} causeway_region_access;

typedef struct causeway_region {
    const void* address; /* null only where bytes is 0 */
    size_t bytes;
    causeway_region_access access;
    int most_used; /* not 0: policies deal the task by this region, if its memory is coarse or local. At most one region
                      of a task */
} causeway_region;

/* Called once; what it throws (C++) fails the group. It has at least 192 KiB of stack; more is not promised, because it
 * may run on top of tasks that wait. */
typedef void (*causeway_task_function)(void* payload);

/* The task runs when all earlier tasks of the group that conflict with it are over: regions overlap and one of the two
 * writes. `regions` may be null if `count` is 0, and is copied. The task may run within this call, as may others if
 * very many are pending. So hold no lock that these tasks take, and do not let them wait for what the caller does
 * later. A call with CAUSEWAY_TASK_HELD runs no task, nor does causeway_task_let_go(); but then nothing bounds the
 * memory of pending tasks. */
CAUSEWAY_TASKS_EXPORT int causeway_task_spawn(causeway_task_group* group, causeway_task_function function,
                                              void* argument, const causeway_region* regions, size_t count);

/* Bits of `flags`. */
enum {
    CAUSEWAY_TASK_URGENT = 1, /* before those that are not */
    CAUSEWAY_TASK_HELD = 2 /* runs after causeway_task_let_go() only */
};

typedef struct causeway_task causeway_task;

/* Makes a task with room for a payload of `bytes`. Put the payload there, then submit or discard the task. Null, with
 * the cause in causeway_tasks_last_error(), if there is no memory. */
CAUSEWAY_TASKS_EXPORT causeway_task* causeway_task_make(causeway_task_pool* pool, size_t bytes, size_t alignment,
                                                        void** payload);
CAUSEWAY_TASKS_EXPORT void causeway_task_discard(causeway_task_pool* pool, causeway_task* task);
/* Gives the task to the library, even if the call fails. If `function` will never be called, `destroy` (may be null)
 * gets the payload; what it throws fails the group. Only if the task or the group is null, or the group has no pool,
 * does the task stay the caller's. */
CAUSEWAY_TASKS_EXPORT int causeway_task_submit(causeway_task_group* group, causeway_task* task,
                                               causeway_task_function function, causeway_task_function destroy,
                                               const causeway_region* regions, size_t count, int flags);
/* Lets a task that was submitted with CAUSEWAY_TASK_HELD run. Call once for each, while the pool lives. */
CAUSEWAY_TASKS_EXPORT void causeway_task_let_go(causeway_task_pool* pool, causeway_task* task);

#ifdef __cplusplus
}
#endif

#endif
