/* SPDX-License-Identifier: Apache-2.0 */
/* What directives.c offers. Kernels run in order in the OpenACC queue `queue`, or in async(1) if the function takes
 * none. All memory that they name must be present on the device. */
#ifndef BT_MZ_DIRECTIVES_H
#define BT_MZ_DIRECTIVES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bt_mz_tiles {
    int first, count;
};
/* The tables of kernels.cl: eight numbers for each box, and two for each tile of `group` items. */
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
/* Copy the field's values to the device, and from the device. They block until that is done. */
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
/* Later work in `queue` waits for the work that is in `earlier` now. */
void bt_mz_let_wait(int queue, int earlier);

/* Select a device, and return its OpenCL handles. bt_mz_map() lets directives use a range of an OpenCL buffer by
 * `address`. */
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
