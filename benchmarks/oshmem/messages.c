/* SPDX-License-Identifier: Apache-2.0 */
/* Two PEs on different nodes: MPI_Send with an answer at the end, puts with a quiet, and gets, blocking and not, in
 * turn; and what a blocking get is compared with: a request by MPI for each piece, which the other PE answers with it.
 * Medians and 0.9 quantiles of the rates in MB/s, with the parts of MPI_Send's, of a blocking get also of the
 * request's and answer's. Usage: messages [ROUNDS [MIB]], of which each round sends MIB, 32 unless given, and pieces of
 * that at most */
#define _POSIX_C_SOURCE 200809L
#include "timing.h"

#include <mpi.h>
#include <shmem.h>

#include <stdio.h>
#include <string.h>

enum { most_rounds = 99, least_bytes = 1 << 20, most_bytes = 16 << 20 };
static char *there, *mine;

static void send(int count, int bytes) {
    char answer = 0;
    const int me = shmem_my_pe();
    for (int i = 0; i < count; i++) {
        if (me == 0)
            MPI_Send(mine, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(mine, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (me == 1)
        MPI_Send(&answer, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void ask(int count, int bytes) {
    char request = 0;
    for (int i = 0; i < count; i++) {
        if (shmem_my_pe() == 0) {
            MPI_Request answer;
            MPI_Irecv(mine, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &answer);
            MPI_Send(&request, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
            MPI_Wait(&answer, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&request, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(there, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
    }
}
static void put(int count, int bytes) {
    for (int i = 0; shmem_my_pe() == 0 && i < count; i++) shmem_putmem(there, mine, (size_t)bytes, 1);
    shmem_quiet();
}
static void get(int count, int bytes) {
    for (int i = 0; shmem_my_pe() == 0 && i < count; i++) shmem_getmem(mine, there, (size_t)bytes, 1);
}
static void put_nbi(int count, int bytes) {
    for (int i = 0; shmem_my_pe() == 0 && i < count; i++) shmem_putmem_nbi(there, mine, (size_t)bytes, 1);
    shmem_quiet();
}
static void get_nbi(int count, int bytes) {
    for (int i = 0; shmem_my_pe() == 0 && i < count; i++) shmem_getmem_nbi(mine, there, (size_t)bytes, 1);
    shmem_quiet();
}

enum { ways = 6, send_way = 0, ask_way = 1, get_way = 3 };
static void (*const way[ways])(int count, int bytes) = {send, ask, put, get, put_nbi, get_nbi};
static const char* const names[ways] = {"MPI", "ask", "put", "get", "put_nbi", "get_nbi"};

static void print_quantile(double rate[ways][most_rounds], int rounds, const char* name, double part, int bytes) {
    double found[ways];
    for (int i = 0; i < ways; i++) found[i] = quantile(rate[i], rounds, part);
    printf("%2d MiB, %s:", bytes >> 20, name);
    for (int i = 0; i < ways; i++) printf("  %s %.1f (%.2f)", names[i], found[i], found[i] / found[send_way]);
    printf("  get/ask %.2f\n", found[get_way] / found[ask_way]);
}

static int number(int count, char** words, int which, int otherwise, int most) {
    const int asked = count > which ? atoi(words[which]) : otherwise;
    return asked < 1 ? 1 : asked > most ? most : asked;
}

int main(int count, char** words) {
    const int rounds = number(count, words, 1, 7, most_rounds), all_bytes = number(count, words, 2, 32, 1024) << 20;
    MPI_Init(&count, &words);
    shmem_init();
    const int me = shmem_my_pe();
    there = shmem_malloc(most_bytes);
    mine = malloc(most_bytes);
    memset(there, 1, most_bytes);
    memset(mine, 2, most_bytes);
    if (me == 0 && shmem_ptr(there, 1) != NULL) printf("PE 1 is on the same node: these are copies in memory\n");
    for (int bytes = least_bytes; bytes <= most_bytes && bytes <= all_bytes; bytes *= 4) {
        double rate[ways][most_rounds];
        for (int round = -1; round < rounds; round++) /* the first does not count */
            for (int i = 0; i < ways; i++) {
                shmem_barrier_all();
                const double start = now_us();
                way[i](all_bytes / bytes, bytes);
                if (round >= 0) rate[i][round] = all_bytes / (now_us() - start);
            }
        if (me == 0) print_quantile(rate, rounds, "median", 0.5, bytes);
        if (me == 0) print_quantile(rate, rounds, "0.9   ", 0.9, bytes);
        fflush(stdout);
    }
    free(mine);
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
