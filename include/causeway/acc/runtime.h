/* SPDX-License-Identifier: Apache-2.0 */
/* What the host code that causeway-cc writes calls. Not for people: it may change with every version. */
#ifndef CAUSEWAY_ACC_RUNTIME_H
#define CAUSEWAY_ACC_RUNTIME_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where a directive stands. */
struct causeway_acc_location {
    const char* file;
    int line;
    const char* directive;
};

enum causeway_acc_kind {
    CAUSEWAY_ACC_COPY,
    CAUSEWAY_ACC_COPYIN,
    CAUSEWAY_ACC_COPYOUT,
    CAUSEWAY_ACC_CREATE,
    CAUSEWAY_ACC_PRESENT,
    CAUSEWAY_ACC_NO_CREATE,
    CAUSEWAY_ACC_DEVICEPTR,
    CAUSEWAY_ACC_DELETE,
    CAUSEWAY_ACC_TO_HOST,
    CAUSEWAY_ACC_TO_DEVICE,
    CAUSEWAY_ACC_COPYOUT_ZERO,
    CAUSEWAY_ACC_CREATE_ZERO,
    CAUSEWAY_ACC_IMPLICIT /* as COPY, for a pointer of which nothing is present and no clause says how much it has */
};

/* One variable of a data clause. `bytes` is 0 for a pointer without a section: it means all that is mapped there. */
struct causeway_acc_data {
    int kind;
    void* host;
    void* base;
    unsigned long bytes;
    const char* name;
    void* mapped;
    int parameter; /* declared as an array of `bytes`: which count only where nothing is mapped */
};

/* How often loops of a kernel run; 0: not known before it does. `lanes` is the loop over lanes inside of the gangs'. */
struct causeway_acc_iterations {
    long gangs, lanes;
};

/* The clauses that hold for a whole directive. Devices and queues below 0 are those of the calling thread. */
struct causeway_acc_clauses {
    const struct causeway_acc_location* location;
    long device;
    int has_device;
    int condition;
    int asynchronous;
    long queue;
    long gangs, workers, vector;
    int finalize;
    int if_present;
    int waits;
    int wait_count;
    const long* wait_queues;
    long wait_device;
    void* region;
    const struct causeway_acc_iterations* trips; /* of each kernel of the region */
};

enum causeway_acc_argument_kind {
    CAUSEWAY_ACC_VALUE,
    CAUSEWAY_ACC_BUFFER,
    CAUSEWAY_ACC_REDUCTION,
    CAUSEWAY_ACC_PRIVATE
};

/*
 * One parameter of a kernel. VALUE: `bytes` at `address`. BUFFER: what `address` points to on the device; `data` is the
 * clause that it was found in, if any. REDUCTION: `bytes` for each gang. PRIVATE: `bytes` for each thread.
 */
struct causeway_acc_argument {
    int kind;
    void* address;
    unsigned long bytes;
    const char* name;
    struct causeway_acc_data* data;
    int written;
};

struct causeway_acc_program {
    const char* source;
    void* built;
};

enum causeway_acc_kernel_flags {
    CAUSEWAY_ACC_USES_GANGS = 1,
    CAUSEWAY_ACC_USES_WORKERS = 2,
    CAUSEWAY_ACC_USES_VECTOR = 4,
    CAUSEWAY_ACC_HAS_REDUCTION = 8,
    CAUSEWAY_ACC_MAY_ALIAS = 16,
    CAUSEWAY_ACC_ALLOWS_GANGS = 32,
    CAUSEWAY_ACC_LANES_SHARE_GANG_LOOP = 64, /* the gangs' loop is spread over workers or lanes as well */
    CAUSEWAY_ACC_GROUPS_SHARE_LANES = 128, /* gangs are rows of groups, which share the loop over lanes */
    CAUSEWAY_ACC_LANES_HAVE_LOOPS = 256, /* of their own, and never wait for one another */
    CAUSEWAY_ACC_GANGS_SHARE_GROUPS = 512, /* a group may have rows of several gangs; no workers, no barriers */
    CAUSEWAY_ACC_GANGS_USE_MEMORY = 1024, /* all threads of a gang, at once, outside of what is spread over them */
    CAUSEWAY_ACC_HAS_ONE_EACH = 2048 /* compiled with ACC_ONE_EACH, it is for launches with a thread for each iteration
                                      */
};

struct causeway_acc_kernel {
    const char* name;
    int flags;
    int line;
};

struct causeway_acc_region {
    struct causeway_acc_program* program;
    const struct causeway_acc_kernel* kernels;
    int kernel_count;
};

#ifdef CAUSEWAY_ACC_GENERATED
static inline long causeway_acc_trips(long first, long last, long step) {
    return step > 0 && first < last ? (last - first - 1) / step + 1 : 0;
}
/* Of a loop that the kernel counts in 32 bits: below 0 if those are too few. */
static inline __attribute__((unused)) long causeway_acc_short_trips(long first, long last, long step) {
    const long trips = causeway_acc_trips(first, last, step);
    return trips > 2147483647 ? -1 : trips;
}
/* `declare` in a function: ends with the block that it stands in. */
struct causeway_acc_declared {
    struct causeway_acc_clauses* clauses;
    struct causeway_acc_data* data;
    int count;
};
void causeway_acc_data_end(struct causeway_acc_clauses*, struct causeway_acc_data*, int count);
static inline __attribute__((unused)) void causeway_acc_declared_end(struct causeway_acc_declared* of) {
    causeway_acc_data_end(of->clauses, of->data, of->count);
}
static struct causeway_acc_program causeway_acc_this_program __attribute__((unused)); /* defined at the end of a source
                                                                                         with regions */
#endif

void causeway_acc_data_begin(struct causeway_acc_clauses*, struct causeway_acc_data*, int count);
void causeway_acc_data_end(struct causeway_acc_clauses*, struct causeway_acc_data*, int count);
void causeway_acc_enter_data(struct causeway_acc_clauses*, struct causeway_acc_data*, int count);
void causeway_acc_exit_data(struct causeway_acc_clauses*, struct causeway_acc_data*, int count);
void causeway_acc_update(struct causeway_acc_clauses*, struct causeway_acc_data*, int count);
void causeway_acc_wait_directive(struct causeway_acc_clauses*);
/* Before main(): a variable of the whole program that each device has from its first use on, with the value of now. */
void causeway_acc_declare(const struct causeway_acc_location*, void* host, unsigned long bytes, int kind);
/* Before main(): the program copies between devices. */
void causeway_acc_expect_peers(void);
void causeway_acc_peer(struct causeway_acc_clauses*, struct causeway_acc_data* to, long to_device,
                       struct causeway_acc_data* from, long from_device, int count);

/* Runs the region on its device and returns 1, or returns 0 where the host has to run it. */
int causeway_acc_run(struct causeway_acc_clauses*, const struct causeway_acc_region*, struct causeway_acc_data*,
                     int data_count, struct causeway_acc_argument*, int argument_count);

/* The device's address of what `host` points to, where a host_data region names it. */
void* causeway_acc_use_device(struct causeway_acc_clauses*, void* host, const char* name);

void causeway_acc_set_directive(struct causeway_acc_clauses*, int what);

#ifdef __cplusplus
}
#endif
#endif
