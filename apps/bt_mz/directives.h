/* SPDX-License-Identifier: Apache-2.0 */
/* What directives.c offers. Kernels run in the queue async(1), one behind the other, or in the queue that they get; all
 * memory that they name is present. */
#ifndef BT_MZ_DIRECTIVES_H
#define BT_MZ_DIRECTIVES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bt_mz_tiles {
    int first, count;
};
/* Eight numbers for each box, two for each tile, of `group` items: as kernels.cl has them. */
struct bt_mz_tables {
    int *boxes, *tiles;
    int group;
};
struct bt_mz_fields {
    double *u, *forcing, *right, *work;
};

void bt_mz_enter(struct bt_mz_tables tables, int boxes, int tiles, struct bt_mz_fields fields, size_t points);
void bt_mz_leave(struct bt_mz_tables tables, int boxes, int tiles, struct bt_mz_fields fields, size_t points);
void bt_mz_enter_faces(int* faces, int count);
void bt_mz_leave_faces(int* faces, int count);
/* The field's values: to the device, and from there. They wait. */
void bt_mz_update_device(double* u, size_t points);
void bt_mz_update_host(double* u, size_t points);

void bt_mz_copy_faces(struct bt_mz_tables tables, struct bt_mz_tiles over, const int* faces, const double* from,
                      double* to, int queue);
void bt_mz_right_hand_side(struct bt_mz_tables tables, struct bt_mz_tiles over, struct bt_mz_fields fields, double dt,
                           double per_x, double per_y, double per_z, int queue);
void bt_mz_solve_x(struct bt_mz_tables tables, struct bt_mz_tiles over, struct bt_mz_fields fields, double dt,
                   double per, int queue);
void bt_mz_solve_y(struct bt_mz_tables tables, struct bt_mz_tiles over, struct bt_mz_fields fields, double dt,
                   double per);
void bt_mz_solve_z(struct bt_mz_tables tables, struct bt_mz_tiles over, struct bt_mz_fields fields, double dt,
                   double per);
void bt_mz_wait(int queue);
/* What comes in `queue` waits for what is in `earlier` now. */
void bt_mz_let_wait(int queue, int earlier);

/* OpenCL's handles of the current device; device memory outside of OpenACC by an address for directives. */
int bt_mz_devices(void); /* how many OpenACC offers */
void bt_mz_select_device(int number);
void* bt_mz_opencl_device(void);
void* bt_mz_opencl_context(void);
void bt_mz_map(void* address, void* buffer, size_t offset, size_t bytes);
void bt_mz_unmap(void* address);

#ifdef __cplusplus
}
#endif
#endif
