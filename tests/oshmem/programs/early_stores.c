/* SPDX-License-Identifier: Apache-2.0 */
/* A thread stores to global variables while another one is in shmem_init, and none of its stores is lost. A child has
 * its own variables. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <shmem.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS (1ul << 25)
static unsigned char words[WORDS];
static int in_child = 0;
static atomic_ulong stored;
static atomic_int ends;

/* All over the words, each once. */
static unsigned long place(unsigned long i) { return i * 40503ul % WORDS; }

static void* store(void* nothing) {
    for (unsigned long i = 0; i < WORDS && !ends; i++) {
        words[place(i)] = 1;
        stored = i + 1;
    }
    return nothing;
}

static int child_is_apart(void) {
    const pid_t child = fork();
    if (child == 0) {
        in_child = 1;
        _exit(0);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0 && in_child == 0;
}

int main(int count, char** arguments) {
    pthread_t other;
    int level = SHMEM_THREAD_SINGLE;
    int right = child_is_apart();
    MPI_Init(&count, &arguments);
    pthread_create(&other, NULL, store, NULL);
    while (stored == 0) {}
    shmem_init_thread(SHMEM_THREAD_FUNNELED, &level);
    ends = 1;
    pthread_join(other, NULL);
    for (unsigned long i = 0; i < stored; i++) right = right && words[place(i)] == 1;
    right = right && child_is_apart();
    puts(right ? "right" : "WRONG");
    shmem_finalize();
    MPI_Finalize();
    return right ? 0 : 1;
}
