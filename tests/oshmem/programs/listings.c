/* SPDX-License-Identifier: Apache-2.0 */
/* Listings 1.2 and 1.7 of "Hybrid Programming Using OpenSHMEM and OpenACC" (2014), word for word but for their "...":
 * zones of a symmetric array get memory on the device, are initialised there, and exchange boundaries. A C compiler
 * without directives makes the same program for the host. */
#include <mpp/shmem.h>
#ifdef _OPENACC
#include <openacc.h>
#endif
#include <stdio.h>

enum { zones = 3, boundary = 400 };
#define PROC_MAX_SIZE5 40000

typedef long idx_t;

static idx_t dest_qoffset = -1, qoffset;
static long done, x = 1;
static double *u, *up, *qbc_in, *qbc_ou;
static int proc_num_zones = zones, proc_zone_id[zones] = {2, 0, 1}, start5[zones];
static int nxmax[zones] = {8, 10, 12}, ny[zones] = {7, 9, 11}, nz[zones] = {6, 8, 10};

static double value(int pe, int zone, int i) { return pe * 100000.0 + zone * 10000.0 + i; }

static void initialize(double* restrict zone_u, int size, int pe, int zone) {
#pragma acc parallel loop present(zone_u[0 : size])
    for (int i = 0; i < size; i++) zone_u[i] = pe * 100000.0 + zone * 10000.0 + i;
}

static void exchange(int ip, size_t m_size) {
    shmem_putmem(&dest_qoffset, &qoffset, sizeof(idx_t), ip);
    shmem_fence();
    shmem_long_put(&done, &x, 1, ip);
    shmem_quiet();
    shmem_wait(&done, 0);
    shmem_double_put(&qbc_in[dest_qoffset], &qbc_ou[qoffset], m_size, ip);
    shmem_quiet();
}

static int is_on_device(double* zone_u, int size) {
#ifdef _OPENACC
    return acc_is_present(zone_u, sizeof(double) * (size_t)size) != 0;
#else
    return zone_u != NULL && size > 0;
#endif
}

int main(void) {
    start_pes(0);
    const int me = _my_pe(), all = _num_pes(), next = (me + 1) % all, before = (me + all - 1) % all;
    int iz, zone, size, right = 1;
    for (iz = 1; iz < zones; iz++) {
        zone = proc_zone_id[iz - 1];
        start5[iz] = start5[iz - 1] + nxmax[zone] * ny[zone] * nz[zone] * 5;
    }

    u = (double*)shmalloc(sizeof(double) * PROC_MAX_SIZE5);
    for (iz = 0; iz < proc_num_zones; iz++) {
        zone = proc_zone_id[iz];
        size = nxmax[zone] * ny[zone] * nz[zone] * 5;
        up = &u[start5[iz]];

#pragma acc enter data create(up[0 : size])

        initialize(&u[start5[iz]], size, me, zone);
        right = right && is_on_device(up, size);
    }

    qbc_in = (double*)shmalloc(sizeof(double) * 2 * boundary);
    qbc_ou = (double*)shmalloc(sizeof(double) * 2 * boundary);
    qoffset = me % 2 == 0 ? 0 : boundary; /* which its neighbours may have otherwise */
    up = &u[start5[1]];
    zone = proc_zone_id[1];
    size = nxmax[zone] * ny[zone] * nz[zone] * 5;
#pragma acc update host(up[0 : boundary])
    for (int i = 0; i < 2 * boundary; i++) qbc_in[i] = -1;
    for (int i = 0; i < boundary; i++) qbc_ou[qoffset + i] = up[i];
    shmem_barrier_all();
    exchange(next, boundary);
    shmem_barrier_all();
    /* The one before has put where this PE's neighbour told it to: at the offset of the one before itself. */
    const idx_t told = (before + all - 1) % all % 2 == 0 ? 0 : boundary;
    right = right && dest_qoffset == (before % 2 == 0 ? 0 : boundary);
    for (int i = 0; i < boundary; i++) up[i] = qbc_in[told + i];
#pragma acc update device(up[0 : boundary])
#pragma acc parallel loop present(up[0 : size])
    for (int i = 0; i < size; i++) up[i] += 1;
#pragma acc update host(up[0 : size])
    for (int i = 0; i < size; i++) right = right && up[i] == 1 + value(i < boundary ? before : me, zone, i);
    for (iz = 0; iz < proc_num_zones; iz++) {
        zone = proc_zone_id[iz];
        size = nxmax[zone] * ny[zone] * nz[zone] * 5;
        up = &u[start5[iz]];
#pragma acc exit data delete (up[0 : size])
    }
    puts(right ? "right" : "WRONG");
    return 0;
}
