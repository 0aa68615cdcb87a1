/* SPDX-License-Identifier: Apache-2.0 */
/* A large heap and large variables take the memory that the program uses of them, also beside a child.
 * SHMEM_SYMMETRIC_SIZE is 1G. */
#define _POSIX_C_SOURCE 200809L
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char variables[1 << 28];

/* Resident memory in MiB; the machine's statistics lag behind by a little. */
static long resident(void) {
    char line[256];
    long kibibytes = -1;
    FILE* const file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0) kibibytes = atol(line + 6);
    if (file != NULL) fclose(file);
    return kibibytes / 1024;
}

int main(void) {
    setenv("SHMEM_SYMMETRIC_SIZE", "1G", 1);
    shmem_init();
    const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes, before = (me + pes - 1) % pes;
    const size_t bytes = 96 << 20;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    const long at_start = resident();
    char* const memory = shmem_malloc(bytes);
    int right = memory != NULL && at_start < 200;
    char* const rest = shmem_malloc((size_t)1 << 30); /* more than there is */
    right = right && rest == NULL;
    if (right) {
        memset(memory, me, bytes);
        shmem_barrier_all();
        for (size_t i = 0; i < bytes; i += 4096) right = right && shmem_char_g(memory + i, next) == next;
        shmem_char_p(variables + sizeof variables - 1, (char)(me + 1), next);
        shmem_barrier_all();
        right = right && variables[sizeof variables - 1] == before + 1;
        char* const larger = shmem_realloc(memory, 2 * bytes);
        for (size_t i = 0; larger != NULL && i < bytes; i += 4096) right = right && larger[i] == me;
        right = right && larger != NULL && larger[2 * bytes - 1] == 0;
    }
    if (!right) printf("PE %d: %ld MiB at the start\n", me, at_start);
    puts(right ? "right" : "WRONG");
    shmem_finalize();
    return right ? 0 : 1;
}
