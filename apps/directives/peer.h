/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from device 0 to device 1, each waited for. */
#ifndef APPS_DIRECTIVES_PEER_H
#define APPS_DIRECTIVES_PEER_H

/* How many of `n` values a part copies. */
static inline int peer_size(int n, int part) {
    static const int shifts[] = {10, 6, 3, 0};
    return (n >> shifts[part]) + 1;
}

static inline double peer_value(int i) { return 1 + i % 1000 / 1000.0; }

#endif
