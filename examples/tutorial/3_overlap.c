/* SPDX-License-Identifier: Apache-2.0 */
/* Step 3 of the tutorial: the outermost rows come first, and while they are exchanged, the device computes the others.
 */
#include <CL/cl_data_transfer.h>

#include "heat.h"

int main(int argc, char** argv) {
    struct heat heat = heat_begin(argc, argv, MPI_THREAD_MULTIPLE);
    const size_t n = heat.rows;
    cl_command_queue compute = heat_queue(&heat, 0);
    cl_command_queue transfers = heat_queue(&heat, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_event edges, halo[2];
    float* plate = malloc(heat.size);

    for (int step = 1; step <= heat.steps; ++step) {
        heat_compute(&heat, compute, 1, (int)n - 1, 2, step > 1 ? 2 : 0, step > 1 ? halo : NULL, &edges);
        heat_compute_inside(&heat, compute);

        for (int i = 0; i < 2 && step > 1; ++i) CHECK(clReleaseEvent(halo[i]));
        CHECK(clEnqueueSendrecvBuffer(transfers, heat.to, heat.to, CL_FALSE, heat_row(&heat, 1), heat.row_size, heat.up,
                                      0, heat_row(&heat, n + 1), heat.row_size, heat.down, 0, MPI_COMM_WORLD, 1, &edges,
                                      &halo[0]));
        CHECK(clEnqueueSendrecvBuffer(transfers, heat.to, heat.to, CL_FALSE, heat_row(&heat, n), heat.row_size,
                                      heat.down, 1, heat_row(&heat, 0), heat.row_size, heat.up, 1, MPI_COMM_WORLD, 1,
                                      &edges, &halo[1]));
        CHECK(clReleaseEvent(edges));

        if (step % heat.every == 0) {
            CHECK(clEnqueueReadBuffer(compute, heat.to, CL_TRUE, heat_row(&heat, 1), heat.size, plate, 0, NULL, NULL));
            heat_stored(fwrite(plate, 1, heat.size, heat.file) == heat.size);
        }
        heat_swap(&heat);
    }
    CHECK(clWaitForEvents(2, halo));
    for (int i = 0; i < 2; ++i) CHECK(clReleaseEvent(halo[i]));
    CHECK(clFinish(compute));
    CHECK(clReleaseCommandQueue(compute));
    CHECK(clReleaseCommandQueue(transfers));
    free(plate);
    return heat_end(&heat);
}
