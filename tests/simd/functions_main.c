// SPDX-License-Identifier: Apache-2.0
// Functions for lanes compute what they do one by one, for every number of calls.
#include "functions.h"

#include <stdio.h>
#include <string.h>

void functions_vector(struct data*, int);
void functions_scalar(struct data*, int);

static unsigned next(void) {
    static unsigned state = 12345;
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

int main(void) {
    static struct data vector, scalar;
    for (int n = 0; n <= most; n++) {
        memset(&vector, 0, sizeof vector);
        for (int i = 0; i < most; i++) {
            vector.x[i] = (float)(next() % 4000) / 1000 - 2;
            vector.y[i] = (float)(next() % 4000) / 1000 - 2;
            vector.p[i] = (int)(next() % 200);
            vector.q[i] = (int)(next() % 19) - 9;
        }
        for (int i = 0; i < 64; i++) vector.table[i] = (double)(next() % 1000) / 1000;
        scalar = vector;
        functions_vector(&vector, n);
        functions_scalar(&scalar, n);
        if (memcmp(&vector, &scalar, sizeof vector) == 0) continue;
        const unsigned char *one = (const unsigned char*)&vector, *other = (const unsigned char*)&scalar;
        unsigned long at = 0;
        while (one[at] == other[at]) at++;
        printf("n = %d differs at byte %lu\n", n, at);
        return 1;
    }
    return 0;
}
