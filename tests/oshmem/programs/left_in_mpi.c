/* SPDX-License-Identifier: Apache-2.0 */
/* PE 1 ends as the second argument says, and the others wait for it in MPI, as the first one says; or nobody does
 * wrong, for which the second argument may name a file. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <shmem.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long word;
static int process, processes[16];

static void leave(const char* how) {
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "finalize") == 0) shmem_finalize();
    if (strcmp(how, "exit") == 0) exit(0);
}

static void pass_time(int seconds) { nanosleep(&(struct timespec){.tv_sec = seconds}, NULL); }

/* One PE computes and the others wait for it; then they wait in more than one call. */
static void be_slow(int me, MPI_Comm rest) {
    int number = 0;
    if (me == 0) pass_time(5);
    MPI_Barrier(rest);
    for (int i = 0; i < 5; i++) {
        if (me == 0) pass_time(1);
        MPI_Bcast(&number, 1, MPI_INT, 0, rest);
    }
}

static void (*inside)(void);
static int call_inside(MPI_Comm from, int key, void* extra, void* value, void* copy, int* is_copied) {
    (void)from, (void)key, (void)extra, (void)value, (void)copy;
    inside();
    return *is_copied = 0, MPI_SUCCESS;
}
/* Stays in a call of MPI for as long as `what`. */
static void be_in_mpi(void (*what)(void)) {
    int key = 0;
    MPI_Comm made;
    inside = what;
    MPI_Comm_create_keyval(call_inside, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &made);
    MPI_Comm_free(&made);
}

/* The whole job, for longer than PE 1's patience (5 s here). */
static void be_stopped(void) {
    pass_time(1);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; processes[i] != 0; i++) kill(processes[i], SIGSTOP);
        pass_time(8);
        for (int i = 0; processes[i] != 0; i++) kill(processes[i], SIGCONT);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pass_time(1);
}

/* As if it waited for what it writes. */
static void be_writing(void) { pass_time(4); }
static void write_file(const char* path) {
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    be_in_mpi(be_writing);
    MPI_File_close(&file);
}

/* Another process, which is no PE, lets this one wait. */
static void wait_for_another(char* program) {
    int number = 0;
    char other[] = "other", none[] = "none", *arguments[] = {other, none, NULL};
    MPI_Comm made;
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made, MPI_ERRCODES_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, made, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&made);
}
static int be_another(void) {
    int number = 0;
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    pass_time(4);
    MPI_Send(&number, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

/* PE 1 is early, and the others need more than its patience, 2 s in the test. */
static void be_right(const char* way, const char* path, char* program, int me) {
    MPI_Comm rest;
    MPI_Comm_split(MPI_COMM_WORLD, me == 1, me, &rest);
    if (me == 1) return;
    if (strcmp(way, "slow") == 0) be_slow(me, rest);
    if (me == 0 && strcmp(way, "stopped") == 0) be_in_mpi(be_stopped);
    if (me == 0 && strcmp(way, "writes") == 0) write_file(path);
    if (me == 0 && strcmp(way, "spawns") == 0) wait_for_another(program);
    MPI_Barrier(rest);
    MPI_Comm_free(&rest);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const char *const way = argv[1], *const how = argv[2];
    int number = 0, sum = 0;
    MPI_Init(&argc, &argv);
    if (strcmp(way, "other") == 0) return be_another();
    shmem_init();
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    process = getpid();
    shmem_barrier_all();
    for (int i = 0; i < pes; i++) processes[i] = shmem_int_g(&process, i);
    shmem_barrier_all();
    if (strcmp(way, "slow") == 0 || strcmp(way, "stopped") == 0 || strcmp(way, "writes") == 0 ||
        strcmp(way, "spawns") == 0) {
        be_right(way, how, argv[0], me);
        shmem_finalize();
        MPI_Barrier(MPI_COMM_WORLD); /* MPI alone goes on */
        MPI_Finalize();
        printf("right\n");
        return 0;
    }
    if (me == 1) {
        leave(how);
        return 0;
    }
    if (strcmp(way, "MPI_Barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "MPI_Recv") == 0) MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(way, "MPI_Allreduce") == 0) MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(way, "MPI_Finalize") == 0) MPI_Finalize();
    if (strcmp(way, "MPI_Waitall") == 0) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    /* One in MPI, and the others in OpenSHMEM. */
    if (strcmp(way, "mixed") == 0 && me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(way, "mixed") == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    printf("PE %d goes on without PE 1\n", me);
    fflush(stdout);
    return 0;
}
