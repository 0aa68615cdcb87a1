/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of BT-MZ, behind equations.h. One launch is for many zones: a work-group is for the tile (box, first
 * item) that the table has at its number.
 */
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef struct face_copy {
    int from, from_along, from_up, from_component;
    int to, to_along, to_up, to_component;
    int along, up;
} face_copy;

/* The first tiles' values go to another buffer than those of the rest. */
kernel void copy_faces(global const double* from, ulong first_from, global double* to_first, ulong first_to,
                       int first_tiles, global double* to_rest, global const face_copy* faces,
                       global const int2* tiles, int first_tile) {
    const int2 tile = tiles[first_tile + (int)get_group_id(0)];
    global double* to = (int)get_group_id(0) < first_tiles ? to_first + first_to : to_rest;
    const face_copy face = faces[tile.x];
    const int item = tile.y + (int)get_local_id(0);
    if (item >= face.along * face.up) return;
    const int a = item % face.along, b = item / face.along;
    from += first_from + face.from + a * face.from_along + b * face.from_up;
    to += face.to + a * face.to_along + b * face.to_up;
    UNROLL
    for (int m = 0; m < 5; m++) to[m * face.to_component] = from[m * face.from_component];
}

/* Rows of a zone: nx, ny, nz, the zone's first point among all of the rank; first row, count of rows. */
kernel void right_hand_side(global const double* u, global const double* forcing, global double* rhs,
                            global const int8* boxes, global const int2* tiles, int first_tile, double dt, double per_x,
                            double per_y, double per_z) {
    const int2 tile = tiles[first_tile + (int)get_group_id(0)];
    const int8 box = boxes[tile.x];
    const int item = tile.y + (int)get_local_id(0), across = box.s0 - 2, area = across * box.s5;
    if (item >= area * (box.s2 - 2)) return;
    const int i = 1 + item % across, j = box.s4 + item % area / across, k = 1 + item / area;
    const int points = box.s0 * box.s1 * box.s2, at = (k * box.s1 + j) * box.s0 + i;
    const size_t first = (size_t)box.s3 * 5;
    double sum[5];
    space_derivatives(sum, u + first, i, j, k, box.s0, box.s1, box.s2, per_x, per_y, per_z);
    UNROLL
    for (int m = 0; m < 5; m++) rhs[first + AT(m, at, points)] = dt * (forcing[first + AT(m, at, points)] + sum[m]);
}

#define LINES(name, d, add_to)                                                                                         \
    kernel void name(global double* u, global double* rhs, global double* work, global const int8* boxes,              \
                     global const int2* tiles, int first_tile, double dt, double per_step) {                           \
        const int2 tile = tiles[first_tile + (int)get_group_id(0)];                                                    \
        const int8 box = boxes[tile.x];                                                                                \
        const int item = tile.y + (int)get_local_id(0);                                                                \
        const grid_line at = line_of(d, box.s0, box.s1, box.s2, box.s4, box.s5, item);                                 \
        if (item >= at.items) return;                                                                                  \
        const size_t first = (size_t)box.s3;                                                                           \
        SOLVE(d, u + first * 5, rhs + first * 5, work + first * WORK, at.first, at.stride, at.n,                       \
              box.s0 * box.s1 * box.s2, at.line, at.lines, dt, per_step, add_to);                                      \
    }

#if !defined(SPLIT) && !defined(POINTS_OF_LINE)

#define WORK 25
#define SOLVE solve_line

#else

/* Block 0 to 2: before, on and behind the diagonal. */
#define BLOCK(block, i, r, c) work[ENTRY((block) * 25 + (r) * 5 + (c), 75, i, n, line, lines)]
#define RIGHT(i, m) rhs[AT(m, first + (i) * stride, points)]

#ifdef SPLIT
#define BLOCKS global
#else
#define BLOCKS private
#endif

static inline void form_blocks(int d, global const double* u, BLOCKS double* work, int first, int stride, int n, int i,
                               int points, int line, int lines, double dt, double per_step) {
    UNROLL
    for (int block = 0; block < 3; block++) {
        const point_values p = point_at(u, first + (i - 1 + block) * stride, points);
        UNROLL
        for (int r = 0; r < 5; r++) {
            double row[5];
            if (block == 0) jacobian_row(row, &p, d, r, BEFORE_FACTORS(d, dt, per_step));
            if (block == 1) jacobian_row(row, &p, d, r, HERE_FACTORS(d, dt, per_step));
            if (block == 2) jacobian_row(row, &p, d, r, BEHIND_FACTORS(d, dt, per_step));
            UNROLL
            for (int c = 0; c < 5; c++) BLOCK(block, i, r, c) = row[c];
        }
    }
}

static inline void solve_formed_line(int d, global double* u, global double* rhs, BLOCKS double* work, int first,
                                     int stride, int n, int points, int line, int lines, double dt, double per_step,
                                     int add_to) {
#ifdef PRELOAD
    double c[25], f[5];
#endif
    for (int i = 1; i < n - 1; i++) {
#ifdef PRELOAD
        double b[25], right[5];
        UNROLL
        for (int m = 0; m < 5; m++) right[m] = RIGHT(i, m);
        UNROLL
        for (int r = 0; r < 5; r++)
            UNROLL
            for (int m = 0; m < 5; m++) b[r * 5 + m] = BLOCK(1, i, r, m);
        if (i > 1)
            UNROLL
            for (int r = 0; r < 5; r++)
                UNROLL
                for (int m = 0; m < 5; m++) {
                    const double a = BLOCK(0, i, r, m);
                    right[r] -= a * f[m];
                    UNROLL
                    for (int e = 0; e < 5; e++) b[r * 5 + e] -= a * c[m * 5 + e];
                }
        UNROLL
        for (int r = 0; r < 5; r++)
            UNROLL
            for (int m = 0; m < 5; m++) c[r * 5 + m] = BLOCK(2, i, r, m);
        eliminate(b, c, right);
        UNROLL
        for (int r = 0; r < 5; r++)
            UNROLL
            for (int m = 0; m < 5; m++) BLOCK(2, i, r, m) = c[r * 5 + m];
        UNROLL
        for (int m = 0; m < 5; m++) RIGHT(i, m) = f[m] = right[m];
#else
        if (i > 1)
            for (int r = 0; r < 5; r++)
                for (int m = 0; m < 5; m++) {
                    RIGHT(i, r) -= BLOCK(0, i, r, m) * RIGHT(i - 1, m);
                    for (int e = 0; e < 5; e++) BLOCK(1, i, r, e) -= BLOCK(0, i, r, m) * BLOCK(2, i - 1, m, e);
                }
        for (int p = 0; p < 5; p++) {
            const double pivot = 1.0 / BLOCK(1, i, p, p);
            for (int e = p + 1; e < 5; e++) BLOCK(1, i, p, e) *= pivot;
            for (int e = 0; e < 5; e++) BLOCK(2, i, p, e) *= pivot;
            RIGHT(i, p) *= pivot;
            for (int r = 0; r < 5; r++) {
                if (r == p) continue;
                for (int e = p + 1; e < 5; e++) BLOCK(1, i, r, e) -= BLOCK(1, i, r, p) * BLOCK(1, i, p, e);
                for (int e = 0; e < 5; e++) BLOCK(2, i, r, e) -= BLOCK(1, i, r, p) * BLOCK(2, i, p, e);
                RIGHT(i, r) -= BLOCK(1, i, r, p) * RIGHT(i, p);
            }
        }
#endif
    }
    for (int i = n - 2; i > 0; i--) {
        if (i < n - 2)
            for (int r = 0; r < 5; r++)
                for (int m = 0; m < 5; m++) RIGHT(i, r) -= BLOCK(2, i, r, m) * RIGHT(i + 1, m);
        for (int m = 0; m < 5; m++)
            if (add_to) u[AT(m, first + i * stride, points)] += RIGHT(i, m);
    }
}

#ifdef SPLIT

/* The paper's way: one kernel forms the blocks of all points at once, in arrays with room for all; another solves. */
#define WORK 75
#define SOLVE solve_formed_line

#define FORM(name, d)                                                                                                  \
    kernel void name(global const double* u, global double* work, global const int8* boxes, global const int2* tiles,  \
                     int first_tile, double dt, double per_step) {                                                     \
        const int2 tile = tiles[first_tile + (int)get_group_id(0)];                                                    \
        const int8 box = boxes[tile.x];                                                                                \
        form_point(d, u + (size_t)box.s3 * 5, work + (size_t)box.s3 * 75, box, tile.y + (int)get_local_id(0), dt,      \
                   per_step);                                                                                          \
    }

static inline void form_point(int d, global const double* u, global double* work, int8 box, int item, double dt,
                              double per_step) {
    const int points = box.s0 * box.s1 * box.s2, n = d == 0 ? box.s0 : d == 1 ? box.s1 : box.s2;
    const grid_line any = line_of(d, box.s0, box.s1, box.s2, box.s4, box.s5, 0);
    if (item >= any.items * (n - 2)) return;
#ifdef POINTS_TOGETHER
    const int of = item / (n - 2), i = 1 + item % (n - 2);
#else
    const int of = item % any.items, i = 1 + item / any.items;
#endif
    const grid_line at = line_of(d, box.s0, box.s1, box.s2, box.s4, box.s5, of);
    form_blocks(d, u, work, at.first, at.stride, n, i, points, at.line, at.lines, dt, per_step);
}

FORM(form_x, 0)
FORM(form_y, 1)
FORM(form_z, 2)

#else

/* Before the paper's split: one loop nest forms and solves, and its arrays have room for one line. */
#define WORK 0
#define SOLVE solve_whole_line

static inline void solve_whole_line(int d, global double* u, global double* rhs, global double* unused, int first,
                                    int stride, int n, int points, int line, int lines, double dt, double per_step,
                                    int add_to) {
    double work[POINTS_OF_LINE * 75];
    for (int i = 1; i < n - 1; i++) form_blocks(d, u, work, first, stride, n, i, points, 0, 1, dt, per_step);
    solve_formed_line(d, u, rhs, work, first, stride, n, points, 0, 1, dt, per_step, add_to);
}

#endif

#endif

LINES(solve_x, 0, 0)
LINES(solve_y, 1, 0)
LINES(solve_z, 2, 1)
