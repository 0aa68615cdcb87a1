/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"
#include "ways.h"

#include <stdlib.h>
#include <string.h>

static double* v;
static int n, count;

static void prepare(int devices, int given) {
    n = given;
    count = peer_first(n, peer_part_count);
    v = malloc(count * sizeof *v);
    for (int i = 0; i < count; i++) v[i] = peer_value(i);
#pragma acc enter data copyin(v[0 : count]) deviceid(0)
#pragma acc enter data create(v[0 : count]) deviceid(1)
#pragma acc wait device(0)
#pragma acc wait device(1)
}

static void run(int part) {
    const int first = peer_first(n, part), size = peer_size(n, part);
#pragma acc serial deviceid(0) present(v)
    {
        v[first] += 1;
        v[first + size - 1] += 1;
    }
#pragma acc update peer to(v[first : size]) to_device(1) from(v[first : size]) from_device(0)
#pragma acc wait device(0)
#pragma acc wait device(1)
}

static void fetch(double* results) {
    memset(v, 0, count * sizeof *v);
#pragma acc exit data copyout(v[0 : count]) deviceid(1)
#pragma acc exit data delete (v[0 : count])deviceid(0)
#pragma acc wait device(1)
    memcpy(results, v, count * sizeof *v);
    free(v);
}

const struct way peer_directives = {"directives", prepare, run, fetch};
