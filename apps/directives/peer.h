/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from device 0 to device 1, each waited for. Before each a kernel of device 0 adds 1 to the first and to the
 * last value that it copies. */
#ifndef APPS_DIRECTIVES_PEER_H
#define APPS_DIRECTIVES_PEER_H

/* How many of `n` values a part copies. */
static inline int peer_size(int n, int part) {
    static const int shifts[] = {10, 6, 3, 0};
    return (n >> shifts[part]) + 1;
}

/* Where a part begins; after the last one, where all end. */
static inline int peer_first(int n, int part) {
    int first = 0;
    for (int before = 0; before < part; before++) first += (peer_size(n, before) + 511) / 512 * 512;
    return first;
}

enum { peer_part_count = 4 };

static inline double peer_value(int i) { return 1 + i % 1000 / 1000.0; }

#endif
