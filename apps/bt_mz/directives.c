/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of BT-MZ as directives, over the same tables of tiles. */
#include "bt_mz/directives.h"

#include "bt_mz/equations.h"

#include <openacc.h>

void bt_mz_enter(struct bt_mz_tables tables, int boxes, int tiles, struct bt_mz_fields fields, size_t points) {
    int *const box = tables.boxes, *const tile = tables.tiles;
    double *const u = fields.u, *const forcing = fields.forcing, *const right = fields.right, *const work = fields.work;
#pragma acc enter data copyin(box[0 : 8 * boxes], tile[0 : 2 * tiles], u[0 : 5 * points], forcing[0 : 5 * points],     \
                              right[0 : 5 * points]) create(work[0 : 25 * points])
}

void bt_mz_leave(struct bt_mz_tables tables, int boxes, int tiles, struct bt_mz_fields fields, size_t points) {
    int *const box = tables.boxes, *const tile = tables.tiles;
    double *const u = fields.u, *const forcing = fields.forcing, *const right = fields.right, *const work = fields.work;
#pragma acc exit data delete (box[0 : 8 * boxes], tile[0 : 2 * tiles], u[0 : 5 * points], forcing[0 : 5 * points],     \
                              right[0 : 5 * points], work[0 : 25 * points])
}

void bt_mz_enter_faces(int* faces, int count) {
#pragma acc enter data copyin(faces[0 : 10 * count])
}
void bt_mz_leave_faces(int* faces, int count) {
#pragma acc exit data delete (faces[0 : 10 * count])
}

void bt_mz_update_device(double* u, size_t points) {
#pragma acc update device(u[0 : 5 * points])
}
void bt_mz_update_host(double* u, size_t points) {
#pragma acc update host(u[0 : 5 * points])
}

void bt_mz_copy_faces(struct bt_mz_tables tables, struct bt_mz_tiles over, const int* faces, const double* from,
                      double* to, int queue) {
    const int *const tile = tables.tiles, group = tables.group, begin = over.first, end = over.first + over.count;
#pragma acc parallel loop gang present(from, to, faces, tile) async(queue)
    for (int t = begin; t < end; t++)
#pragma acc loop vector
        for (int l = 0; l < group; l++) {
            const int face = tile[2 * t] * 10, item = tile[2 * t + 1] + l, along = faces[face + 8];
            if (item < along * faces[face + 9]) {
                const int a = item % along, b = item / along;
                const int source = faces[face] + a * faces[face + 1] + b * faces[face + 2];
                const int target = faces[face + 4] + a * faces[face + 5] + b * faces[face + 6];
                for (int m = 0; m < 5; m++) to[target + m * faces[face + 7]] = from[source + m * faces[face + 3]];
            }
        }
}

void bt_mz_right_hand_side(struct bt_mz_tables tables, struct bt_mz_tiles over, struct bt_mz_fields fields, double dt,
                           double per_x, double per_y, double per_z, int queue) {
    const int *const box = tables.boxes, *const tile = tables.tiles;
    const int group = tables.group, begin = over.first, end = over.first + over.count;
    const double *const u = fields.u, *const forcing = fields.forcing;
    double* const right = fields.right;
#pragma acc parallel loop gang present(u, forcing, right, box, tile) async(queue)
    for (int t = begin; t < end; t++)
#pragma acc loop vector
        for (int l = 0; l < group; l++) {
            const int b = tile[2 * t] * 8, item = tile[2 * t + 1] + l;
            const int nx = box[b], ny = box[b + 1], nz = box[b + 2], across = nx - 2, area = across * box[b + 5];
            if (item < area * (nz - 2)) {
                const int i = 1 + item % across, j = box[b + 4] + item % area / across, k = 1 + item / area;
                const int points = nx * ny * nz, at = (k * ny + j) * nx + i;
                const size_t first = (size_t)box[b + 3] * 5;
                double sum[5];
                space_derivatives(sum, u + first, i, j, k, nx, ny, nz, per_x, per_y, per_z);
                for (int m = 0; m < 5; m++)
                    right[first + AT(m, at, points)] = dt * (forcing[first + AT(m, at, points)] + sum[m]);
            }
        }
}

/* The direction is a constant of each loop. */
static inline void solve_item(int d, double* u, double* right, double* work, const int* box, int item, double dt,
                              double per, int add_to) {
    const int nx = box[0], ny = box[1], nz = box[2];
    const size_t first = (size_t)box[3];
    const grid_line at = line_of(d, nx, ny, nz, box[4], box[5], item);
    if (item < at.items)
        solve_line(d, u + first * 5, right + first * 5, work + first * 25, at.first, at.stride, at.n, nx * ny * nz,
                   at.line, at.lines, dt, per, add_to);
}

void bt_mz_solve_x(struct bt_mz_tables tables, struct bt_mz_tiles over, struct bt_mz_fields fields, double dt,
                   double per, int queue) {
    const int *const box = tables.boxes, *const tile = tables.tiles;
    const int group = tables.group, begin = over.first, end = over.first + over.count;
    double *const u = fields.u, *const right = fields.right, *const work = fields.work;
#pragma acc parallel loop gang present(u, right, work, box, tile) async(queue)
    for (int t = begin; t < end; t++)
#pragma acc loop vector
        for (int l = 0; l < group; l++)
            solve_item(0, u, right, work, box + 8 * tile[2 * t], tile[2 * t + 1] + l, dt, per, 0);
}

void bt_mz_solve_y(struct bt_mz_tables tables, struct bt_mz_tiles over, struct bt_mz_fields fields, double dt,
                   double per) {
    const int *const box = tables.boxes, *const tile = tables.tiles;
    const int group = tables.group, begin = over.first, end = over.first + over.count;
    double *const u = fields.u, *const right = fields.right, *const work = fields.work;
#pragma acc parallel loop gang present(u, right, work, box, tile) async(1)
    for (int t = begin; t < end; t++)
#pragma acc loop vector
        for (int l = 0; l < group; l++)
            solve_item(1, u, right, work, box + 8 * tile[2 * t], tile[2 * t + 1] + l, dt, per, 0);
}

void bt_mz_solve_z(struct bt_mz_tables tables, struct bt_mz_tiles over, struct bt_mz_fields fields, double dt,
                   double per) {
    const int *const box = tables.boxes, *const tile = tables.tiles;
    const int group = tables.group, begin = over.first, end = over.first + over.count;
    double *const u = fields.u, *const right = fields.right, *const work = fields.work;
#pragma acc parallel loop gang present(u, right, work, box, tile) async(1)
    for (int t = begin; t < end; t++)
#pragma acc loop vector
        for (int l = 0; l < group; l++)
            solve_item(2, u, right, work, box + 8 * tile[2 * t], tile[2 * t + 1] + l, dt, per, 1);
}

void bt_mz_wait(int queue) {
#pragma acc wait(queue)
}
void bt_mz_let_wait(int queue, int earlier) {
#pragma acc wait(earlier) async(queue)
}

int bt_mz_devices(void) { return acc_get_num_devices(acc_device_not_host); }
void bt_mz_select_device(int number) { acc_set_device_num(number, acc_device_not_host); }
void* bt_mz_opencl_device(void) { return acc_get_current_opencl_device(); }
void* bt_mz_opencl_context(void) { return acc_get_current_opencl_context(); }
/* communication begin */
void bt_mz_map(void* address, void* buffer, size_t offset, size_t bytes) {
    acc_map_buffer(address, buffer, offset, bytes);
}
void bt_mz_unmap(void* address) { acc_unmap_data(address); }
/* communication end */
